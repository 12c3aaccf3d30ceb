"""The jobs of a batch by pages, in the order they began: of one status, or with words of their objective."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from outcrop.journal import is_held
from outcrop.report.dispatches import RUNNING
from outcrop.report.jobs import JobFact, job_fact
from outcrop.runs import RunFolder
from outcrop.ui.counting import with_objective
from outcrop.ui.earlier import INTERRUPTED, statuses_meant
from outcrop.ui.feed import Part
from outcrop.ui.follow import Follower
from outcrop.ui.pages import Html, Pages
from outcrop.ui.places import Pair
from outcrop.ui.watching import Look
from outcrop_schemas import limits

_READING_SECONDS = 0.3
# What no JSON writes in another way.
_PLAIN = re.compile(r"[a-z0-9_.,:;%()=+-]+")


@dataclass(frozen=True)
class Asked:
    """What of the list is wanted: jobs from a number on, or the last ones before it."""

    number: int = 0
    is_before: bool = False
    status: str = ""
    words: str = ""

    def address(self, number: int, *, is_before: bool = False) -> str:
        """The same list at another place, as a query."""
        return urlencode({"before" if is_before else "from": number, "status": self.status, "q": self.words})


@dataclass(frozen=True)
class JobRows:
    """One page. `first` and `found` count those of the status, from 1; None where words are looked for."""

    rows: Sequence[JobFact]
    asked: Asked
    counts: dict[str, int]
    first: int | None
    found: int | None
    earlier: int | None
    """Before this number there are more."""

    later: int | None
    """From this number on there are more, or it was not searched."""

    is_out_of_time: bool = False


def job_rows(folder: RunFolder, follower: Follower, asked: Asked) -> JobRows:
    """One page of a journal that was read. Raises JournalError."""
    left = RUNNING if is_held(folder.journal) else INTERRUPTED
    jobs = follower.jobs
    statuses = statuses_meant(asked.status, left)
    finder = _Finder(folder, follower, left, asked.words.casefold().split())
    if asked.is_before:
        until = min(asked.number, len(jobs))
        found = finder.found(jobs.among(range(until - 1, -1, -1), statuses))[::-1]
        start = 0 if finder.number is None else finder.number + 1
        later = until if jobs.count(len(jobs), statuses) > jobs.count(until, statuses) else None
    else:
        start = min(asked.number, len(jobs))
        found = finder.found(jobs.among(range(start, len(jobs)), statuses))
        later = finder.number
    before = jobs.count(start, statuses)
    is_counted = not asked.words
    counts = dict(jobs.statuses)
    if jobs.open:
        counts[left] = counts.get(left, 0) + len(jobs.open)
    return JobRows(
        [fact for _, fact in found],
        asked,
        counts,
        before + 1 if is_counted else None,
        jobs.count(len(jobs), statuses) if is_counted else None,
        start if before else None,
        later,
        finder.is_out_of_time,
    )


class _Finder:
    """Reads jobs until a page is full, or a search took long. `number` is the first that it did not come to."""

    def __init__(self, folder: RunFolder, follower: Follower, left: str, words: Sequence[str]) -> None:
        self._folder, self._follower, self._left, self._words = folder, follower, left, words
        self._is_plain = all(_PLAIN.fullmatch(word) for word in words)
        self.number: int | None = None
        self.is_out_of_time = False

    def found(self, pairs: Iterable[Pair]) -> list[tuple[int, JobFact]]:
        rows: list[tuple[int, JobFact]] = []
        until = time.monotonic() + limits.UI_SEARCH_SECONDS
        for pair in pairs:
            self.is_out_of_time = bool(self._words) and time.monotonic() > until
            if len(rows) == limits.UI_JOBS_PAGE or self.is_out_of_time:
                self.number = pair.number
                break
            if pair.end and self._words and self._surely_lacks(self._follower.line(pair.end)):
                continue
            fact = self._fact(pair)
            text = f"{fact.line} {fact.name} {fact.run_id} {fact.objective}".casefold()
            if all(word in text for word in self._words):
                rows.append((pair.number, fact))
        return rows

    def _surely_lacks(self, line: bytes) -> bool:
        """Whether a record has not all of the words, as far as its bytes tell without being decoded, which takes most
        of a search."""
        if not self._is_plain or not line.isascii() or b"\\u" in line:
            return False
        lowered = line.lower()
        return not all(word.encode() in lowered for word in self._words)

    def _fact(self, pair: Pair) -> JobFact:
        fact = job_fact(self._follower.body(pair.end or pair.start), self._left)
        return fact if pair.end else with_objective(self._folder, fact, self._left)


class JobsView:
    """One page of the jobs of a batch, live as long as nothing is searched."""

    def __init__(self, folder: RunFolder, follower: Follower, pages: Pages, asked: Asked) -> None:
        self._folder, self._follower, self._pages, self._asked = folder, follower, pages, asked
        self._rows: JobRows | None = None

    def look(self) -> Look:
        until = time.monotonic() + _READING_SECONDS
        self._follower.read_all(lambda: time.monotonic() < until)
        totals = self._follower.totals()
        self._rows = job_rows(self._folder, self._follower, self._asked)
        is_over = totals.is_whole and not is_held(self._folder.journal)
        part = Part("part", "jobs-list", self._pages.jobs_part(self._folder.run_id, self._rows, totals))
        return Look(
            [part], is_final=is_over or bool(self._asked.words and totals.is_whole), is_more=not totals.is_whole
        )

    def page(self, mark: str) -> Html:
        assert self._rows is not None
        return self._pages.jobs(self._folder.run_id, self._rows, self._follower.totals(), mark)
