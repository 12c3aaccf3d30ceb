"""One specialist process as its dispatch sees it: watched until there is something to end, then ended with all it left.

How a process is started is `launch.py`'s; what its end means is `settle.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import time
from dataclasses import dataclass
from pathlib import Path

from outcrop.gateway import QueueClock
from outcrop.hands import Hands
from outcrop.launching import Child
from outcrop.launching.supervised import explained
from outcrop.reader import StreamReader
from outcrop.settle import Observed
from outcrop.spill import write_private
from outcrop.stream import StreamScanner
from outcrop_schemas import limits

# What a process wrote just before it ended is in the pipe; reading it takes milliseconds.
_DRAIN_SECONDS = 1.0
_DRAIN_AFTER_COMPLETION_SECONDS = 0.3
# Beyond the grace time, how long the last bytes may be read: within the second, or the half second after cancelling, in
# which the outcome must be there, with room for what comes after.
_READ_OUT_SECONDS = 0.35
_CANCELLED_READ_OUT_SECONDS = 0.15
_LEAST_READ_OUT_SECONDS = 0.05
BY_CALLER = "the caller cancelled it"


@dataclass(frozen=True)
class Patience:
    """How long one process may take. A COMMAND has neither a first-message nor an idle limit."""

    timeout_seconds: float
    grace_seconds: float
    is_built_in: bool


class Watch:
    """Watches one process and writes down what it saw. `clock` is told of time spent waiting for a model call."""

    def __init__(self, patience: Patience, scanner: StreamScanner, seen: Observed, hands: Hands) -> None:
        self._patience, self._scanner, self._seen, self._hands = patience, scanner, seen, hands
        self._counts_from = 0.0
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._cancelled_at: float | None = None
        self._cancelled_because = BY_CALLER
        self.clock = QueueClock(self._changed.set)

    def cancel(self, because: str = BY_CALLER) -> None:
        if self._cancelled_at is None:
            self._cancelled_at, self._cancelled_because = time.monotonic(), because
        self._changed.set()

    async def to_the_end(self, child: Child, transcript: Path, counts_from: float) -> None:
        """Return when the process and everything in its session have ended and its pipes are read out.

        The wall clock counts from now on, or from `counts_from` (monotonic) where the start took longer.
        """
        try:
            reader = StreamReader(child.stdout, child.stderr, self._scanner, transcript, self._on_change)
        except OSError as error:
            self._seen.spawn_error = str(explained(error))
            await child.stop(0.0)
            child.close()
            return
        self._counts_from = min(reader.started_at, counts_from)
        child.exited.add_done_callback(lambda _: self._changed.set())
        reader.start()
        try:
            await self._until_something_is_to_end(child, reader)
            await self._end(child, reader)
        finally:
            reader.tell_to_stop()
            await self._read_out(reader)
            reader.leave()
            child.close()
        self._seen.exit = child.exited.result() if child.exited.done() else None
        self._look(reader)
        self._seen.over, self._seen.lost = child.over, child.lost
        self._seen.stderr = reader.stderr.text()
        self._seen.transcript_error = reader.transcript_error
        if self._seen.stderr:
            await self._hands.do(_keep_stderr, transcript.with_suffix(".stderr"), self._seen.stderr)

    async def _until_something_is_to_end(self, child: Child, reader: StreamReader) -> None:
        while True:
            self._changed.clear()
            self._look(reader)
            if self._seen.ended_by or child.exited.done() or self._scanner.valid or reader.is_stdout_closed:
                return
            at, reason = min(self._deadlines(reader))
            if at <= time.monotonic():
                self._seen.ended_by, self._seen.ended_because = "timeout", reason
                return
            await self._change_within(at - time.monotonic())

    def _deadlines(self, reader: StreamReader) -> list[tuple[float, str]]:
        """The limits that hold now: when each is reached, and what to say then."""
        queued, wall = self.clock.seconds(), self._patience.timeout_seconds
        silent_seconds = time.monotonic() - reader.last_byte_at
        heard = f"the last output came {silent_seconds:.1f} s before" if reader.has_spoken else "no output came"
        found = [
            (self._counts_from + wall + queued, f"timeout: the wall-clock limit of {wall:g} s was reached; {heard}")
        ]
        if not self._patience.is_built_in or self.clock.is_waiting:
            return found
        if not reader.has_spoken:
            first = limits.FIRST_MESSAGE_SECONDS
            found.append((reader.started_at + first + queued, f"timeout: no first message within {first:g} s"))
        else:
            last = max(reader.last_byte_at, self.clock.last_answer_at)
            found.append((last + limits.IDLE_SECONDS, f"timeout: silent for {limits.IDLE_SECONDS:g} s"))
        return found

    async def _end(self, child: Child, reader: StreamReader) -> None:
        """Let it exit if it may, end it if it must, then end what it left behind."""
        grace = self._patience.grace_seconds
        await self._let_it_exit(child, reader)
        if not child.exited.done():
            self._seen.outlived_completion = self._scanner.valid is not None and not self._seen.ended_by
            self._seen.signals_sent = (await child.stop(grace)).signals
            return
        await self._drain(reader)
        self._seen.strays = await child.stop(grace)

    async def _let_it_exit(self, child: Child, reader: StreamReader) -> None:
        """After its completion a process has the grace time, but not beyond the wall-clock limit."""
        wall_at = self._counts_from + self._patience.timeout_seconds + self.clock.seconds()
        until = min(time.monotonic() + self._patience.grace_seconds, max(wall_at, time.monotonic()))
        while not (child.exited.done() or self._seen.ended_by):
            left = until - time.monotonic()
            if left <= 0:
                return
            self._changed.clear()
            await self._change_within(left)
            self._look(reader)

    def _look(self, reader: StreamReader) -> None:
        """What the orchestrator itself does comes before anything else, also after a completion."""
        if self._cancelled_at is not None:
            self._seen.ended_by, self._seen.ended_because = "cancelled", self._cancelled_because
        elif reader.is_over_limit:
            self._seen.ended_by = "output_limit"
            self._seen.ended_because = f"more than {limits.STDOUT_BYTES >> 20} MiB came on stdout"

    async def _drain(self, reader: StreamReader) -> None:
        """Give the reader time for what is in the pipes, little of it where somebody else still holds them."""
        started = time.monotonic()
        while not reader.is_done and self._cancelled_at is None:
            self._changed.clear()
            allowed = _DRAIN_AFTER_COMPLETION_SECONDS if self._scanner.valid else _DRAIN_SECONDS
            left = started + allowed - time.monotonic()
            if left <= 0:
                return
            await self._change_within(left)

    async def _read_out(self, reader: StreamReader) -> None:
        """Wait for the reading thread, but no longer than the dispatch has: one line may give it much to do."""
        at_least_until = time.monotonic() + _LEAST_READ_OUT_SECONDS
        while not reader.is_done:
            self._changed.clear()
            left = max(self._read_out_until(), at_least_until) - time.monotonic()
            if left <= 0:
                # What it finds from now on is no longer looked at.
                self._seen.scanner, self._seen.is_read_out = copy.copy(self._scanner), False
                return
            await self._change_within(left)

    def _read_out_until(self) -> float:
        wall = self._counts_from + self._patience.timeout_seconds + self.clock.seconds() + _READ_OUT_SECONDS
        if self._cancelled_at is not None:
            wall = min(wall, self._cancelled_at + _CANCELLED_READ_OUT_SECONDS)
        return wall + self._patience.grace_seconds

    async def _change_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def _on_change(self) -> None:
        """From the reading thread, which may outlive the loop of an application that is being torn down."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)


def _keep_stderr(path: Path, text: str) -> None:
    """Head and tail of stderr beside the transcript, for whoever looks into a failure later."""
    with contextlib.suppress(OSError):
        # The outcome has its end; a full disk must not cost more.
        write_private(path, text.encode())
