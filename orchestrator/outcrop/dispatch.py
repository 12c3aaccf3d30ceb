"""One dispatch from order to outcome: record, start, watch, conclude, decide about what it lacked, record.

What it is started with is `starting.py`'s, how it is watched and ended `watch.py`'s, what is made of it
`concluding.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from outcrop.cap import cap_outcome
from outcrop.concluding import Conclusion, is_lost
from outcrop.due import Due
from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted
from outcrop.gaps.deciding import Decision
from outcrop.gaps.installing import Installed
from outcrop.journal import now
from outcrop.launching import Child
from outcrop.launching.environment import as_text
from outcrop.order import Order, Services
from outcrop.settle import Observed
from outcrop.starting import Start
from outcrop.stream import StreamScanner
from outcrop.watch import BY_CALLER, Patience, Watch
from outcrop_schemas.errors import LaunchError, NodeLostError, WorkspaceError
from outcrop_schemas.outcome import Outcome


class DispatchWork:
    """One dispatch under way. `run()` always ends in an outcome; `cancel()` makes it end soon."""

    def __init__(
        self, order: Order, dispatch_id: str, services: Services, on_launched: Callable[[], None] = lambda: None
    ) -> None:
        self._order, self._id, self._services = order, dispatch_id, services
        self._loop = asyncio.get_running_loop()
        self._scanner = StreamScanner(dispatch_id, self._on_progress)
        self._seen = Observed(self._scanner)
        patience = Patience(order.timeout_seconds, order.grace_seconds, is_built_in=order.command is None)
        self._watch = Watch(patience, self._scanner, self._seen, services.hands)
        self._on_launched = on_launched
        self._start = Start(order, dispatch_id, services, self._watch.clock)
        self._due = Due(order, self._watch.clock)
        self._hurry = threading.Event()
        self._cancelled_because = BY_CALLER
        self._launching: asyncio.Task[Child] | None = None
        self._deciding: asyncio.Task[Decision | None] | None = None
        self.installed: Installed | None = None
        """What it lacked and is there now: its work is to be taken up again."""
        self.is_lost = False
        """Once it has ended: whether its node was lost, and its work with it."""
        self._is_settled = False

    @property
    def dispatch_id(self) -> str:
        return self._id

    def cancel(self, because: str = BY_CALLER) -> None:
        if not self._due.is_cancelled:
            self._cancelled_because = because
        self._due.cancel()
        self._hurry.set()
        self._watch.cancel(because)
        if self._deciding:
            self._deciding.cancel()
        if self._launching:
            self._loop.call_later(self._due.seconds_to_start(), self._launching.cancel)

    async def run(self) -> Outcome:
        """Do it. Raises JournalError when the run's record cannot be kept; the work's own faults are in the outcome."""
        with self._services.spans.dispatch(self._order, self._id) as span:
            outcome = await self._done()
            span.ended(outcome)
        return outcome

    async def _done(self) -> Outcome:
        started_at = now()
        self._due.begin()
        try:
            await self._record_start()
            child = await self._launched()
        finally:
            self._on_launched()
        if child:
            await self._watch_to_the_end(child)
        outcome = await self._settled(child, started_at)
        if self._order.call is None and outcome.gap and not self._due.is_cancelled:
            outcome = await self._about_gap(outcome)
        await self._record_end(outcome)
        return outcome

    async def _about_gap(self, outcome: Outcome) -> Outcome:
        """What it lacked is decided about, and installed where that is allowed; else the outcome says why not."""
        self._deciding = asyncio.create_task(self._services.gaps.decided(outcome, self._order.resumes))
        try:
            decision = await self._deciding
        except asyncio.CancelledError:
            if not self._due.is_cancelled:
                raise
            return outcome
        if decision is None:
            return outcome
        self.installed = decision.installed
        said = decision.told or f"it was taken up again: {decision.installed} is installed now"
        return cap_outcome(outcome.model_copy(update={"warnings": [said, *outcome.warnings]}))

    async def _launched(self) -> Child | None:
        """The started process; None where it could not be started, or not in time, or was cancelled before."""
        if self._due.is_cancelled:
            self._end_unstarted()
            return None
        self._launching = asyncio.create_task(self._start.launch())
        await asyncio.wait([self._launching], timeout=self._due.seconds_to_start())
        self._launching.cancel()
        try:
            return await self._launching
        except NodeLostError as error:
            self._seen.lost = str(error)
        except (LaunchError, WorkspaceError, OSError) as error:
            self._seen.spawn_error = str(error)
        except Exception as error:  # noqa: BLE001 - a launcher may be the application's own; its fault is an outcome
            self._seen.spawn_error = f"the launcher broke: {type(error).__name__}: {error}"
        except asyncio.CancelledError:
            if self._due.is_cancelled:
                self._end_unstarted()
            else:
                self._seen.spawn_error = f"it was not started within {self._due.passed():.1f} s"
        return None

    def _end_unstarted(self) -> None:
        self._seen.ended_by = "cancelled"
        self._seen.ended_because = f"{self._cancelled_because} before its start"

    async def _record_start(self) -> None:
        if self._order.is_aside:
            return
        body = {
            "specialist": self._order.specialist,
            "objective": self._order.objective,
            "data": list(self._order.data),
            "context": self._order.given_context,
            "command": as_text(self._order.command) if self._order.command else None,
            "timeout_s": self._order.timeout_seconds,
            **({"call": self._order.call.model_dump()} if self._order.call else {}),
            **({"again_for": list(self._order.lost)} if self._order.lost else {}),
            **({"resumes": list(self._order.resumes)} if self._order.resumes else {}),
            **({"attach": list(self._order.attach)} if self._order.attach else {}),
            **({"attached": list(self._order.attached.handles)} if self._order.attach else {}),
            **({"outside": self._order.outside.handle} if self._order.outside.handle else {}),
            **(self._start.asks() if self._order.needs_model else {}),
        }
        await self._services.journal.append("start", self._id, body)
        self._services.history.take("start", self._id, body)
        self._services.watcher(DispatchStarted(self._id, self._order.specialist, self._order.objective))

    async def _record_end(self, outcome: Outcome) -> None:
        if self._order.is_aside:
            return
        body = outcome.model_dump(mode="json")
        await self._services.journal.append("end", self._id, body)
        self._services.history.take("end", self._id, body)
        self._services.watcher(DispatchEnded(outcome))

    async def _watch_to_the_end(self, child: Child) -> None:
        """Watch, end and read out the process; nothing of it is left behind, whatever happens."""
        transcript = self._services.folder.transcript(self._id)
        try:
            await self._watch.to_the_end(child, transcript, self._due.latest_start)
        finally:
            await self._start.end_line()

    async def _settled(self, child: Child | None, started_at: str) -> Outcome:
        self._is_settled = True
        start, seen, due = self._start, self._seen, self._due
        ended = Conclusion(self._order, self._id, self._services, start, child, seen, due, self._hurry)
        outcome = await ended.outcome(started_at)
        self.is_lost = is_lost(seen, due)
        # Callbacks tie this object into a cycle, which waits for the collector; large results must not wait with it.
        self._scanner.valid = self._seen.scanner.valid = None
        return outcome

    def _on_progress(self, message: dict[str, Any]) -> None:
        """From the reading thread, which may outlive the dispatch, and the loop of an application torn down."""
        if self._is_settled:
            return
        event = DispatchProgress(self._id, message)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._services.watcher, event)


async def see_through(work: DispatchWork) -> Outcome:
    """Its outcome. Cancelling the caller cancels the work, and is passed on once that has ended."""
    task = asyncio.create_task(work.run())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # A second cancellation must not leave the process behind either.
        work.cancel()
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                continue
        raise


def new_dispatch_id(number: int) -> str:
    """A sequence number and 64 random bits."""
    return f"d{number:04d}-{os.urandom(8).hex()}"
