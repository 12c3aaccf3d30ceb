"""The journal: the append-only record of a run, flushed to disk before anything in it is acknowledged.

A record is one line with a sequence number and a checksum. Appends that come together share one write and one flush
(group commit). Opening a journal again recovers it: a torn tail is set aside and reported, and dispatches that were in
flight when the orchestrator died end as `interrupted`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import google_crc32c

from outcrop.records import DETAILS, Damage, Entry, Records, read
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalBusyError, JournalError
from outcrop_schemas.journal import RecordType
from outcrop_schemas.regular import descriptor_of

_ZEROS = b'"crc32c":"00000000"'
_CRC = b'"crc32c":"'
# Given up when the disk is full, so that the outcomes of what is under way can still be recorded.
_BALLAST_BYTES = 128 * 1024
# To take a lock that others look at; each look takes microseconds.
_TRIES = 1_000


def now() -> str:
    """The present time as the journal writes it: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def encode(kind: RecordType, sequence: int, record_id: str, at: str, body: dict[str, Any]) -> bytes:
    """One record as a line."""
    line = wire.dumps(
        {"v": 1, "type": kind, "seq": sequence, "id": record_id, "crc32c": "00000000", "at": at, "body": body}
    )
    checksum = b"%08x" % google_crc32c.value(line)
    return line.replace(_ZEROS, _CRC + checksum + b'"', 1) + b"\n"


@dataclass(frozen=True)
class _Unwritten:
    """A record that has no number yet: it gets one when it is written, so that a failed one leaves no gap."""

    kind: RecordType
    record_id: str
    at: str
    body: dict[str, Any]


class Journal:
    """A journal open for appending by the one process that holds its lock.

    It writes on a thread of its own, or on those of `writers`, which it leaves open.
    """

    def __init__(self, path: Path, descriptor: int, sequence: int, writers: ThreadPoolExecutor | None = None) -> None:
        self.path, self._descriptor, self._sequence = path, descriptor, sequence
        # Up to here all records are whole; what lies behind it after a failed write must not be appended to.
        self._good_length = os.fstat(descriptor).st_size
        self._writing = threading.Lock()
        self._ballast = path.with_name(".ballast")
        self._waiting: list[tuple[_Unwritten, asyncio.Future[Entry]]] = []
        self._flush: asyncio.Future[list[Entry]] | None = None
        # Not one of the loop's threads: whoever fills those with slow work must not hold up the record.
        self._own = None if writers else ThreadPoolExecutor(1, thread_name_prefix="outcrop-journal")
        self._writers = writers or self._own

    @classmethod
    def create(cls, path: Path, writers: ThreadPoolExecutor | None = None) -> Journal:
        """A new journal. Raises JournalError where there is one already, or the disk refuses."""
        journal = cls(path, _open(path, os.O_CREAT | os.O_EXCL), 0, writers)
        journal._load_ballast()
        return journal

    @classmethod
    def reopen(cls, path: Path) -> tuple[Journal, Records, Damage]:
        """An existing journal, its torn tail set aside. Raises JournalError, also when its orchestrator still lives."""
        descriptor = _open(path, 0)
        records, damage = read(path)
        if damage.torn_bytes:
            _set_tail_aside(path, descriptor, damage.torn_bytes)
        return cls(path, descriptor, records.next_sequence), records, damage

    async def append(self, kind: RecordType, record_id: str, body: dict[str, Any]) -> Entry:
        """Append one record; returns its place when it is on disk. Raises JournalError."""
        if self._descriptor < 0:
            raise JournalError(f"{self.path}: the journal is closed")
        future: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        # What is no JSON is the caller's fault alone: known here, it costs no other record that is written with it.
        wire.dumps(body)
        self._waiting.append((_Unwritten(kind, record_id, now(), body), future))
        if self._flush is None and len(self._waiting) == 1:
            # Not at once: with whatever else is appended now.
            asyncio.get_running_loop().call_soon(self._begin_flush)
        # A caller that is cancelled hears no more of its record; written it is all the same.
        return await future

    def append_now(self, kind: RecordType, record_id: str, body: dict[str, Any]) -> None:
        """Append one record outside an event loop, or where waiting is not to be had. Raises JournalError."""
        self._write([_Unwritten(kind, record_id, now(), body)])

    async def close(self) -> None:
        """Flush what waits and release the lock."""
        while self._waiting or self._flush:
            self._begin_flush()
            if self._flush:
                await asyncio.wait([self._flush])
        self.close_now()
        if self._own:
            self._own.shutdown()

    def close_now(self) -> None:
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = -1
            self._ballast.unlink(missing_ok=True)

    def _begin_flush(self) -> None:
        """Write all that waits. By callbacks, not a task of its own: every record of every job comes through here."""
        if self._flush or not self._waiting:
            return
        batch, self._waiting = self._waiting, []
        entries = [entry for entry, _ in batch]
        self._flush = asyncio.get_running_loop().run_in_executor(self._writers, self._write, entries)
        self._flush.add_done_callback(partial(self._flushed, [future for _, future in batch]))

    def _flushed(self, waiting: list[asyncio.Future[Entry]], flush: asyncio.Future[list[Entry]]) -> None:
        self._flush = None
        error = flush.exception()
        for place, future in enumerate(waiting):
            if not future.done():
                if error:
                    future.set_exception(error)
                else:
                    future.set_result(flush.result()[place])
        self._begin_flush()

    def _write(self, entries: list[_Unwritten]) -> list[Entry]:
        """Write and flush records, all or none; where they stand. Raises JournalError."""
        with self._writing:
            lines = [
                encode(entry.kind, sequence, entry.record_id, entry.at, entry.body)
                for sequence, entry in enumerate(entries, self._sequence)
            ]
            try:
                self._cut_back()
                self._write_out(b"".join(lines))
                os.fdatasync(self._descriptor)
            except OSError as error:
                with contextlib.suppress(OSError):
                    # Otherwise the next to write does it; before it is done nothing is appended.
                    self._cut_back()
                raise JournalError(f"{self.path}: a record could not be written: {error.strerror}") from error
            places = []
            for entry, line in zip(entries, lines, strict=True):
                detail = str(entry.body.get(DETAILS.get(entry.kind, ""), ""))
                places.append(
                    Entry(self._sequence, entry.kind, entry.record_id, detail, self._good_length, len(line) - 1)
                )
                self._good_length += len(line)
                self._sequence += 1
            return places

    def _write_out(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                if error.errno != errno.ENOSPC or not self._ballast.exists():
                    raise
                self._ballast.unlink()

    def _cut_back(self) -> None:
        """Take away what a failed write left of its records: nobody was told that they are there."""
        if os.fstat(self._descriptor).st_size > self._good_length:
            os.ftruncate(self._descriptor, self._good_length)

    def _load_ballast(self) -> None:
        try:
            descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, _BALLAST_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise JournalError(f"{self.path}: there is no room for a journal: {error.strerror}") from error


def _open(path: Path, flags: int) -> int:
    try:
        if flags & os.O_CREAT:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
        else:
            descriptor = descriptor_of(path, os.O_RDWR | os.O_APPEND)
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be opened: {error.strerror}") from error
    for _ in range(_TRIES):
        if _locks(descriptor, fcntl.LOCK_EX):
            return descriptor
        # Whoever only looks whether it is held shares the lock, for a moment; an orchestrator does not.
        if not _locks(descriptor, fcntl.LOCK_SH):
            break
    os.close(descriptor)
    raise JournalBusyError(f"{path}: the run is still under way in another process")


def is_held(path: Path) -> bool:
    """Whether a living orchestrator holds this journal; nothing is changed. Raises JournalError."""
    try:
        descriptor = descriptor_of(path)
    except OSError as error:
        raise JournalError(f"{path}: the journal cannot be opened: {error.strerror}") from error
    try:
        return not _locks(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _locks(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _set_tail_aside(path: Path, descriptor: int, count: int) -> None:
    """Move the torn bytes to a file beside, so that the next record does not get glued to them."""
    size = os.fstat(descriptor).st_size
    aside = path.with_name(f"{path.name}.torn-{size}")
    try:
        aside.write_bytes(os.pread(descriptor, count, size - count))
        os.ftruncate(descriptor, size - count)
        os.fsync(descriptor)
    except OSError as error:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise JournalError(f"{path}: the torn end could not be set aside: {error.strerror}") from error
