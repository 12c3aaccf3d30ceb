"""What the lead is told of past dispatches: the last 20, and one line that counts the older ones."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from outcrop.records import Records
from outcrop.text import inert, shorten
from outcrop_schemas import limits
from outcrop_specialists.brief import HISTORY


@dataclass
class Entry:
    """One dispatch as the history knows it. `status` is None while it runs."""

    dispatch_id: str
    specialist: str
    objective: str
    status: str | None = None
    duration_seconds: float = 0.0
    errors: tuple[str, ...] = ()


class History:
    """The last dispatches, and counts of those before. Fed with the journal's own records, in their order."""

    def __init__(self, shown: int = limits.HISTORY_DISPATCHES) -> None:
        self._shown = shown
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._older = {"successes": 0, "errors": 0}

    @classmethod
    def of(cls, records: Records) -> History:
        """The history of a journal, of which only the dispatches are read that it shows."""
        history = cls()
        entries = [entry for entry in records.entries if entry.type in ("start", "end")]
        ended = {entry.id: entry for entry in entries if entry.type == "end"}
        begun = [entry for entry in entries if entry.type == "start"]
        for place, start in enumerate(begun):
            end = ended.get(start.id)
            if end and place < len(begun) - history._shown:
                history._count(end.detail)
                continue
            for record in (records.at(entry) for entry in (start, end) if entry):
                history.take(record.type, record.id, record.body)
        return history

    def take(self, kind: str, record_id: str, body: dict[str, Any]) -> None:
        """Learn of one journal record; those that are not about dispatches are passed over."""
        if kind == "start":
            self._entries[record_id] = Entry(record_id, body["specialist"], body["objective"])
        elif kind == "end" and record_id in self._entries:
            entry = self._entries[record_id]
            entry.status, entry.duration_seconds = body["status"], body["duration_s"]
            entry.errors = tuple(body["errors"])
        self._forget_old()

    def render(self) -> str | None:
        """The history as the lead sees it; None where nothing was dispatched yet."""
        if not self._entries:
            return None
        entries = list(self._entries.values())
        older, recent = entries[: -self._shown], entries[-self._shown :]
        lines = [HISTORY.rstrip("\n")]
        successes, errors = self._older["successes"], self._older["errors"]
        pending = len(older)
        if successes + errors + pending:
            lines.append(
                f"[{successes + errors + pending} older: {successes} successes, {errors} errors, {pending} pending]"
            )
        return "\n".join(lines + [_line(entry) for entry in recent])

    def _forget_old(self) -> None:
        """Count what is ended and no longer shown; what still runs is kept until it ends."""
        for key in list(self._entries)[: -self._shown]:
            status = self._entries[key].status
            if status is not None:
                self._count(status)
                del self._entries[key]

    def _count(self, status: str) -> None:
        self._older["successes" if status in ("success", "partial") else "errors"] += 1


def _line(entry: Entry) -> str:
    state = "running" if entry.status is None else f"{entry.status} ({entry.duration_seconds:.1f} s)"
    objective = _one_line(entry.objective, limits.HISTORY_OBJECTIVE_CHARS)
    line = f"[{entry.dispatch_id}] {entry.specialist}: {state} — {objective}"
    if entry.errors:
        line += f" — errors: {_one_line('; '.join(entry.errors), limits.HISTORY_ERROR_CHARS)}"
    return line


def _one_line(text: str, limit: int) -> str:
    return shorten(inert(" ".join(text.split())), limit)


def render_history(records: Records) -> str | None:
    """The history text for a journal's records."""
    return History.of(records).render()
