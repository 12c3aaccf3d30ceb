"""Opening the journal of a run again: what was torn is set aside, what was in flight is recorded as interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.journal import Journal, now, read
from outcrop.runs import RunFolder
from outcrop_schemas.errors import JournalBusyError, JournalError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.outcome import Outcome, RunOutcome

_BECAUSE = "the orchestrator ended before this dispatch did"


@dataclass(frozen=True)
class RunRecord:
    """All that a run's journal says."""

    folder: RunFolder
    records: Sequence[JournalRecord]
    notices: Sequence[str]
    is_under_way: bool

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of its dispatches, in the order they ended."""
        return [Outcome.model_validate(record.body) for record in self.records if record.type == "end"]

    @property
    def answer(self) -> RunOutcome | None:
        """The answer of its lead; None where there is no lead, or it has not answered."""
        for body in reversed(self.events("answer")):
            return RunOutcome.model_validate(body["outcome"])
        return None

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [record.body for record in self.records if record.type == "event" and record.body["kind"] == kind]

    @property
    def about(self) -> dict[str, Any]:
        return self.records[0].body if self.records else {}


def open_run(folder: RunFolder) -> RunRecord:
    """Read a run; when its orchestrator is gone, recover the journal first. Raises JournalError."""
    try:
        return _recovered(folder)
    except JournalBusyError:
        records, damage = read(folder.journal)
        return RunRecord(folder, records, damage.sentences(), is_under_way=True)
    except JournalError as error:
        records, damage = read(folder.journal)
        shown = [*records, *(_as_read(start, records[-1].seq + 1) for start in _in_flight(records))]
        notices = [*damage.sentences(), *_notices(shown), f"nothing was recovered on disk: {error}"]
        return RunRecord(folder, shown, notices, is_under_way=False)


def _recovered(folder: RunFolder) -> RunRecord:
    journal, records, damage = Journal.reopen(folder.journal)
    try:
        for start in _in_flight(records):
            journal.append_now("end", start.id, _interrupted(start).model_dump(mode="json"))
        if damage:
            journal.append_now("event", folder.run_id, {"kind": "recovered", "damage": damage.sentences()})
    finally:
        journal.close_now()
    records, _ = read(folder.journal)
    return RunRecord(folder, records, _notices(records), is_under_way=False)


def _as_read(start: JournalRecord, sequence: int) -> JournalRecord:
    """The end of a dispatch that was in flight, where it cannot be written down."""
    body = _interrupted(start).model_dump(mode="json")
    return JournalRecord(type="end", seq=sequence, id=start.id, crc32c="00000000", at=now(), body=body)


def _in_flight(records: Sequence[JournalRecord]) -> list[JournalRecord]:
    ended = {record.id for record in records if record.type == "end"}
    return [record for record in records if record.type == "start" and record.id not in ended]


def _interrupted(start: JournalRecord) -> Outcome:
    return Outcome(
        dispatch_id=start.id,
        specialist=start.body["specialist"],
        objective=start.body["objective"],
        status="interrupted",
        errors=[_BECAUSE],
        started_at=start.at,
        duration_s=0.0,
        usage={"recovered_at": now()},
    )


def _notices(records: Sequence[JournalRecord]) -> list[str]:
    found = [
        sentence
        for record in records
        if record.type == "event" and record.body["kind"] == "recovered"
        for sentence in record.body["damage"]
    ]
    interrupted = sum(record.type == "end" and record.body["status"] == "interrupted" for record in records)
    if interrupted:
        found.append(
            f"{interrupted} dispatches were in flight when the orchestrator ended; they are recorded as interrupted"
        )
    return found
