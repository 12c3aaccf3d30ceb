"""One dispatch from order to outcome: record, launch, watch, end, settle, verify, cap, record.

How a process is started is `launch.py`'s, how it is watched and ended `watch.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from outcrop.artifacts import Grounds, verify
from outcrop.cap import cap_outcome, cap_results
from outcrop.due import Due
from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted
from outcrop.figures import valid_claims
from outcrop.gaps.deciding import Decision
from outcrop.gaps.installing import Installed
from outcrop.gateway import Line
from outcrop.journal import now
from outcrop.launching import Child, LaunchKind, LaunchSpec
from outcrop.launching.environment import as_text, environment_for, signal_name
from outcrop.order import Order, Services
from outcrop.policy import build_policy
from outcrop.properties import IsolationSet, alternatives_of, of_launch, unproven, with_outside
from outcrop.settle import Observed, errors_of, status_of, warnings_of
from outcrop.spill import sha256_of_bytes
from outcrop.stream import StreamScanner
from outcrop.watch import BY_CALLER, Patience, Watch
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError, NodeLostError, SpillError, WorkspaceError
from outcrop_schemas.outcome import Exit, Outcome, Truncated, VerifiedArtifact
from outcrop_schemas.protocol import Completion, Dispatch, DispatchLimits, ModelChannel, WindowSettings
from outcrop_specialists.guard.supervisor import CHANNEL_FD
from outcrop_specialists.packages import PACKAGES
from outcrop_specialists.reading.address import MARK


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
        self._due = Due(order, self._watch.clock)
        self._hurry = threading.Event()
        self._cancelled_because = BY_CALLER
        self._launching: asyncio.Task[Child] | None = None
        self._deciding: asyncio.Task[Decision | None] | None = None
        self.installed: Installed | None = None
        """What it lacked and is there now: its work is to be taken up again."""
        self._is_settled = False
        self._granted: list[Path] = []
        self._since_ns = 0
        self._line: Line | None = None
        self._child: Child | None = None

    @property
    def _turns(self) -> int:
        """How many turns the settings give this specialist."""
        return self._services.gateway.models.parameters(self._order.specialist).turns or limits.AGENT_TURNS

    @property
    def _window(self) -> WindowSettings:
        return self._order.window or self._services.gateway.models.window(self._order.specialist)

    @property
    def is_lost(self) -> bool:
        """Whether its node was lost, and its work with it."""
        is_ended = self._seen.completion or self._seen.ended_by or self._due.is_cancelled
        return self._seen.lost is not None and not is_ended

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
        outcome = await self._settle(started_at)
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
        self._launching = asyncio.create_task(self._launch())
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
            **({"turns": self._turns, "window": self._window.model_dump()} if self._order.needs_model else {}),
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

    async def _launch(self) -> Child:
        """Start the process with its channel. Raises LaunchError."""
        await self._check_required()
        with self._services.workspace.granted(self._order.data) as folders:
            child = await self._launch_with(folders)
        try:
            await self._check_required(child)
        except BaseException:
            await child.stop(0.0)
            child.close()
            raise
        return child

    async def _launch_with(self, folders: Mapping[Path, tuple[int, int]]) -> Child:
        scratch = self._services.folder.scratch(self._id)
        scratch.mkdir(mode=0o700)
        # By the clock of the file system, which is not always ours.
        self._since_ns = scratch.stat().st_ctime_ns
        theirs: socket.socket | None = None
        if self._order.needs_model:
            ours, theirs = socket.socketpair()
            pins = self._order.current_pins or (lambda: self._order.pins)
            self._line = self._services.gateway.line(
                self._id, self._order.specialist, self._watch.clock, pins, self._order.outside
            )
            self._serving = asyncio.create_task(self._line.serve(ours))
        try:
            spec = replace(self._spec(folders, scratch, theirs), bubblewrap=await self._services.proof.bubblewrap())
            return await self._services.launcher.launch(spec)
        finally:
            if theirs:
                theirs.close()

    async def _check_required(self, child: Child | None = None) -> None:
        """Of what was proved, or of what this launch has of it. Raises LaunchError."""
        # A COMMAND starts cold; a built-in specialist either way.
        kinds: tuple[LaunchKind, ...] = ("cold",) if self._order.command is not None else ("cold", "nursery")
        for name in self._order.require:
            for kind in (child.kind,) if child else kinds:
                proved = (child.proved if child else None) or await self._services.proof.get(kind)
                found = (of_launch(proved, child.layers) if child else proved)[name]
                if not found.active:
                    raise LaunchError(f"the required property {name} is not available here: {found.by}")

    def _spec(
        self, folders: Mapping[Path, tuple[int, int]], scratch: Path, channel: socket.socket | None
    ) -> LaunchSpec:
        workspace, command = self._services.workspace, self._order.command
        # The built-in specialists' own tools keep matplotlib's font list there, which takes seconds to make.
        caches = [workspace.home / "cache"] if command is None else []
        self._granted = list(folders)
        policy = build_policy(
            workspace.folder,
            [*folders, *caches],
            scratch,
            command,
            limits.DISPATCH_MEMORY_BYTES,
            identities={str(folder): identity for folder, identity in folders.items()},
            needed=alternatives_of(self._order.require),
        )
        packages = [str(folder) for folder in self._services.gaps.folders()]
        policy["readable"] += packages
        given = {PACKAGES: os.pathsep.join(packages)} if packages else {}
        extra = {**given, **self._services.spans.carrier(), **self._order.environment}
        return LaunchSpec(
            argv=command,
            request=self._request(str(workspace.folder / "results"), has_channel=channel is not None),
            environment=environment_for(scratch, caches[0] / "matplotlib" if caches else None, extra),
            folder=scratch,
            policy=policy,
            memory_bytes=limits.DISPATCH_MEMORY_BYTES,
            processes=limits.DISPATCH_PROCESSES,
            channel=channel.fileno() if channel else None,
            data=self._order.data,
        )

    def _request(self, results_dir: str, *, has_channel: bool) -> bytes:
        context = {"data": list(self._order.data), **self._order.given_context}
        request = Dispatch(
            dispatch_id=self._id,
            specialist=self._order.specialist,
            objective=self._order.objective,
            context=context,
            attachments=list(self._order.attached.texts),
            workspace=str(self._services.workspace.folder),
            results_dir=results_dir,
            limits=DispatchLimits(
                timeout_seconds=self._order.timeout_seconds,
                grace_seconds=self._order.grace_seconds,
                result_chars=limits.RESULT_CHARS,
                preview_rows=limits.PREVIEW_ROWS,
                turns=self._turns,
                window=self._window,
            ),
            model_channel=ModelChannel(fd=CHANNEL_FD, tools_told=self._services.spans.tells_tools)
            if has_channel
            else None,
            call=self._order.call,
            outside=list(self._order.outside.tools),
        )
        return wire.dumps(request.model_dump(mode="json")) + b"\n"

    async def _watch_to_the_end(self, child: Child) -> None:
        """Watch, end and read out the process; nothing of it is left behind, whatever happens."""
        self._child = child
        transcript = self._services.folder.transcript(self._id)
        try:
            await self._watch.to_the_end(child, transcript, self._due.latest_start)
        finally:
            if self._line:
                self._serving.cancel()
                await asyncio.wait([self._serving])

    async def _settle(self, started_at: str) -> Outcome:
        """Build the outcome: status, verified artifacts, capped texts."""
        self._is_settled = True
        seen, completion = self._seen, self._seen.completion
        if self._line and self._line.refused_because and seen.ended_by not in ("cancelled", "output_limit"):
            seen.ended_by, seen.ended_because = "budget", self._line.refused_because
        if self.is_lost and len(self._order.lost) + 1 >= limits.LOST_NODES:
            seen.lost = f"{seen.lost}; that is {limits.LOST_NODES} nodes lost at this work: it is set aside"
        status = status_of(seen)
        again = [f"it was done again for {', '.join(self._order.lost)}: lost with its node"] if self._order.lost else []
        warnings = again + warnings_of(seen) + (self._line.warnings if self._line else [])
        warnings += self._order.outside.problems
        fields: dict[str, Any] = (
            _from_completion(completion) if completion else {"results": self._partial_findings(warnings)}
        )
        if status == "budget" and completion and not completion.results:
            fields["results"] = self._partial_findings(warnings)
        if completion and completion.artifacts:
            fields["artifacts"], said = await self._verified(completion)
            warnings += said
        if completion and completion.claims:
            fields["claims"], said = valid_claims(completion.claims)
            warnings += said
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
            duration_s=round(self._due.passed(), 3),
            exit=Exit(code=ended.code, signal=signal_name(ended.signal) if ended.signal else None) if ended else Exit(),
            launch=self._child.kind if self._child else None,
            isolation=await self._isolation(),
            **fields,
        )
        # Callbacks tie this object into a cycle, which waits for the collector; large results must not wait with it.
        self._scanner.valid = self._seen.scanner.valid = None
        # The orchestrator's own tool calls are bounded as tool results are, not as a specialist's results.
        return outcome if self._order.is_aside else cap_outcome(outcome)

    async def _verified(self, completion: Completion) -> tuple[list[VerifiedArtifact], list[str]]:
        """What there is of the artifacts, and what is to be said; what cannot be read in time is said so."""
        workspace, scratch = self._services.workspace, self._services.folder.scratch(self._id)
        # The mark of a table in a file may also be part of a file's own name.
        inputs = {workspace.folder / name for path in self._order.data for name in (path, path.split(MARK)[0])}
        grounds = Grounds(
            workspace.descriptor, workspace.folder, scratch, tuple(self._granted), frozenset(inputs), self._since_ns
        )
        timer = self._loop.call_later(self._due.seconds_to_settle(), self._hurry.set)
        try:
            checked = await self._services.hands.do(verify, completion.artifacts, grounds, self._hurry)
        finally:
            timer.cancel()
        return checked.verified, checked.said

    def _partial_findings(self, warnings: list[str]) -> dict[str, Any]:
        partial = self._seen.scanner.partial()
        if partial is None:
            return {}
        warnings.append("results are the last partial findings, not a completion")
        return partial

    async def _capped(self, results: dict[str, Any], warnings: list[str]) -> tuple[dict[str, Any], Truncated | None]:
        async with self._services.hands.large:
            capped = await self._services.hands.do(cap_results, results, self._order.result_chars)
            if capped.full is None:
                return capped.results, None
            digest = sha256_of_bytes(capped.full)
            try:
                write = self._services.folder.spill.write
                path = await self._services.hands.do(write, f"{self._id}.json", capped.full)
            except SpillError as error:
                warnings.append(str(error))
                return capped.results, Truncated(chars=capped.chars, spill=None, sha256=digest)
        return capped.results, Truncated(chars=capped.chars, spill=str(path), sha256=digest)

    async def _isolation(self) -> IsolationSet:
        """What was proved for launches like this one; nothing for one that never was."""
        child = self._child
        if child is None:
            return unproven("it was not started")
        try:
            async with asyncio.timeout(self._due.seconds_to_settle()):
                found = of_launch(child.proved or await self._services.proof.get(child.kind), child.layers)
                return with_outside(found, self._order.outside.networked)
        except TimeoutError:
            return unproven("the probe had not ended when this did")

    def _usage(self, completion: Completion | None) -> dict[str, Any]:
        usage = dict(completion.usage) if completion else {}
        if self._line and self._line.turns:
            usage |= {"model": self._line.model_name, "turns": self._line.turns, **self._line.usage.model_dump()}
        if self._line and (account := self._services.gateway.ledger.spent_by(self._id)):
            usage["spending"] = account
        if self._child and self._child.node:
            usage["node"] = self._child.node
        if self._seen.exit:
            usage |= {
                "cpu_seconds": round(self._seen.exit.cpu_seconds, 3),
                "max_rss_bytes": self._seen.exit.max_rss_bytes,
            }
        return usage

    def _on_progress(self, message: dict[str, Any]) -> None:
        """From the reading thread, which may outlive the dispatch, and the loop of an application torn down."""
        if self._is_settled:
            return
        event = DispatchProgress(self._id, message)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._services.watcher, event)


def _from_completion(completion: Completion) -> dict[str, Any]:
    names = ("summary", "results", "findings", "evidence", "recommendations", "blockers", "gap")
    return {name: getattr(completion, name) for name in names}


def new_dispatch_id(number: int) -> str:
    """A sequence number and 64 random bits."""
    return f"d{number:04d}-{os.urandom(8).hex()}"
