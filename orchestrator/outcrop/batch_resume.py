"""What a batch that is taken up again finds in its record: jobs that ended, jobs that had begun, what was spent.

A job that had begun, and of whose end the batch's journal does not know, is looked up in the journal of its own run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.budget import Amount
from outcrop.desk import Desk
from outcrop.journal import now
from outcrop.ledger import spent_in
from outcrop.records import Entry, Records, read
from outcrop.recovery import open_run
from outcrop.runs import RunFolder, all_runs
from outcrop.workspace import Workspace
from outcrop_schemas.outcome import GOOD, RunOutcome

STARTED, ENDED = "job_start", "job_end"
COUNTED = "jobs_counted"
UNKNOWN = (
    "the orchestrator was killed while a specialist of this job was at work, so what it did is not known; look at its "
    "files, then run it again: `outcrop batch JOBS --resume --retry interrupted`"
)


@dataclass(frozen=True)
class Before:
    """What earlier starts of a batch left, by the keys of the jobs."""

    ended: dict[str, Entry] = field(default_factory=dict)
    """Where the outcome of each job is recorded that is not to be run again."""

    again: dict[str, Entry] = field(default_factory=dict)
    """Where the last outcome of each job is recorded that is to be run again: it counts until that has ended."""

    spent: dict[str, Amount] = field(default_factory=dict)
    """What all runs of a job have spent, those that were killed too."""


def last_batch(workspace: Workspace, jobs: Path) -> RunFolder | None:
    """The last run of a batch of this file; None where there is none."""
    for folder in reversed(all_runs(workspace)):
        about = folder.begun_as()
        if about and about.get("kind") == "batch" and about.get("jobs") == str(jobs.resolve()):
            return folder
    return None


@dataclass(frozen=True)
class Retry:
    """Which jobs are run again: by the statuses that a user names, and by those of which that is always so."""

    named: Collection[str]
    always: Collection[str]

    def takes(self, outcome: Mapping[str, Any]) -> bool:
        """A job whose specialist crashed ends in a status of its own: those of its dispatches count where it is not
        good."""
        status = outcome["status"]
        if status in self.named or status in self.always:
            return True
        return status not in GOOD and any(line["status"] in self.named for line in outcome.get("dispatches", ()))


async def take_up(desk: Desk, records: Records, retry: Retry, *, is_paid: bool) -> Before:
    """What was done before, by the journal of the batch. Ends that it does not know of are written into it.

    Jobs that ended as `retry` says are left to be run again. Raises JournalError.
    """
    runs = desk.shared.workspace.runs
    found = Before()
    # What is said last of a job counts: a start behind an end is of a job that was run again.
    begun: dict[str, Entry] = {}
    for entry in records.entries:
        if entry.type != "event" or entry.detail not in (STARTED, ENDED):
            continue
        body = records.at(entry).body
        job = body["job"]
        if entry.detail == STARTED:
            begun[job] = entry
            if job in found.ended:
                found.again[job] = found.ended.pop(job)
            if is_paid:
                found.spent[job] = found.spent.get(job, Amount()) + _spent_by(RunFolder(runs / body["run_id"]))
        else:
            begun.pop(job, None)
            found.ended.pop(job, None)
            found.again.pop(job, None)
            (found.again if retry.takes(body["outcome"]) else found.ended)[job] = entry
    for job, entry in begun.items():
        body = records.at(entry).body
        outcome = _of_run(RunFolder(runs / body["run_id"]))
        if outcome and not retry.takes(told := outcome.model_dump(mode="json")):
            found.again.pop(job, None)
            found.ended[job] = await desk.note(ENDED, {**body, "kind": ENDED, "outcome": told})
    return found


def _spent_by(run: RunFolder) -> Amount:
    return spent_in(read(run.journal)[0]) if run.journal.is_file() else Amount()


def _of_run(folder: RunFolder) -> RunOutcome | None:
    """What became of a job by its own record; None where it can be begun anew, since nothing of it was done."""
    if not folder.journal.is_file():
        return None
    run = open_run(folder)
    if run.answer:
        return run.answer
    if not run.records.statuses()["interrupted"] and not run.interrupted:
        return None
    return RunOutcome(
        run_id=folder.run_id,
        objective=str(run.about.get("objective") or ""),
        status="interrupted",
        errors=[UNKNOWN],
        data=[entry["path"] for entry in run.about.get("data", [])],
        model="",
        started_at=str(run.about.get("at") or now()),
        duration_s=0.0,
        run_folder=str(folder.path),
    )
