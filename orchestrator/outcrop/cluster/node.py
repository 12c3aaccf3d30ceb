"""What runs on a node: in a worker process of the cluster, one specialist for each task, started and confined here.

The nursery is this process's own, and so is the proof of what confines its children. A specialist ends with its task,
with the connection to its orchestrator, and with this process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import socket
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from outcrop.background import BackgroundLoop
from outcrop.cluster import frames
from outcrop.cluster.frames import Connection, drop, pour
from outcrop.cluster.ticket import Site, Ticket, keep_alive, of_task, on_this_node
from outcrop.isolation import IsolationProof
from outcrop.launching import Child, Launcher, LaunchSpec
from outcrop.launching.nursery import choose_launcher
from outcrop.properties import of_launch
from outcrop.spill import write_private
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError, OutcropError, WorkspaceError
from outcrop_specialists.guard.kernel import hide_from_others

_log = logging.getLogger(__name__)
# What a process wrote just before it ended is still on its way for milliseconds.
_DRAIN_SECONDS = 1.0


def play(task: Mapping[str, Any]) -> str:
    """The task of one dispatch: call the orchestrator, do what it says until it hangs up. Returns the node's name.

    Raises nothing of a specialist: what becomes of one is told over the connection.
    """
    from distributed import get_worker

    node = Node.here()
    node.run(task, str(get_worker().address))
    return node.name


async def look(task: Mapping[str, Any]) -> dict[str, Any]:
    """Whether this node can do the work of a site, told as data, so that one look tells of all nodes."""
    # Not in the worker's own event loop: it would not be heard of meanwhile.
    return await asyncio.to_thread(lambda: Node.here().look(Site(**task)))


class Node:
    """What this process keeps between tasks."""

    _one: Node | None = None
    _lock = threading.Lock()

    @classmethod
    def here(cls) -> Node:
        """The one of this process."""
        with cls._lock:
            if cls._one is None or cls._one._pid != os.getpid():
                cls._one = cls()
            return cls._one

    def __init__(self) -> None:
        self._pid = os.getpid()
        self.name = f"{socket.gethostname()}/{self._pid}"
        self._background = BackgroundLoop()
        self._grounds: dict[Site, _Ground] = {}
        self._checked: set[Site] = set()
        # Whatever key this process was started with is for no specialist to read.
        hide_from_others()

    def look(self, site: Site) -> dict[str, Any]:
        return self._background.run(self._look(site))

    def run(self, task: Mapping[str, Any], address: str) -> None:
        self._background.run(self._run(of_task(task), address))

    async def _look(self, site: Site) -> dict[str, Any]:
        told = {"node": self.name, "python": platform.python_version(), "version": version("outcrop")}
        try:
            async with self._ground(site) as ground:
                proof = await ground.proof.proved()
            # Whoever looks reads it from where it stands: that shows that both write into the same folder.
            written = Path(f"{site.probe}.{self.name.replace('/', '-')}")
            write_private(written, site.content[::-1].encode())
        except (OutcropError, OSError) as error:
            return {**told, "reason": str(error)}
        return {**told, "written": written.name, "proof": proof.as_json()}

    @asynccontextmanager
    async def _ground(self, site: Site) -> AsyncIterator[_Ground]:
        """What is needed to work there: made when it is needed, and given up when that was some time ago.

        Raises WorkspaceError, LaunchError where the work cannot be done here.
        """
        self._check(site)
        # Of one workspace several runs have the same.
        key = replace(site, probe="", content="")
        if (ground := self._grounds.get(key)) is None:
            ground = self._grounds[key] = _Ground(site)
        ground.users += 1
        try:
            yield ground
        finally:
            ground.users -= 1
            ground.left_at = time.monotonic()
            loop = asyncio.get_running_loop()
            loop.call_later(limits.NODE_IDLE_SECONDS, self._give_up, key, site)

    def _check(self, site: Site) -> None:
        """Once. Raises LaunchError, WorkspaceError where the work of this site cannot be done here."""
        if site not in self._checked:
            _check(site)
            self._checked.add(site)

    def _give_up(self, key: Site, site: Site) -> None:
        self._checked.discard(site)
        ground = self._grounds.get(key)
        if ground and not ground.users and time.monotonic() - ground.left_at >= limits.NODE_IDLE_SECONDS:
            del self._grounds[key]
            self._closing = asyncio.ensure_future(ground.close())

    async def _run(self, ticket: Ticket, address: str) -> None:
        reader, writer = await asyncio.open_connection(
            ticket.host, ticket.port, ssl=ticket.context(), ssl_handshake_timeout=limits.NODE_HELLO_SECONDS
        )
        connection = Connection(reader, writer)
        try:
            keep_alive(writer.get_extra_info("socket"))
            await connection.tell(frames.HELLO, token=ticket.token, node=self.name)
            frame = await connection.receive()
            if frame is None or frame[0] != frames.LAUNCH:
                # It was given to another node, or nobody wants it any more.
                return
            try:
                self._check(ticket.site)
            except OutcropError as error:
                await connection.tell(frames.UNFIT, reason=str(error), address=address)
                await connection.receive()
                return
            try:
                async with self._ground(ticket.site) as ground:
                    spec, has_channel = on_this_node(frame[1])
                    await _Playing(connection, ground).play(spec, has_channel)
            except (OutcropError, OSError) as error:
                await connection.tell(frames.FAILED, reason=str(error))
                # Closing at once would drop what was just said.
                await connection.receive()
        finally:
            connection.close()


def _check(site: Site) -> None:
    """Raises LaunchError, WorkspaceError where the work of this site cannot be done here."""
    if (here := version("outcrop")) != site.version:
        raise LaunchError(f"this node has outcrop {here}, the orchestrator {site.version}: install the same")
    try:
        found = Path(site.probe).read_text()
    except OSError as error:
        raise WorkspaceError(
            f"{site.workspace} is not the orchestrator's workspace on this node ({error.strerror}: {site.probe}); "
            "the workspace must lie on a file system that all nodes share, under the same path"
        ) from error
    if found != site.content:
        raise WorkspaceError(f"{site.probe} has other content on this node: its file system is not the same")


class _Ground:
    """One workspace on this node: who launches there, and what was proved of it."""

    def __init__(self, site: Site) -> None:
        self.users, self.left_at = 0, 0.0
        workspace = Workspace(site.workspace)
        self.launcher: Launcher = choose_launcher(site.launch, workspace.home / "cache")
        name = f"isolation-{socket.gethostname()}.json"
        self.proof = IsolationProof(workspace, self.launcher, wraps=site.wraps, kept_as=name)
        self.proof.begin()

    async def close(self) -> None:
        await self.proof.close()
        await self.launcher.close()


class _Playing:
    """One specialist on this node, with the connection to its orchestrator."""

    def __init__(self, connection: Connection, ground: _Ground) -> None:
        self._connection, self._ground = connection, ground
        self._channel: asyncio.StreamWriter | None = None
        self._pumps: list[asyncio.Task[None]] = []

    async def play(self, spec: LaunchSpec, has_channel: bool) -> None:
        """Start it, and do what the orchestrator says until it hangs up. Raises LaunchError, OSError."""
        child = await self._launched(spec, has_channel)
        telling = asyncio.create_task(self._tell(child))
        try:
            while (frame := await self._connection.receive()) is not None:
                kind, payload = frame
                if kind == frames.CHANNEL and self._channel:
                    await pour(payload, self._channel)
                elif kind == frames.STOP:
                    await self._stop(child, wire.loads(payload)["grace_seconds"])
        finally:
            telling.cancel()
            for pump in self._pumps:
                pump.cancel()
            # After a word to stop there is nothing left to be ended.
            await child.stop(0.0)
            if self._channel:
                drop(self._channel)
            child.close()

    async def _launched(self, spec: LaunchSpec, has_channel: bool) -> Child:
        proof = await self._ground.proof.proved()
        theirs: socket.socket | None = None
        changes: dict[str, Any] = {"bubblewrap": await self._ground.proof.bubblewrap()}
        if has_channel:
            ours, theirs = socket.socketpair()
            reader, self._channel = await asyncio.open_unix_connection(sock=ours)
            self._pumps.append(asyncio.create_task(self._connection.pump(frames.CHANNEL, reader)))
            changes["channel"] = theirs.fileno()
        try:
            child = await self._ground.launcher.launch(LaunchSpec(**{**vars(spec), **changes}))
        finally:
            if theirs:
                theirs.close()
        proved = {name: one.model_dump() for name, one in of_launch(proof.of(child.kind), child.layers).items()}
        await self._connection.tell(
            frames.STARTED, pid=child.pid, kind=child.kind, layers=dict(child.layers), proved=proved
        )
        return child

    async def _tell(self, child: Child) -> None:
        """Its streams, and its end after them."""
        streams = [
            asyncio.create_task(self._connection.pump(kind, await _reader(descriptor)))
            for kind, descriptor in ((frames.STDOUT, child.stdout), (frames.STDERR, child.stderr))
        ]
        self._pumps += streams
        ended = await child.exited
        # Somebody that it left behind may hold them: they are not waited for.
        await asyncio.wait(streams, timeout=_DRAIN_SECONDS)
        if child.over:
            await self._connection.tell(frames.OVER, reason=child.over)
        await self._connection.tell(frames.EXITED, **vars(ended))

    async def _stop(self, child: Child, grace_seconds: float) -> None:
        swept = await child.stop(grace_seconds)
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=_DRAIN_SECONDS)
        await self._connection.tell(frames.SWEPT, **vars(swept))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    """A stream over a copy of a pipe's end."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=limits.NODE_FRAME_BYTES)
    pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
