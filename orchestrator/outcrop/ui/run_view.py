"""One run as a page: made by the code of the report from what is shown of it, again whenever something has come."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outcrop.journal import is_held
from outcrop.report.facts import RunFacts
from outcrop.report.page import many
from outcrop.runs import RunFolder
from outcrop.ui.counting import Doing, facts_of_all, facts_of_ending
from outcrop.ui.feed import Part
from outcrop.ui.follow import Follower, Totals
from outcrop.ui.pages import Html, LiveLinks, Pages
from outcrop.ui.watching import Look

# A journal that was not read yet is read so long before something of it is shown.
_FIRST_SECONDS, _READING_SECONDS = 0.1, 0.3
_LAP_SECONDS = 5.0


@dataclass(frozen=True)
class Shown:
    """What a page shows of a run."""

    facts: RunFacts
    links: LiveLinks


class RunView:
    """One run. `follower` gives what reads the journal of another."""

    def __init__(self, folder: RunFolder, follower: Callable[[RunFolder], Follower], pages: Pages) -> None:
        self._folder, self._follower, self._pages = folder, follower(folder), pages
        self._doing = Doing(folder, self._follower, follower)
        self._stamp: tuple[int, int, bool, bool] | None = None
        self._shown: Shown | None = None
        self._totals = self._follower.totals()
        self._counted = (0, 0, 0)
        self._parts: list[Part] = []

    def look(self) -> Look:
        until = time.monotonic() + (_READING_SECONDS if self._shown else _FIRST_SECONDS)
        self._follower.read_all(lambda: time.monotonic() < until)
        is_under_way = is_held(self._folder.journal)
        self._totals = totals = self._follower.totals()
        # While it goes on the bars of its timeline grow.
        lap = int(time.monotonic() / _LAP_SECONDS) if is_under_way else 0
        stamp = (totals.records, lap, is_under_way, totals.is_whole)
        if self._stamp is None or (totals.is_whole and stamp != self._stamp):
            self._show(totals, is_under_way=is_under_way)
            self._stamp = stamp
        doing = self._doing.now() if totals.is_whole and is_under_way else {}
        parts = [*self._parts, Part("part", "live-read", self._pages.reading(totals, is_under_way=is_under_way))]
        parts += [Part("progress", "progress", doing), *self._news(totals)]
        return Look(parts, is_final=totals.is_whole and not is_under_way, is_more=not totals.is_whole)

    def page(self, mark: str) -> Html:
        assert self._shown is not None
        return self._pages.run(self._shown.facts, self._shown.links, self._totals, mark)

    def _show(self, totals: Totals, *, is_under_way: bool) -> None:
        facts = facts_of_all(self._folder, self._follower) if totals.is_whole else facts_of_ending(self._folder)
        links = self._pages.links(facts, is_under_way=is_under_way)
        facts = self._pages.shown(facts, links)
        self._shown = Shown(facts, links)
        # What stands on the first screen of a long run is in its page already.
        sections = self._pages.sections(facts, links) if totals.is_whole else {}
        self._parts = [Part("part", name, html) for name, html in sections.items()]

    def _news(self, totals: Totals) -> list[Part]:
        """What began and ended since the last look, for those who listen."""
        now = (totals.dispatches, sum(totals.statuses.values()), sum(totals.job_statuses.values()))
        before, self._counted = self._counted, now
        if before == (0, 0, 0) or now == before or not totals.is_whole:
            return []
        began, ended, jobs = (later - earlier for later, earlier in zip(now, before, strict=True))
        said = (
            [f"{began} began"] * (began > 0)
            + [f"{ended} ended"] * (ended > 0)
            + [f"{many(jobs, 'job')} ended"] * (jobs > 0)
        )
        data: dict[str, Any] = {"text": f"Dispatches: {', '.join(said)}" if began or ended else said[0]}
        return [Part("said", "said", {**data, "number": totals.records})]
