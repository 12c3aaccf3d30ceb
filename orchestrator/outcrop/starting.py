"""The start of one dispatch: its scratch folder, its line to the model, its request, its policy, what must be proved.

How a process is started is `launching/`'s, how long that may take `dispatch.py`'s.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from outcrop.channel import Channel
from outcrop.gateway import Line
from outcrop.launching import Child, LaunchKind, LaunchSpec
from outcrop.launching.environment import environment_for
from outcrop.order import Order, Services
from outcrop.policy import build_policy
from outcrop.properties import alternatives_of, of_launch
from outcrop.queue_clock import QueueClock
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError
from outcrop_schemas.protocol import Dispatch, DispatchLimits, ModelChannel, WindowSettings
from outcrop_specialists.guard.supervisor import CHANNEL_FD
from outcrop_specialists.packages import PACKAGES


class Start:
    """Starts the process of one dispatch, and keeps what it was given. `clock` is told of time spent in the gateway."""

    def __init__(self, order: Order, dispatch_id: str, services: Services, clock: QueueClock) -> None:
        self._order, self._id, self._services, self._clock = order, dispatch_id, services, clock
        self.granted: tuple[Path, ...] = ()
        """The folders of results that it may write into."""
        self.since_ns = 0
        """When its scratch folder was made: what it wrote is not older."""
        self.line: Line | None = None
        self._serving: asyncio.Task[None] | None = None

    def asks(self) -> dict[str, Any]:
        """How an agent may ask its model, as the journal has it."""
        return {"turns": self._turns, "window": self._window.model_dump()}

    async def launch(self) -> Child:
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

    async def end_line(self) -> None:
        """Nobody asks over it any more."""
        if self._serving:
            self._serving.cancel()
            await asyncio.wait([self._serving])

    @property
    def _turns(self) -> int:
        """How many turns the settings give this specialist."""
        return self._services.gateway.models.parameters(self._order.specialist).turns or limits.AGENT_TURNS

    @property
    def _window(self) -> WindowSettings:
        return self._order.window or self._services.gateway.models.window(self._order.specialist)

    async def _launch_with(self, folders: Mapping[Path, tuple[int, int]]) -> Child:
        scratch = self._services.folder.scratch(self._id)
        scratch.mkdir(mode=0o700)
        # By the clock of the file system, which is not always ours.
        self.since_ns = scratch.stat().st_ctime_ns
        theirs: socket.socket | None = None
        if self._order.needs_model:
            ours, theirs = socket.socketpair()
            pins = self._order.current_pins or (lambda: self._order.pins)
            self.line = self._services.gateway.line(self._id, self._order.specialist, self._clock, pins)
            channel = Channel(self._id, self.line, self._order.outside, self._services.spans)
            self._serving = asyncio.create_task(channel.serve(ours))
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
        self.granted = tuple(folders)
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
