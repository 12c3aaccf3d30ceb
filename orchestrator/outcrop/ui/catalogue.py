"""The runs of a workspace as the live view lists them: newest first, by pages, as they are now.

Of each run its first record is read once, the rest only of those on the page, and only what has come since.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from outcrop.journal import is_held
from outcrop.listing import UNDER_WAY, UNREADABLE, RunLine, ended_as, of_lone
from outcrop.recovery import SHAPE
from outcrop.runs import REMOVED, RunFolder
from outcrop.ui.follow import Follower, Totals
from outcrop.ui.places import Place
from outcrop.upkeep import age_of, bytes_of
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError

RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}")
_log = logging.getLogger(__name__)
_NOTHING = Totals(True, 0, 0, 0, 0, 0, {}, 0, 0, {}, None, None)
_READING_SECONDS = 0.5
_SIZE_SECONDS = 10.0
Stamp = tuple[int, int, bool]


@dataclass(frozen=True)
class Listed:
    """One run of the list, and what there is of it in all."""

    line: RunLine
    totals: Totals

    @property
    def is_under_way(self) -> bool:
        return self.line.status == UNDER_WAY


@dataclass(frozen=True)
class Page:
    """Some runs of the list. `found` is how many there are in all, `number` counts from 1."""

    runs: list[Listed]
    found: int
    number: int
    query: str

    @property
    def pages(self) -> int:
        return max(1, -(-self.found // limits.UI_RUNS_PAGE))


class Catalogue:
    """Used by one thread at a time. `follower` gives what reads the journal of a run."""

    def __init__(self, workspace: Workspace, follower: Callable[[RunFolder], Follower]) -> None:
        self._workspace, self._follower = workspace, follower
        self._about: dict[str, dict[str, str | None]] = {}
        self._known: dict[str, tuple[Stamp, Listed]] = {}
        self._sizes: dict[str, tuple[float, int]] = {}

    def page(self, number: int, query: str) -> Page:
        """One page of the runs that a search finds; a number beyond the last is the last."""
        names = [name for name in self._names() if self._is_found(name, query)]
        number = max(1, min(number, -(-len(names) // limits.UI_RUNS_PAGE)))
        shown = names[(number - 1) * limits.UI_RUNS_PAGE : number * limits.UI_RUNS_PAGE]
        until = time.monotonic() + _READING_SECONDS
        listed = [self._listed(RunFolder(self._workspace.runs / name), until) for name in shown]
        return Page([each for each in listed if each], len(names), number, query)

    def _names(self) -> list[str]:
        """The runs that have begun, newest first."""
        if not self._workspace.runs.is_dir():
            return []
        names = (path.name for path in self._workspace.runs.iterdir())
        there = {name for name in names if RUN_ID.fullmatch(name) and not name.startswith(REMOVED)}
        for name in self._about.keys() - there:
            self._forget(name)
        for name in there - self._about.keys():
            if about := _about(RunFolder(self._workspace.runs / name)):
                self._about[name] = about
        return sorted(self._about, reverse=True)

    def _forget(self, name: str) -> None:
        for known in (self._about, self._known, self._sizes):
            known.pop(name, None)

    def _is_found(self, name: str, query: str) -> bool:
        if not query:
            return True
        about = self._about[name]
        text = f"{name} {about['kind'] or ''} {about['objective'] or ''}".casefold()
        return all(word in text for word in query.casefold().split())

    def _listed(self, folder: RunFolder, until: float) -> Listed | None:
        try:
            state = folder.journal.stat()
            stamp = state.st_size, state.st_mtime_ns, is_held(folder.journal)
            known = self._known.get(folder.run_id)
            if known and known[0] == stamp and known[1].totals.is_whole:
                line = replace(known[1].line, age_s=round(age_of(folder)))
                return replace(known[1], line=line)
            follower = self._follower(folder)
            follower.read_all(lambda: time.monotonic() < until)
            listed = self._made(folder, follower, is_under_way=stamp[2])
        except (JournalError, OSError) as error:
            if not folder.journal.exists():
                # Removed meanwhile.
                self._forget(folder.run_id)
                return None
            _log.debug("%s", error)
            return self._made(folder, None, is_under_way=False, status=UNREADABLE)
        except SHAPE as error:
            _log.warning("%s: a record is not as this version writes it: %r", folder.journal, error)
            listed = self._made(folder, None, is_under_way=stamp[2])
        self._known[folder.run_id] = stamp, listed
        return listed

    def _made(
        self, folder: RunFolder, follower: Follower | None, *, is_under_way: bool, status: str | None = None
    ) -> Listed:
        """The line of a run; without a follower of what its first record says only."""
        about, totals = self._about[folder.run_id], follower.totals() if follower else _NOTHING
        if follower and not about["objective"] and len(follower.dispatches) == 1:
            about["objective"] = of_lone(follower.body(follower.dispatches[0].start))
        ended = _status(about["kind"], follower, totals) if follower and not is_under_way else status
        line = RunLine(
            folder.run_id,
            about["kind"],
            about["at"],
            UNDER_WAY if is_under_way else ended,
            totals.dispatches,
            self._bytes(folder),
            round(age_of(folder)),
            totals.spent_usd,
            totals.spent_tokens,
            about["objective"],
        )
        return Listed(line, totals)

    def _bytes(self, folder: RunFolder) -> int:
        looked_at, size = self._sizes.get(folder.run_id, (float("-inf"), 0))
        if time.monotonic() - looked_at > _SIZE_SECONDS:
            size = bytes_of(folder.path)
            self._sizes[folder.run_id] = time.monotonic(), size
        return size


def _about(folder: RunFolder) -> dict[str, str | None] | None:
    """What its first record says; None where it has none yet, or was removed meanwhile."""
    try:
        if not folder.has_begun():
            return None
        begun = folder.begun_as() or {}
    except OSError:
        return None
    said = {"kind": begun.get("kind"), "at": begun.get("at"), "objective": begun.get("objective") or begun.get("jobs")}
    return {name: None if value is None else str(value) for name, value in said.items()}


def _status(kind: str | None, follower: Follower, totals: Totals) -> str | None:
    """How it ended: by its answer, or by what its dispatches or jobs came to."""
    if follower.answer:
        body = follower.body(Place(follower.answer.at, follower.answer.length))
        return str(body["outcome"]["status"])
    counts = dict(totals.job_statuses if kind == "batch" else totals.statuses)
    left = totals.jobs_running if kind == "batch" else totals.running
    if left:
        counts["interrupted"] = counts.get("interrupted", 0) + left
    return ended_as(kind, counts)
