"""A journal that grows, as the live view knows it: counts, what is under way, and where the rest stands.

Each line is looked at once; nothing of it is kept but its place, in little memory however long the run is. Reading goes
on in steps, so that what is known so far can be shown meanwhile.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop.batch_resume import ENDED, STARTED
from outcrop.budget import Amount
from outcrop.ledger import RESERVED, SETTLED, Account, Accounts
from outcrop.prices import dollars
from outcrop.records import LEAVES, WAITS, Entry, decode, entry_of
from outcrop.ui.places import Pairs, Place
from outcrop_schemas.errors import JournalError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.regular import descriptor_of, open_file

_STEP_BYTES = 8 << 20
_BUFFER_BYTES = 1 << 20
_EVENTS_KEPT = 500
"""Of each kind of event so many, the last ones, are at hand."""

_JOB = re.compile(rb'"body":\{"kind":"job_\w+","job":"([^"\\]*)"(?:,"line":(\d{1,7})\b)?')


@dataclass(frozen=True)
class Totals:
    """What there is of a run in all. `is_whole` says whether all of its journal was looked at yet."""

    is_whole: bool
    read_bytes: int
    journal_bytes: int
    records: int
    dispatches: int
    running: int
    statuses: dict[str, int]
    jobs: int
    jobs_running: int
    job_statuses: dict[str, int]
    spent_usd: str | None
    spent_tokens: int | None
    waiting: int = 0


class Follower:
    """One journal, followed. Used by several threads, one of which reads at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._at, self._inode, self._names = 0, 0, dict[bytes, str]()
        self.first: Entry | None = None
        self.answer: Entry | None = None
        self.dispatches, self.jobs = Pairs(), Pairs()
        # By its line the number of a job and one, so that one that is run again stays one job.
        self._job_of_line = array("I")
        self.waiting: dict[str, Place] = {}
        """Where it is recorded that dispatches wait which have not begun: no more than a pool takes."""
        self.events: dict[str, deque[Entry]] = {}
        self.kinds: Counter[str] = Counter()
        self._accounts = Accounts("role")
        self._accounts_of_jobs: dict[str, Account] = {}
        self.records, self.bad_lines = 0, 0
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """Whether all that was there at the last look was read."""
        return self._at >= self.size

    def look(self) -> bool:
        """Whether there is something to be read. Raises JournalError."""
        try:
            state = self.path.stat()
        except OSError as error:
            raise JournalError(f"{self.path}: the journal cannot be read: {error.strerror}") from error
        with self._reading:
            if state.st_size < self._at or (self._inode and state.st_ino != self._inode):
                self._begin()
            self._inode, self.size = state.st_ino, state.st_size
            return self._at < self.size

    def advance(self, most: int = _STEP_BYTES) -> bool:
        """Read on, about so many bytes; whether whole lines came. Raises JournalError."""
        with self._reading:
            try:
                with open_file(self.path, _BUFFER_BYTES) as file:
                    file.seek(self._at)
                    return self._read_on(file.readline, self._at + most)
            except OSError as error:
                raise JournalError(f"{self.path}: the journal cannot be read: {error.strerror}") from error

    def read_all(self, is_wanted: Callable[[], bool] = lambda: True) -> bool:
        """Read as long as there is something and it is wanted; whether there was. Raises JournalError."""
        has_come = False
        while is_wanted() and self.look() and self.advance():
            has_come = True
        return has_come

    def _read_on(self, next_line: Callable[[], bytes], until: int) -> bool:
        begun_at = self._at
        while self._at < until:
            line = next_line()
            if not line.endswith(b"\n"):
                # Being written, or torn off by a crash.
                self.size = self._at
                break
            entry = entry_of(line, self._at, self._names if len(self._names) < _EVENTS_KEPT else {})
            self._at += len(line)
            if entry is None:
                self.bad_lines += 1
            else:
                self._take(entry, line)
        return self._at > begun_at

    def _take(self, entry: Entry, line: bytes) -> None:
        self.records += 1
        place = Place(entry.at, entry.length)
        if entry.type == "start":
            self.waiting.pop(entry.id, None)
            self.dispatches.begin(entry.id, place)
        elif entry.type == "end":
            self.dispatches.finish(entry.id, place, entry.detail)
        elif entry.type == "run":
            self.first = self.first or entry
        else:
            self._take_event(entry, line, place)

    def _take_event(self, entry: Entry, line: bytes, place: Place) -> None:
        self.kinds[entry.detail] += 1
        if entry.detail in (RESERVED, SETTLED):
            record = decode(line[:-1])
            if record:
                self._accounts.take(record.body)
        elif entry.detail == WAITS:
            self.waiting[entry.id] = place
        elif entry.detail == LEAVES:
            self.waiting.pop(entry.id, None)
        elif entry.detail in (STARTED, ENDED):
            self._take_job(entry, line, place)
        else:
            self.answer = entry if entry.detail == "answer" else self.answer
            self.events.setdefault(entry.detail, deque(maxlen=_EVENTS_KEPT)).append(entry)

    def _take_job(self, entry: Entry, line: bytes, place: Place) -> None:
        found = _JOB.search(line)
        if found is None:
            return
        name, number = found[1].decode(), int(found[2] or 0)
        if entry.detail == STARTED:
            self._begin_job(name, number, place)
        elif record := decode(line[:-1]):
            if name not in self.jobs.open:
                # It failed before it opened a run, or an earlier start of the batch did not come to say so.
                self._begin_job(name, number, place, is_end=True)
            outcome = record.body["outcome"]
            self.jobs.finish(name, place, outcome["status"])
            spending = outcome.get("usage", {}).get("spending") or {}
            for role, told in spending.get("by_specialist", {}).items():
                known = self._accounts_of_jobs.get(role, Account())
                self._accounts_of_jobs[role] = known.plus(Account.of(told))

    def _begin_job(self, name: str, line: int, place: Place, *, is_end: bool = False) -> None:
        known = self._job_of_line[line] if line < len(self._job_of_line) else 0
        if known and name not in self.jobs.open and self.jobs[known - 1].end:
            self.jobs.begin_again(known - 1, name, None if is_end else place)
            return
        self.jobs.begin(name, place)
        if line:
            self._job_of_line.extend([0] * (line + 1 - len(self._job_of_line)))
            self._job_of_line[line] = self.jobs.open[name] + 1

    def totals(self) -> Totals:
        """What is known so far."""
        with self._reading:
            accounts = self.accounts()
            spent = sum((account.spent for _, account in accounts.values()), Amount())
            return Totals(
                self.is_whole,
                self._at,
                self.size,
                self.records,
                len(self.dispatches),
                len(self.dispatches.open),
                dict(self.dispatches.statuses),
                len(self.jobs),
                len(self.jobs.open),
                dict(self.jobs.statuses),
                dollars(spent.usd) if accounts else None,
                spent.tokens if accounts else None,
                len(self.waiting),
            )

    def accounts(self) -> dict[str, tuple[str, Account]]:
        """What was spent by role: by the run's ledger, of a batch by the outcomes of its jobs."""
        of_jobs = {role: (role, account) for role, account in self._accounts_of_jobs.items()}
        return of_jobs or self._accounts.told()

    def entries(self, most: int) -> list[Entry]:
        """The records that a page shows: the first one, so many dispatches (at work or waiting) and jobs, the events;
        as they stand."""
        with self._reading:
            pairs = [*self.dispatches.last(most), *self.jobs.last(most)]
            places = [place for pair in pairs for place in (pair.start, pair.end) if place]
            places += list(self.waiting.values())[:most]
            kept = {entry.at: entry for entries in self.events.values() for entry in entries}
            kept |= {entry.at: entry for entry in (self.first, self.answer) if entry}
        kept |= {place.at: self.read(place)[0] for place in places}
        return [kept[at] for at in sorted(kept)]

    def body(self, place: Place) -> dict[str, Any]:
        """What the record at a place says. Raises JournalError."""
        return self.read(place)[1].body

    def read(self, place: Place) -> tuple[Entry, JournalRecord]:
        """The record at a place: what it is, and what it says. Raises JournalError."""
        line = self.line(place)
        entry, record = entry_of(line + b"\n", place.at, {}), decode(line)
        if entry is None or record is None:
            raise JournalError(f"{self.path}: the record at byte {place.at} was changed meanwhile")
        return entry, record

    def line(self, place: Place) -> bytes:
        """The record at a place as it stands there. Raises JournalError."""
        try:
            descriptor = descriptor_of(self.path)
            try:
                return os.pread(descriptor, place.length, place.at)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise JournalError(f"{self.path}: the journal cannot be read: {error.strerror}") from error
