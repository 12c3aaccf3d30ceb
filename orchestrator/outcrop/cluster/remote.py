"""A specialist on a node, as the orchestrator sees it: a `Child` whose pipes are filled from a connection."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping

from outcrop.cluster import frames
from outcrop.cluster.frames import Connection, drop, pour
from outcrop.launching import ExitInfo, LaunchKind, LaunchSpec, Swept
from outcrop.properties import IsolationSet
from outcrop_schemas import wire
from outcrop_schemas.errors import LaunchError, NodeLostError, NodeUnfitError, ProtocolError
from outcrop_schemas.outcome import Isolation

# A node that was told to stop answers within the grace time; this much later its outcome is due.
_ANSWER_SECONDS = 0.6


class RemoteChild:
    """One specialist on a node. The end of the connection ends it there with everything that it started."""

    def __init__(self, connection: Connection, node: str) -> None:
        self._connection = connection
        self.node: str | None = node
        loop = asyncio.get_running_loop()
        self.pid = 0
        self.kind: LaunchKind = "cold"
        self.layers: Mapping[str, str] = {}
        self.over: str | None = None
        self.lost: str | None = None
        self.proved: IsolationSet | None = None
        self.started: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[ExitInfo] = loop.create_future()
        self.swept: asyncio.Future[Swept] = loop.create_future()
        self.stdout = self.stderr = -1
        self._writers: dict[bytes, asyncio.StreamWriter] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._is_told_to_stop = False
        self._when_closed: list[Callable[[], None]] = []

    async def begin(self, spec: LaunchSpec, launch: bytes) -> None:
        """Have it started; `started` says what came of it."""
        self.stdout = await self._opened(frames.STDOUT)
        self.stderr = await self._opened(frames.STDERR)
        if spec.channel is not None:
            reader, self._writers[frames.CHANNEL] = await asyncio.open_unix_connection(
                sock=socket.socket(fileno=os.dup(spec.channel))
            )
            self._tasks.append(asyncio.create_task(self._connection.pump(frames.CHANNEL, reader)))
        await self._connection.send(frames.LAUNCH, launch)
        self._tasks.append(asyncio.create_task(self._listen()))

    def on_closed(self, do: Callable[[], None]) -> None:
        """What is to be done when nothing of it is wanted any more."""
        self._when_closed.append(do)

    async def stop(self, grace_seconds: float) -> Swept:
        """Have the node end everything; returns when nothing is left, or when the node is gone, and all with it.

        One that does not answer (it hangs, or is stopped) is given up, and that is said: it may do it later.
        """
        self._is_told_to_stop = True
        await self._connection.tell(frames.STOP, grace_seconds=grace_seconds)
        try:
            async with asyncio.timeout(grace_seconds + _ANSWER_SECONDS):
                return await asyncio.shield(self.swept)
        except TimeoutError:
            self.lost = f"{self.node} did not say that it ended this: what was started there may still run"
            self.cut("it did not answer")
            return self.swept.result()

    def cut(self, reason: str) -> None:
        """Give the connection up: the node then ends all of it by itself."""
        self._connection.close()
        self._gone(reason)

    def close(self) -> None:
        """Close the pipes and the connection."""
        self.cut("it was closed")
        for task in self._tasks:
            task.cancel()
        for writer in self._writers.values():
            drop(writer)
        for descriptor in (self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdout = self.stderr = -1
        while self._when_closed:
            self._when_closed.pop()()

    async def _opened(self, kind: bytes) -> int:
        """A pipe that frames of this kind are poured into: the end to read from."""
        ours, theirs = socket.socketpair()
        _, self._writers[kind] = await asyncio.open_unix_connection(sock=theirs)
        return ours.detach()

    async def _listen(self) -> None:
        reason = "the connection to it broke"
        try:
            while (frame := await self._connection.receive()) is not None:
                await self._take(*frame)
        except (ProtocolError, ValueError, KeyError, TypeError) as error:
            reason = f"it sent what is no answer: {error}"
            self._connection.close()
        self._gone(reason)

    async def _take(self, kind: bytes, payload: bytes) -> None:
        if kind in self._writers:
            await pour(payload, self._writers[kind])
            return
        said = wire.loads(payload)
        if kind == frames.STARTED:
            self.pid, self.kind, self.layers = said["pid"], said["kind"], said["layers"]
            self.proved = {name: Isolation.model_validate(one) for name, one in said["proved"].items()}
            _resolve(self.started, None)
        elif kind == frames.FAILED and not self.started.done():
            self.started.set_exception(LaunchError(f"{self.node}: {said['reason']}"))
        elif kind == frames.UNFIT and not self.started.done():
            self.started.set_exception(NodeUnfitError(f"{self.node}: {said['reason']}", said["address"]))
        elif kind == frames.OVER:
            self.over = said["reason"]
        elif kind == frames.EXITED:
            exit_info = ExitInfo(said["code"], said["signal"], said["cpu_seconds"], said["max_rss_bytes"])
            _resolve(self.exited, exit_info)
        elif kind == frames.SWEPT:
            _resolve(self.swept, Swept(said["signals"], said["strays"]))

    def _gone(self, reason: str) -> None:
        """Nothing more will be heard. Whoever was not told to stop and had not ended was lost."""
        if not self.started.done():
            self.started.set_exception(NodeLostError(f"{self.node} was lost before it had started it: {reason}"))
            self.started.exception()  # whoever waits is told; nobody may
        elif not (self.exited.done() or self._is_told_to_stop):
            self.lost = f"{self.node} was lost while it was at work there: {reason}"
        _resolve(self.exited, ExitInfo())
        _resolve(self.swept, Swept())
        for kind in (frames.STDOUT, frames.STDERR):
            if writer := self._writers.get(kind):
                writer.close()


def _resolve(future: asyncio.Future, value: object) -> None:  # type: ignore[type-arg]
    if not future.done():
        future.set_result(value)
