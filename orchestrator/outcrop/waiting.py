"""Dispatches that wait for a place: known by their id before they begin, and cancelled like those that have begun.

One that waits stands as an event in the journal, under its own id; its start record takes it from the list, or a second
event where it never begins. One that finds a place at once has neither.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from outcrop.dispatch import DispatchWork
from outcrop.events import DispatchLeft, DispatchWaiting, Watcher
from outcrop.journal import Journal
from outcrop.order import Order
from outcrop.records import LEAVES, WAITS
from outcrop.text import shorten
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError

_log = logging.getLogger(__name__)
_TOGETHER = 100


class Waiting:
    """One dispatch until it has its place, and the way to its work from then on."""

    # There may be thousands.
    __slots__ = ("_because", "_has_begun", "_wait", "_work", "dispatch_id", "is_told")

    def __init__(self, dispatch_id: str) -> None:
        self.dispatch_id = dispatch_id
        self._because: str | None = None
        self._wait: asyncio.Timeout | None = None
        self._work: DispatchWork | None = None
        self._has_begun = self.is_told = False

    @property
    def is_cancelled(self) -> bool:
        return self._because is not None

    @property
    def has_begun(self) -> bool:
        return self._has_begun

    def cancel(self, because: str) -> None:
        """Wait no longer, or end the work."""
        self._because = self._because or because
        if self._work:
            self._work.cancel(because)
        elif self._wait and not self._wait.expired():
            self._wait.reschedule(asyncio.get_running_loop().time())

    @contextmanager
    def within(self, wait: asyncio.Timeout) -> Iterator[None]:
        """Meanwhile it waits: being cancelled ends that as running out of time does."""
        self._wait = wait
        if self.is_cancelled:
            wait.reschedule(asyncio.get_running_loop().time())
        try:
            yield
        finally:
            self._wait = None

    @contextmanager
    def prepared_by(self, work: DispatchWork) -> Iterator[None]:
        """Meanwhile this is done for it, such as reading what is attached, which ends when it is cancelled."""
        self._take(work)
        try:
            yield
        finally:
            self._work = None

    def begins(self, work: DispatchWork) -> None:
        """It has its place; work that was cancelled before launches nothing."""
        self._has_begun = True
        self._take(work)

    def _take(self, work: DispatchWork) -> None:
        self._work = work
        if self._because:
            work.cancel(self._because)


class Queue:
    """Tells of the dispatches of one run that wait, in its journal and to its watchers. Belongs to one event loop."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._untold: deque[tuple[Waiting, dict[str, Any]]] = deque()
        self._telling: asyncio.Task[None] | None = None

    def joins(self, waiting: Waiting, order: Order, watcher: Watcher) -> None:
        """This dispatch waits; told once."""
        if not waiting.is_told:
            waiting.is_told = True
            self._tell(waiting, _waits(order))
            watcher(DispatchWaiting(waiting.dispatch_id, order.specialist, order.objective))

    def leaves(self, waiting: Waiting, watcher: Watcher) -> None:
        """It waits no longer; told where it was told to wait and never began."""
        if waiting.is_told and not waiting.has_begun:
            self._tell(waiting, {"kind": LEAVES})
            watcher(DispatchLeft(waiting.dispatch_id))

    async def close(self) -> None:
        """Wait for what is being recorded."""
        if self._telling:
            await asyncio.wait([self._telling])

    def _tell(self, waiting: Waiting, body: dict[str, Any]) -> None:
        # Whoever waits for the disk before joining the queue would lose its turn to those that come later.
        self._untold.append((waiting, body))
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """So many at a time: ten thousand that come at once would each hold a task until the disk has all."""
        while self._untold:
            together = [self._untold.popleft() for _ in range(min(len(self._untold), _TOGETHER))]
            # One that has begun meanwhile has its start record, and would never leave the list again.
            now = [(each, body) for each, body in together if not (body["kind"] == WAITS and each.has_begun)]
            await asyncio.gather(*(self._append(each.dispatch_id, body) for each, body in now))

    async def _append(self, dispatch_id: str, body: dict[str, Any]) -> None:
        try:
            await self._journal.append("event", dispatch_id, body)
        except JournalError as error:
            # Its start and its end are what must not be lost; where those cannot be written either, they say so.
            _log.warning("that %s waits is not recorded: %s", dispatch_id, error)


def _waits(order: Order) -> dict[str, Any]:
    objective = shorten(order.objective, limits.HISTORY_OBJECTIVE_CHARS)
    return {"kind": WAITS, "specialist": order.specialist, "objective": objective}
