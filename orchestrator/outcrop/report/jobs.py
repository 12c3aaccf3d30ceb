"""The jobs of a batch as its page lists them: those that failed first, each with a way to its own page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.batch_resume import COUNTED, ENDED, STARTED
from outcrop.recovery import RunRecord
from outcrop.report.dispatches import RUNNING
from outcrop_schemas import limits
from outcrop_schemas.outcome import GOOD


@dataclass(frozen=True)
class JobFact:
    """One job; `run_id` is empty where it opened no run."""

    line: int
    name: str
    status: str
    seconds: float | None
    objective: str
    told: str
    run_id: str

    @property
    def is_good(self) -> bool:
        return self.status in GOOD


@dataclass(frozen=True)
class Jobs:
    """Those that are shown, and how many there are of each status, shown and not; `bad_lines` are no jobs."""

    shown: Sequence[JobFact]
    counts: Mapping[str, int]
    left_out: int
    bad_lines: Sequence[tuple[int, str]]
    all: int | None = None
    """How many there are, with those that have not begun; records of before do not say it."""

    @property
    def begun(self) -> int:
        return len(self.shown) + self.left_out


def job_facts(run: RunRecord) -> Jobs | None:
    """The jobs of a batch, what is said last of each; None of another run."""
    if run.about.get("kind") != "batch":
        return None
    last = _last_of_each(run)
    order = sorted(last, key=lambda line: (last[line][0] in GOOD, line))
    wanted = {last[line][1] for line in order[: limits.REPORT_JOBS]}
    shown = sorted((job for place, job in _each(run, wanted)), key=lambda job: (job.is_good, job.line))
    bad = [(int(body.get("line", 0)), str(body.get("reason", ""))) for body in run.events("bad_line")]
    counts = Counter(status for status, _ in last.values())
    counted = [int(body.get("jobs", 0)) for body in run.events(COUNTED)]
    return Jobs(
        shown,
        dict(counts),
        len(last) - len(shown),
        bad[: limits.REPORT_JOBS],
        max(counted[-1], len(last)) if counted else None,
    )


def job_pages(run: RunRecord) -> Iterator[list[JobFact]]:
    """All jobs of a batch in the order of its file, as many at a time as a page shows, what is said last of each."""
    last = _last_of_each(run)
    lines = sorted(last)
    for first in range(0, len(lines), limits.REPORT_JOBS):
        wanted = {last[line][1] for line in lines[first : first + limits.REPORT_JOBS]}
        yield sorted((job for _, job in _each(run, wanted)), key=lambda job: job.line)


def _last_of_each(run: RunRecord) -> dict[int, tuple[str, int]]:
    """How each job, by its line, stands at last, and the place of the record that says so."""
    return {job.line: (job.status, place) for place, job in _each(run)}


def _each(run: RunRecord, places: set[int] | None = None) -> Iterator[tuple[int, JobFact]]:
    """What the journal says of jobs, by place; memory takes one at a time."""
    entries = run.records.entries
    for place in range(len(entries)) if places is None else sorted(places):
        entry = entries[place]
        if entry.type == "event" and entry.detail in (STARTED, ENDED):
            # One that began and has no end, in a batch that is over, was under way when the orchestrator ended.
            yield place, job_fact(run.records.at(entry).body, RUNNING if run.is_under_way else "interrupted")


def job_fact(body: Mapping[str, Any], unended: str) -> JobFact:
    """What a record says of a job, which is `unended` where it is its start."""
    outcome = body.get("outcome") or {}
    return JobFact(
        int(body.get("line", 0)),
        str(body.get("id") or ""),
        str(outcome.get("status", unended)),
        outcome.get("duration_s"),
        str(outcome.get("objective", "")),
        str(outcome.get("summary") or "; ".join(outcome.get("errors", ()))),
        str(outcome.get("run_id") or body.get("run_id") or ""),
    )
