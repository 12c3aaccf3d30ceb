"""Opening the journal of a run again: what was torn is set aside, what was in flight is recorded as interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from outcrop.journal import Journal, is_held, now
from outcrop.records import Damage, Entry, Records, read
from outcrop.runs import RunFolder
from outcrop.text import shorten
from outcrop_schemas.errors import JournalBusyError, JournalError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.outcome import Outcome, RunOutcome

# A record whose checksum is good may yet have another shape than ours: of another version, or made by hand.
SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_BECAUSE = "the orchestrator ended before this dispatch did"
_TOLD_CHARS = 200
_BY_RECOVERY = {("end", "interrupted"), ("event", "recovered")}


@dataclass(frozen=True)
class RunRecord:
    """All that a run's journal says.

    `notices` is all that is worth telling of its state; `damage` only what no crash explains: lines that are no record,
    and numbers that are missing.
    """

    folder: RunFolder
    records: Records
    notices: Sequence[str]
    is_under_way: bool
    damage: Sequence[str] = ()
    interrupted: Sequence[Outcome] = ()
    """Of dispatches that were in flight, where that cannot be written down."""

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of its dispatches, in the order they ended."""
        return list(self.each_outcome())

    def each_outcome(self) -> Iterator[Outcome]:
        """The same, one after the other: a long run has more of them than memory holds."""
        for record in self.records.of("end"):
            yield Outcome.model_validate(record.body)
        yield from self.interrupted

    def standing(self) -> Iterator[Outcome]:
        """Those that count: not of a dispatch that was lost with its node, or lacked a package, and was done again."""
        again = {
            before
            for start in self.records.of("start")
            for name in ("again_for", "resumes")
            for before in start.body.get(name, ())
        }
        return (outcome for outcome in self.each_outcome() if outcome.dispatch_id not in again)

    def outcome(self, dispatch_id: str) -> Outcome | None:
        """The outcome of one dispatch; None where it has not ended."""
        end = self._ends.get(dispatch_id)
        if end is not None:
            return Outcome.model_validate(self.records.at(end).body)
        return next((outcome for outcome in self.interrupted if outcome.dispatch_id == dispatch_id), None)

    @property
    def answer(self) -> RunOutcome | None:
        """The answer of its lead; None where there is no lead, or it has not answered."""
        for body in reversed(self.events("answer")):
            return RunOutcome.model_validate(body["outcome"])
        return None

    @cached_property
    def waiting(self) -> list[Entry]:
        """The events of dispatches that wait for a place, in their order. Where the orchestrator is gone, none do."""
        return self.records.waiting() if self.is_under_way else []

    @cached_property
    def _ends(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for entry in self.records.entries:
            if entry.type == "end":
                found.setdefault(entry.id, entry)
        return found

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [record.body for record in self.records.of("event", kind)]

    @cached_property
    def last_at(self) -> str:
        """When its orchestrator wrote last; what a recovery wrote, maybe days after, is not of the run's time."""
        entries = reversed(self.records.entries)
        last = next((entry for entry in entries if (entry.type, entry.detail) not in _BY_RECOVERY), None)
        return self.records.at(last).at if last else ""

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the run is for: its first record; empty where that is lost."""
        is_known = bool(self.records) and self.records.entries[0].type == "run"
        return self.records[0].body if is_known else {}


@contextmanager
def as_this_version_writes(folder: RunFolder) -> Iterator[None]:
    """Raises JournalError for what a record of another shape leads to while it is looked at."""
    try:
        yield
    except SHAPE as error:
        told = shorten(" ".join(f"{error}".split()), _TOLD_CHARS)
        raise JournalError(
            f"{folder.journal}: a record is not as this version of Outcrop writes it ({type(error).__name__}: {told}): "
            "it is of another version, or was changed; the file is JSON, a record a line"
        ) from error


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
        interrupted = [_interrupted(start) for start in records.in_flight()]
        notices = [*_notices(records, damage.sentences(), len(interrupted)), f"nothing was recovered on disk: {error}"]
        return RunRecord(folder, records, notices, False, _lasting(damage), interrupted)


def as_it_stands(folder: RunFolder, records: Records, damage: Sequence[str] = ()) -> RunRecord:
    """What these records of a run say, all of them or some, for whoever only looks on: nothing is written, also where
    its orchestrator is gone. Raises JournalError."""
    is_under_way = is_held(folder.journal)
    interrupted = [] if is_under_way else [_interrupted(start) for start in records.in_flight()]
    notices = damage if is_under_way else _notices(records, damage, len(interrupted))
    return RunRecord(folder, records, notices, is_under_way, damage, interrupted)


def _recovered(folder: RunFolder) -> RunRecord:
    journal, records, damage = Journal.reopen(folder.journal)
    try:
        in_flight = records.in_flight()
        for start in in_flight:
            journal.append_now("end", start.id, _interrupted(start).model_dump(mode="json"))
        # What was torn off now is gone from the file; all other damage stays in it and is found each time.
        known = set(_recorded_damage(records)) & set(_lasting(damage))
        new = [sentence for sentence in damage.sentences() if sentence not in known]
        if new:
            journal.append_now("event", folder.run_id, {"kind": "recovered", "damage": new})
    finally:
        journal.close_now()
    if in_flight or new:
        records, damage = read(folder.journal)
    return RunRecord(folder, records, _notices(records), is_under_way=False, damage=_lasting(damage))


def _lasting(damage: Damage) -> list[str]:
    """The damage that no crash explains."""
    return replace(damage, torn_bytes=0).sentences()


def _recorded_damage(records: Records) -> list[str]:
    return [sentence for record in records.of("event", "recovered") for sentence in record.body["damage"]]


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


def _notices(records: Records, seen: Sequence[str] = (), unwritten: int = 0) -> list[str]:
    found = list(dict.fromkeys([*_recorded_damage(records), *seen]))
    interrupted = records.statuses()["interrupted"] + unwritten
    if interrupted:
        found.append(
            f"{interrupted} dispatch{'es were' if interrupted > 1 else ' was'} in flight when the orchestrator ended; "
            f"{'they are' if interrupted > 1 else 'it is'} recorded as interrupted"
        )
    if waited := len(records.waiting()):
        found.append(
            f"{waited} dispatch{'es' if waited > 1 else ''} waited for a place when the orchestrator ended; nothing "
            f"was started for {'them' if waited > 1 else 'it'}"
        )
    return found
