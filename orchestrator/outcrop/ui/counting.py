"""The facts of a run for the live view: those of its report, with counts of all of it, and what goes on now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from outcrop.batch_resume import STARTED
from outcrop.report.dispatches import RUNNING, WAITING, Dispatches
from outcrop.report.facts import RunFacts, facts_of
from outcrop.report.jobs import JobFact, Jobs
from outcrop.runs import RunFolder
from outcrop.spending import spending_told
from outcrop.ui.earlier import INTERRUPTED
from outcrop.ui.follow import Follower, Totals
from outcrop.ui.places import Pair
from outcrop.ui.progress import Transcripts
from outcrop.ui.window import ending_of, record_of

_SHOWN_AT_ONCE = 200


def facts_of_ending(folder: RunFolder) -> RunFacts:
    """Of a long run whose journal was not read yet. Raises JournalError."""
    return facts_of(ending_of(folder), lambda: None)


def facts_of_all(folder: RunFolder, follower: Follower) -> RunFacts:
    """Of a run whose journal was read. Raises JournalError."""
    record, totals = record_of(folder, follower), follower.totals()
    facts = facts_of(record, lambda: spending_told(follower.accounts(), record.about))
    left = RUNNING if record.is_under_way else INTERRUPTED
    counts = _with(totals.statuses, left, totals.running)
    if record.is_under_way:
        counts = _with(counts, WAITING, totals.waiting)
    jobs = _jobs(folder, facts.jobs, totals, left) if facts.jobs else None
    return replace(facts, dispatches=_dispatches(facts.dispatches, counts), jobs=jobs)


def _with(statuses: Mapping[str, int], left: str, count: int) -> Counter[str]:
    """How many there are of each status, with those that have not ended."""
    return +(Counter(statuses) + Counter({left: count}))


def _dispatches(known: Dispatches, counts: Counter[str]) -> Dispatches:
    shown = Counter(fact.status for fact in known.shown)
    return replace(known, counts=dict(counts), left_out=dict(counts - shown))


def _jobs(folder: RunFolder, known: Jobs, totals: Totals, left: str) -> Jobs:
    counts = _with(totals.job_statuses, left, totals.jobs_running)
    shown = [with_objective(folder, job, left) if job.status == RUNNING else job for job in known.shown]
    return replace(known, shown=shown, counts=dict(counts), left_out=max(0, totals.jobs - len(shown)))


def with_objective(folder: RunFolder, job: JobFact, left: str) -> JobFact:
    """A job that has not ended: what it is for stands in its own run."""
    try:
        begun = RunFolder(folder.path.parent / job.run_id).begun_as() or {}
    except OSError:
        begun = {}
    return replace(job, status=left, objective=str(begun.get("objective") or ""))


class Doing:
    """What the dispatches and jobs of a run do that are under way."""

    def __init__(self, folder: RunFolder, follower: Follower, others: Callable[[RunFolder], Follower]) -> None:
        self._folder, self._follower, self._others = folder, follower, others
        self._transcripts = Transcripts()
        self._starts: dict[str, tuple[str, dict[str, Any]]] = {}

    def now(self) -> dict[str, dict[str, str]]:
        """By the ids of their elements: what is being done, and since when. Raises JournalError."""
        names = list(self._follower.dispatches.open)[-_SHOWN_AT_ONCE:]
        done = self._transcripts.last([self._folder.transcript(name) for name in names])
        jobs = list(self._follower.jobs.open)[-_SHOWN_AT_ONCE:]
        starts = {name: self._start(name, self._follower.dispatches.open.get(name)) for name in names}
        starts |= {name: self._start(name, self._follower.jobs.open.get(name), of_job=True) for name in jobs}
        self._starts = starts
        found = {
            name: {"text": str(progress), "since": starts[name][0]} for name, progress in zip(names, done, strict=True)
        }
        for name in jobs:
            since, body = starts[name]
            found[f"job-{body.get('line')}"] = {"text": self._told(str(body.get("run_id", ""))), "since": since}
        return found

    def _start(self, name: str, number: int | None, *, of_job: bool = False) -> tuple[str, dict[str, Any]]:
        if name in self._starts:
            return self._starts[name]
        if number is None:
            return "", {}
        pairs = self._follower.jobs if of_job else self._follower.dispatches
        pair: Pair = pairs[number]
        record = self._follower.read(pair.start)[1]
        return record.at, record.body if record.body.get("kind") == STARTED else {}

    def _told(self, run_id: str) -> str:
        """How far a job is, by the journal of its own run."""
        folder = RunFolder(self._folder.path.parent / run_id)
        if not run_id or not folder.has_begun():
            return ""
        follower = self._others(folder)
        follower.read_all()
        totals = follower.totals()
        ended = totals.dispatches - totals.running
        return f"{ended} of {totals.dispatches} dispatches ended" if totals.dispatches else "the lead plans"
