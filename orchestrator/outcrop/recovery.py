"""Opening the journal of a run again: what was torn is set aside, what was in flight is recorded as interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from outcrop.journal import Damage, Journal, now, read
from outcrop.runs import RunFolder
from outcrop_schemas.errors import JournalBusyError, JournalError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.outcome import Outcome, RunOutcome

_BECAUSE = "the orchestrator ended before this dispatch did"


@dataclass(frozen=True)
class RunRecord:
    """All that a run's journal says.

    `notices` is all that is worth telling of its state; `damage` only what no crash explains: lines that are no record,
    and numbers that are missing.
    """

    folder: RunFolder
    records: Sequence[JournalRecord]
    notices: Sequence[str]
    is_under_way: bool
    damage: Sequence[str] = ()

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
        """What the run is for: its first record; empty where that is lost."""
        return self.records[0].body if self.records and self.records[0].type == "run" else {}


def open_run(folder: RunFolder) -> RunRecord:
    """Read a run; when its orchestrator is gone, recover the journal first. Raises JournalError."""
    try:
        return _recovered(folder)
    except JournalBusyError:
        records, damage = read(folder.journal)
        # Its last line is being written.
        damage.torn_bytes = 0
        return RunRecord(folder, records, damage.sentences(), is_under_way=True, damage=damage.sentences())
    except JournalError as error:
        records, damage = read(folder.journal)
        shown = [*records, *(_as_read(start, records[-1].seq + 1) for start in _in_flight(records))]
        notices = [*_notices(shown, damage.sentences()), f"nothing was recovered on disk: {error}"]
        return RunRecord(folder, shown, notices, is_under_way=False, damage=_lasting(damage))


def _recovered(folder: RunFolder) -> RunRecord:
    journal, records, damage = Journal.reopen(folder.journal)
    try:
        for start in _in_flight(records):
            journal.append_now("end", start.id, _interrupted(start).model_dump(mode="json"))
        # What was torn off now is gone from the file; all other damage stays in it and is found each time.
        known = set(_recorded_damage(records)) & set(_lasting(damage))
        new = [sentence for sentence in damage.sentences() if sentence not in known]
        if new:
            journal.append_now("event", folder.run_id, {"kind": "recovered", "damage": new})
    finally:
        journal.close_now()
    records, damage = read(folder.journal)
    return RunRecord(folder, records, _notices(records), is_under_way=False, damage=_lasting(damage))


def _lasting(damage: Damage) -> list[str]:
    """The damage that no crash explains."""
    return replace(damage, torn_bytes=0).sentences()


def _recorded_damage(records: Sequence[JournalRecord]) -> list[str]:
    return [
        sentence
        for record in records
        if record.type == "event" and record.body["kind"] == "recovered"
        for sentence in record.body["damage"]
    ]


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


def _notices(records: Sequence[JournalRecord], seen: Sequence[str] = ()) -> list[str]:
    found = list(dict.fromkeys([*_recorded_damage(records), *seen]))
    interrupted = sum(record.type == "end" and record.body["status"] == "interrupted" for record in records)
    if interrupted:
        found.append(
            f"{interrupted} dispatches were in flight when the orchestrator ended; they are recorded as interrupted"
        )
    return found
