"""The part of a run that its page shows, as a record like any other: of a run of any length it takes little.

The page is made of it by the same code as the report of a run. What there is in all is told by the totals.
"""

from __future__ import annotations

import contextlib

from outcrop.records import Entry, Records, entry_of
from outcrop.recovery import RunRecord, as_it_stands
from outcrop.runs import RunFolder
from outcrop.ui.follow import Follower
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError
from outcrop_schemas.regular import open_file


def record_of(folder: RunFolder, follower: Follower) -> RunRecord:
    """What is shown of a journal that was read. Raises JournalError."""
    bad = follower.bad_lines
    damage = [f"{bad} damaged lines of the journal skipped"] if bad else []
    return _record(folder, follower.entries(limits.REPORT_DISPATCHES), damage)


def ending_of(folder: RunFolder) -> RunRecord:
    """What the first line and the end of a long journal say, before all of it was read. Raises JournalError."""
    entries: list[Entry] = []
    try:
        with open_file(folder.journal) as file:
            first = entry_of(file.readline(), 0, {})
            size = file.seek(0, 2)
            at = max(file.seek(0), size - limits.UI_START_BYTES)
            file.seek(at)
            at += len(file.readline())
            for line in file:
                entry = entry_of(line, at, {}) if line.endswith(b"\n") else None
                at += len(line)
                if entry:
                    entries.append(entry)
    except OSError as error:
        raise JournalError(f"{folder.journal}: the journal cannot be read: {error.strerror}") from error
    begun = {entry.id for entry in entries if entry.type == "start"}
    whole = [entry for entry in entries if entry.type != "end" or entry.id in begun]
    return _record(folder, [first, *whole] if first else whole)


def _record(folder: RunFolder, entries: list[Entry], damage: list[str] | None = None) -> RunRecord:
    try:
        with contextlib.closing(open_file(folder.journal)) as file:
            return as_it_stands(folder, Records(folder.journal, entries, file), damage or [])
    except OSError as error:
        raise JournalError(f"{folder.journal}: the journal cannot be read: {error.strerror}") from error
