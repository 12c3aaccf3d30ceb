"""Reads a journal: which records it has and where, each record when it is asked for.

All lines are looked at once, checksum included, which takes a second a gigabyte; nothing of them is kept but their
place, so that a journal of any length is read in little memory. Where a large journal was looked at before, what was
found stands in an index beside it, which holds as long as the file is what it was.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast, overload

import google_crc32c

from outcrop.spill import write_private
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import JournalError
from outcrop_schemas.journal import JournalRecord, RecordType
from outcrop_schemas.regular import open_file, read_file

_log = logging.getLogger(__name__)
_CRC = b'"crc32c":"'
# The checksum stands before the body, within the fixed-size head of a line.
_HEAD_BYTES = 400
_BUFFER_BYTES = 1 << 20
_HEAD = re.compile(rb'\{"v":1,"type":"(run|start|end|event)","seq":(\d+),"id":"([^"\\]*)","crc32c":"[0-9a-f]{8}"')
WAITS, LEAVES = "dispatch_waits", "dispatch_leaves"
"""Events, under the id of a dispatch: it waits for a place, and will not begin."""

# Of an event its kind, of the end of a dispatch its status: before it stand only plain texts, whose quotes are escaped.
DETAILS: Mapping[RecordType, str] = {"event": "kind", "end": "status"}
_KIND = re.compile(rb'"body":\{"kind":"(\w+)"')
_STATUS = re.compile(rb'","status":"(\w+)"')


@dataclass
class Damage:
    """What was wrong in a journal: lines that are no record, and bytes after the last whole line."""

    bad_lines: list[int] = field(default_factory=list)
    missing_sequence: list[int] = field(default_factory=list)
    torn_bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.bad_lines or self.missing_sequence or self.torn_bytes)

    def sentences(self) -> list[str]:
        said = []
        if self.torn_bytes:
            said.append(f"the journal's last {self.torn_bytes} bytes were torn off by a crash and set aside")
        if self.bad_lines:
            said.append(
                f"{len(self.bad_lines)} damaged lines of the journal skipped: {', '.join(map(str, self.bad_lines[:5]))}"
            )
        if self.missing_sequence:
            said.append(f"the journal lacks the records before number {', '.join(map(str, self.missing_sequence[:5]))}")
        return said


class Entry(NamedTuple):
    """Where a record stands and what it is; `detail` is the kind of an event and the status of an end."""

    seq: int
    type: RecordType
    id: str
    detail: str
    at: int
    length: int


class Records(Sequence[JournalRecord]):
    """The good records of a journal in order, each read from the file when it is asked for.

    Raises JournalError where a record is no longer what it was when the journal was opened.
    """

    def __init__(self, path: Path, entries: Sequence[Entry], file: BinaryIO | None = None) -> None:
        self.path, self.entries = path, entries
        self._descriptor = os.dup(file.fileno()) if file else -1
        if file:
            weakref.finalize(self, os.close, self._descriptor)

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, place: int) -> JournalRecord: ...

    @overload
    def __getitem__(self, place: slice) -> Records: ...

    def __getitem__(self, place: int | slice) -> JournalRecord | Records:
        if isinstance(place, slice):
            part = Records(self.path, self.entries[place])
            part._descriptor, part._whole = self._descriptor, self
            return part
        return self.at(self.entries[place])

    _whole: Records | None = None
    """What keeps the file open, of a part."""

    def __iter__(self) -> Iterator[JournalRecord]:
        return map(self.at, self.entries)

    def at(self, entry: Entry) -> JournalRecord:
        """The record of an entry."""
        line = os.pread(self._descriptor, entry.length, entry.at)
        record = decode(line)
        if record is None:
            raise JournalError(f"{self.path}: record {entry.seq} was changed while the journal was open")
        return record

    def of(self, kind: RecordType, *details: str) -> Iterator[JournalRecord]:
        """The records of one type, of these kinds or statuses only where any is given."""
        for entry in self.entries:
            if entry.type == kind and (not details or entry.detail in details):
                yield self.at(entry)

    def find(self, kind: RecordType, record_id: str) -> JournalRecord | None:
        """The first record of this type and id."""
        return next((self.at(entry) for entry in self.entries if entry.type == kind and entry.id == record_id), None)

    def in_flight(self) -> list[JournalRecord]:
        """The starts of dispatches that have no end."""
        ended = {entry.id for entry in self.entries if entry.type == "end"}
        return [self.at(entry) for entry in self.entries if entry.type == "start" and entry.id not in ended]

    def waiting(self) -> list[Entry]:
        """The events of dispatches that wait, of which neither a start nor that they left is recorded."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            if entry.detail == WAITS:
                found[entry.id] = entry
            elif entry.type == "start" or entry.detail == LEAVES:
                found.pop(entry.id, None)
        return list(found.values())

    def statuses(self) -> Counter[str]:
        """How many dispatches ended in each status."""
        return Counter(entry.detail for entry in self.entries if entry.type == "end")

    @property
    def next_sequence(self) -> int:
        return self.entries[-1].seq + 1 if self.entries else 0


def decode(line: bytes) -> JournalRecord | None:
    """The record of a line without its newline; None where the line is damaged."""
    return JournalRecord.model_validate(wire.loads(line)) if _is_whole(line, len(line)) else None


def read(path: Path) -> tuple[Records, Damage]:
    """All good records in order and what was damaged. Raises JournalError where there is no journal."""
    try:
        with open_file(path, _BUFFER_BYTES) as file:
            state = os.fstat(file.fileno())
            stamp = [state.st_size, state.st_mtime_ns, state.st_ino]
            is_large = state.st_size >= limits.JOURNAL_INDEXED_BYTES
            known = _indexed(path, stamp) if is_large else None
            if known is None:
                known = _scanned(file)
                if is_large:
                    _keep(path, stamp, *known)
            return Records(path, known[0], file), known[1]
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be read: {error.strerror}") from error


def _scanned(file: BinaryIO) -> tuple[list[Entry], Damage]:
    damage = Damage()
    entries: list[Entry] = []
    names: dict[bytes, str] = {}
    at, expected = 0, 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            damage.torn_bytes = len(line)
            break
        entry = entry_of(line, at, names)
        at += len(line)
        if entry is None:
            damage.bad_lines.append(number)
            continue
        if entry.seq != expected:
            damage.missing_sequence.append(entry.seq)
        expected = entry.seq + 1
        entries.append(entry)
    return entries, damage


def entry_of(line: bytes, at: int, names: dict[bytes, str]) -> Entry | None:
    """What a line, with its newline, is; None where it is damaged. Names that come again are the same object."""

    def name(text: bytes) -> str:
        return names.setdefault(text, text.decode())

    if not _is_whole(line, len(line) - 1):
        return None
    head = _HEAD.match(line)
    if head:
        kind = cast(RecordType, name(head[1]))
        told = {"event": _KIND, "end": _STATUS}.get(kind)
        found = told.search(line, head.end()) if told else None
        if found or not told:
            return Entry(int(head[2]), kind, name(head[3]), name(found[1]) if found else "", at, len(line) - 1)
    # Written in another order.
    record = JournalRecord.model_validate(wire.loads(line))
    return Entry(
        record.seq, record.type, record.id, str(record.body.get(DETAILS.get(record.type, ""), "")), at, len(line) - 1
    )


def _is_whole(line: bytes, length: int) -> bool:
    """Whether a line's checksum is that of its bytes, of which there are `length` without the newline."""
    place = line.find(_CRC, 0, _HEAD_BYTES) + len(_CRC)
    if place < len(_CRC):
        return False
    checksum = google_crc32c.value(line[:place] + b"00000000")
    return line[place : place + 8] == b"%08x" % google_crc32c.extend(checksum, line[place + 8 : length])


# --- the index of a large journal -------------------------------------------------------------------------------------


def index_path(path: Path) -> Path:
    """The index beside a journal."""
    return path.with_name(f".{path.name}.index")


def _indexed(path: Path, stamp: list[int]) -> tuple[list[Entry], Damage] | None:
    try:
        head, *lines = read_file(index_path(path)).decode().splitlines()
        about = wire.loads(head)
        if about["journal"] != stamp or about["entries"] != len(lines):
            return None
        return [_entry_of(line) for line in lines], Damage(**about["damage"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.debug("the index of %s is not used: %s", path, error)
        return None


def _entry_of(line: str) -> Entry:
    seq, kind, record_id, detail, at, length = line.split("\t")
    return Entry(int(seq), cast(RecordType, kind), record_id, detail, int(at), int(length))


def _keep(path: Path, stamp: list[int], entries: list[Entry], damage: Damage) -> None:
    """Write the index. One that cannot be written is no fault: the journal is looked at again."""
    about: dict[str, Any] = {"journal": stamp, "entries": len(entries), "damage": asdict(damage)}
    lines = ("\t".join(map(str, entry)) for entry in entries)
    temporary = index_path(path).with_suffix(".tmp")
    try:
        write_private(temporary, wire.dumps(about) + b"\n" + "\n".join(lines).encode())
        temporary.replace(index_path(path))
    except OSError as error:
        _log.debug("no index kept of %s: %s", path, error)
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
