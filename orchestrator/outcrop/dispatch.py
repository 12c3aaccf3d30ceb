"""One dispatch from order to outcome: record, launch, watch, end, settle, verify, cap, record.

Which dispatch runs when is `pool.py`'s; how a process is started is `launch.py`'s, how it is ended `session.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outcrop import session
from outcrop.artifacts import verify
from outcrop.cap import cap_outcome, cap_results
from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted, Watcher, nobody
from outcrop.gateway import Gateway, Line, QueueClock
from outcrop.history import History
from outcrop.journal import Journal, now
from outcrop.launch import BUILT_IN, Child, Launcher, LaunchSpec, environment_for, signal_name
from outcrop.reader import StreamReader
from outcrop.runs import RunFolder
from outcrop.settle import Observed, errors_of, status_of, warnings_of
from outcrop.spill import sha256_of_bytes
from outcrop.stream import StreamScanner
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError, SpillError
from outcrop_schemas.outcome import Exit, Outcome, Truncated
from outcrop_schemas.protocol import Completion, Dispatch, DispatchLimits, ModelChannel, ToolCall

# What a process wrote just before it ended is in the pipe; reading it takes milliseconds.
_DRAIN_SECONDS = 1.0
_DRAIN_AFTER_COMPLETION_SECONDS = 0.3


@dataclass(frozen=True)
class Order:
    """What is to be done, by whom, within which limits. `command` plays a program of the user's instead of a built-in."""

    specialist: str
    objective: str
    data: tuple[str, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: float = limits.DISPATCH_SECONDS
    grace_seconds: float = limits.GRACE_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    call: ToolCall | None = None

    @property
    def needs_model(self) -> bool:
        return self.command is None and self.call is None


@dataclass(frozen=True)
class Services:
    """What the dispatches of one run share."""

    workspace: Workspace
    folder: RunFolder
    journal: Journal
    history: History
    gateway: Gateway
    launcher: Launcher
    watcher: Watcher = nobody


class DispatchWork:
    """One dispatch under way. `run()` always ends in an outcome; `cancel()` makes it end soon."""

    def __init__(self, order: Order, dispatch_id: str, services: Services) -> None:
        self._order, self._id, self._services = order, dispatch_id, services
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._scanner = StreamScanner(dispatch_id, self._on_progress)
        self._seen = Observed(self._scanner)
        self._clock = QueueClock(self._changed.set)
        self._line: Line | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True
        self._changed.set()

    async def run(self) -> Outcome:
        """Do it. Raises JournalError when the run's record cannot be kept, and nothing else for the work's own faults."""
        started_at, started = now(), time.monotonic()
        await self._record_start()
        try:
            child = await self._launch()
        except LaunchError as error:
            self._seen.spawn_error = str(error)
        else:
            await self._watch_to_the_end(child)
        outcome = await self._settle(started_at, time.monotonic() - started)
        await self._record_end(outcome)
        return outcome

    async def _record_start(self) -> None:
        if self._order.call:
            return
        body = {
            "specialist": self._order.specialist,
            "objective": self._order.objective,
            "data": list(self._order.data),
            "context": dict(self._order.context),
            "command": list(self._order.command) if self._order.command else None,
            "timeout_s": self._order.timeout_seconds,
        }
        await self._services.journal.append("start", self._id, body)
        self._services.history.take("start", self._id, body)
        self._services.watcher(DispatchStarted(self._id, self._order.specialist, self._order.objective))

    async def _record_end(self, outcome: Outcome) -> None:
        if self._order.call:
            return
        body = outcome.model_dump(mode="json")
        await self._services.journal.append("end", self._id, body)
        self._services.history.take("end", self._id, body)
        self._services.watcher(DispatchEnded(outcome))

    async def _launch(self) -> Child:
        """Start the process with its channel. Raises LaunchError."""
        self._check_required()
        results = self._services.workspace.grant_results(list(self._order.data))
        scratch = self._services.folder.scratch(self._id)
        scratch.mkdir(mode=0o700)
        cache = self._services.workspace.home / "cache" / "matplotlib" if self._order.command is None else None
        theirs: socket.socket | None = None
        if self._order.needs_model:
            ours, theirs = socket.socketpair()
            self._line = self._services.gateway.line(self._id, self._order.specialist, self._clock)
            self._serving = asyncio.create_task(self._line.serve(ours))
        channel = theirs.fileno() if theirs else None
        try:
            request = self._request(str(results), channel)
            argv = self._order.command or BUILT_IN
            environment = environment_for(scratch, cache, self._order.environment)
            return await self._services.launcher.launch(LaunchSpec(argv, request, environment, scratch, channel))
        finally:
            if theirs:
                theirs.close()

    def _check_required(self) -> None:
        isolation = self._services.launcher.isolation()
        for name in self._order.require:
            if not isolation[name].active:
                raise LaunchError(f"the required property {name} is not available here: {isolation[name].by}")

    def _request(self, results_dir: str, channel: int | None) -> bytes:
        context = {"data": list(self._order.data), **self._order.context}
        request = Dispatch(
            dispatch_id=self._id,
            specialist=self._order.specialist,
            objective=self._order.objective,
            context=context,
            workspace=str(self._services.workspace.folder),
            results_dir=results_dir,
            limits=DispatchLimits(
                timeout_seconds=self._order.timeout_seconds,
                grace_seconds=self._order.grace_seconds,
                result_chars=limits.RESULT_CHARS,
                preview_rows=limits.PREVIEW_ROWS,
            ),
            model_channel=None if channel is None else ModelChannel(fd=channel),
            call=self._order.call,
        )
        return wire.dumps(request.model_dump(mode="json")) + b"\n"

    async def _watch_to_the_end(self, child: Child) -> None:
        """Watch, end and read out the process; nothing of it is left behind, whatever happens."""
        reader = StreamReader(
            child.stdout, child.stderr, self._scanner, self._services.folder.transcript(self._id), self._on_change
        )
        child.exited.add_done_callback(lambda _: self._changed.set())
        reader.start()
        try:
            await self._watch(child, reader)
            await self._end(child, reader)
        finally:
            reader.stop()
            child.close()
            if self._line:
                self._serving.cancel()
                await asyncio.wait([self._serving])
        self._seen.exit = child.exited.result() if child.exited.done() else None
        self._seen.stderr = reader.stderr.text()
        self._seen.transcript_error = reader.transcript_error

    async def _watch(self, child: Child, reader: StreamReader) -> None:
        """Return when there is something to end: the process itself, its completion, or a limit."""
        while True:
            self._changed.clear()
            if self._is_cancelled:
                self._seen.ended_by, self._seen.ended_because = "cancelled", "the caller cancelled it"
            elif reader.is_over_limit:
                self._seen.ended_by = "output_limit"
                self._seen.ended_because = f"more than {limits.STDOUT_BYTES >> 20} MiB came on stdout"
            if self._seen.ended_by or child.exited.done() or self._scanner.valid or reader.is_stdout_closed:
                return
            at, reason = min(self._deadlines(reader))
            if at <= time.monotonic():
                self._seen.ended_by, self._seen.ended_because = "timeout", reason
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), at - time.monotonic())

    def _deadlines(self, reader: StreamReader) -> list[tuple[float, str]]:
        """The limits that hold now: when each is reached, and what to say then."""
        queued = self._clock.seconds()
        silent = f"the last output came {time.monotonic() - reader.last_byte_at:.1f} s before" if reader.has_spoken else "no output came"
        wall = self._order.timeout_seconds
        found = [(reader.started_at + wall + queued, f"timeout: the wall-clock limit of {wall:g} s was reached; {silent}")]
        if self._order.command is None and not self._clock.is_waiting:
            if not reader.has_spoken:
                first = limits.FIRST_MESSAGE_SECONDS
                found.append((reader.started_at + first + queued, f"timeout: no first message within {first:g} s"))
            else:
                heard = max(reader.last_byte_at, self._clock.last_answer_at)
                found.append((heard + limits.IDLE_SECONDS, f"timeout: silent for {limits.IDLE_SECONDS:g} s"))
        return found

    async def _end(self, child: Child, reader: StreamReader) -> None:
        """Let it exit if it may, end it if it must, then end what it left behind."""
        grace = self._order.grace_seconds
        if not child.exited.done() and not self._seen.ended_by:
            await asyncio.wait([child.exited], timeout=grace)
        if not child.exited.done():
            self._seen.outlived_completion = self._scanner.valid is not None and not self._seen.ended_by
            self._seen.signals_sent = await session.stop(child.pid, grace)
            await asyncio.wait([child.exited], timeout=grace)
            return
        await self._drain(reader)
        self._seen.strays_signals = await session.stop(child.pid, grace)

    async def _drain(self, reader: StreamReader) -> None:
        """Give the reader time for what is in the pipes, little of it where somebody else still holds them."""
        started = time.monotonic()
        while not reader.is_done:
            self._changed.clear()
            allowed = _DRAIN_AFTER_COMPLETION_SECONDS if self._scanner.valid else _DRAIN_SECONDS
            left = started + allowed - time.monotonic()
            if left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)

    async def _settle(self, started_at: str, duration_seconds: float) -> Outcome:
        """Build the outcome: status, verified artifacts, capped texts."""
        seen, completion = self._seen, self._seen.completion
        status = status_of(seen)
        warnings = warnings_of(seen)
        fields = _from_completion(completion) if completion else {"results": self._partial_findings(warnings)}
        if completion and completion.artifacts:
            scratch = self._services.folder.scratch(self._id)
            checked = await asyncio.to_thread(verify, completion.artifacts, self._services.workspace.folder, scratch)
            fields["artifacts"] = checked.verified
            warnings += checked.refused
        fields["results"], fields["truncated"] = await self._capped(fields["results"], warnings)
        with contextlib.suppress(OSError):
            self._services.folder.scratch(self._id).rmdir()
        ended = seen.exit
        outcome = Outcome(
            dispatch_id=self._id,
            specialist=self._order.specialist,
            objective=self._order.objective,
            status=status,
            errors=errors_of(seen, status),
            warnings=warnings,
            usage=self._usage(completion),
            started_at=started_at,
            duration_s=round(duration_seconds, 3),
            exit=Exit(code=ended.code, signal=signal_name(ended.signal) if ended.signal else None) if ended else Exit(),
            launch=None if seen.spawn_error else "cold",
            isolation=self._services.launcher.isolation(),
            **fields,
        )
        return cap_outcome(outcome)

    def _partial_findings(self, warnings: list[str]) -> dict[str, Any]:
        partial = self._scanner.partial()
        if partial is None:
            return {}
        warnings.append("results are the last partial findings, not a completion")
        return partial

    async def _capped(self, results: dict[str, Any], warnings: list[str]) -> tuple[dict[str, Any], Truncated | None]:
        capped = await asyncio.to_thread(cap_results, results)
        if capped.full is None:
            return capped.results, None
        digest = sha256_of_bytes(capped.full)
        try:
            path = await asyncio.to_thread(self._services.folder.spill.write, f"{self._id}.json", capped.full)
        except SpillError as error:
            warnings.append(str(error))
            return capped.results, Truncated(chars=capped.chars, spill=None, sha256=digest)
        return capped.results, Truncated(chars=capped.chars, spill=str(path), sha256=digest)

    def _usage(self, completion: Completion | None) -> dict[str, Any]:
        usage = dict(completion.usage) if completion else {}
        if self._line and self._line.turns:
            usage |= {"model": self._line.model_name, "turns": self._line.turns, **self._line.usage.model_dump()}
        if self._seen.exit:
            usage |= {"cpu_seconds": round(self._seen.exit.cpu_seconds, 3), "max_rss_bytes": self._seen.exit.max_rss_bytes}
        return usage

    def _on_change(self) -> None:
        """From the reading thread."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)

    def _on_progress(self, message: dict[str, Any]) -> None:
        """From the reading thread."""
        event = DispatchProgress(self._id, message)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._services.watcher, event)


def _from_completion(completion: Completion) -> dict[str, Any]:
    names = ("summary", "results", "findings", "evidence", "recommendations", "blockers", "gap")
    return {name: getattr(completion, name) for name in names}


def new_dispatch_id(number: int) -> str:
    """A sequence number and 64 random bits."""
    return f"d{number:04d}-{os.urandom(8).hex()}"
