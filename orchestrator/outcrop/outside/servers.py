"""The outside servers of a run: which of their tools a specialist is offered, and its calls of these and no others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop.outside.config import McpServer
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import MissingExtraError, OutsideError
from outcrop_schemas.protocol import OutsideAnswer, OutsideCall, OutsideTool
from outcrop_specialists.context.store import Store

if TYPE_CHECKING:
    from outcrop.outside.launch import Ground
    from outcrop.outside.server import Note, OutsideServer
    from outcrop.runs import RunFolder
    from outcrop.shared import Shared

NETWORK_DENIED = "network_denied"


@dataclass(frozen=True)
class Offered:
    """What one dispatch is offered of all servers. `handle` is by what the run's folder keeps the tools; `networked`
    names those servers among them that may use the network."""

    tools: tuple[OutsideTool, ...] = ()
    problems: tuple[str, ...] = ()
    handle: str | None = None
    networked: tuple[str, ...] = ()
    servers: Mapping[str, OutsideServer] = field(default_factory=dict)

    async def call(self, asked: OutsideCall) -> OutsideAnswer:
        """Carry out a call. Raises OutsideError, also for a tool that was not offered to this specialist."""
        if not any((tool.server, tool.tool) == (asked.server, asked.tool) for tool in self.tools):
            raise OutsideError(asked.server[: limits.ENTRY_CHARS], "this specialist was not offered such a tool")
        return await self.servers[asked.server].call(asked.tool, asked.arguments)


NOTHING = Offered()


class OutsideServers:
    """Starts each server when a dispatch begins that may use it; all are ended with the run.

    Each run has its own: what a server remembers of one run is not there in another.
    """

    def __init__(self, shared: Shared, folder: RunFolder, note: Note) -> None:
        self._shared, self._folder, self._note = shared, folder, note
        self._servers: dict[str, OutsideServer] = {}

    async def offered(self, specialist: str, require: Sequence[str] = ()) -> Offered:
        """The tools for one dispatch of this specialist. A server that cannot be used is a problem that is told, and
        the work goes on without it. Raises SpillError where they cannot be recorded."""
        wanted = {name: one for name, one in self._shared.models.settings.mcp.items() if one.is_for(specialist)}
        if not wanted:
            return NOTHING
        problems, servers = [], {}
        for name, config in wanted.items():
            if config.network and NETWORK_DENIED in require:
                problems.append(
                    f"outside server {name} is left out: it has the network, and network_denied is required"
                )
            else:
                servers[name] = self._server(name, config)
        found = await asyncio.gather(*(one.listing() for one in servers.values()), return_exceptions=True)
        tools: list[OutsideTool] = []
        for name, listing in zip(list(servers), found, strict=True):
            if isinstance(listing, OutsideError):
                problems.append(f"{listing}; the work goes on without its tools")
                del servers[name]
            elif isinstance(listing, BaseException):
                raise listing
            else:
                tools += listing.tools
                problems += listing.said
        networked = tuple(name for name in servers if wanted[name].network)
        handle = _kept(self._folder, tools) if tools else None
        return Offered(tuple(tools), tuple(problems), handle, networked, servers)

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    def _server(self, name: str, config: McpServer) -> OutsideServer:
        from outcrop.outside.server import OutsideServer

        if name not in self._servers:
            self._servers[name] = OutsideServer(name, config, self._ground, self._folder.outside, self._note)
        return self._servers[name]

    async def _ground(self) -> Ground:
        from outcrop.launching.cold import ColdLauncher
        from outcrop.launching.unconfined import UnconfinedLauncher
        from outcrop.outside.launch import Ground

        shared = self._shared
        cold = ColdLauncher()
        is_bare = isinstance(shared.launcher, UnconfinedLauncher)
        # On this machine in any case: what was proved on the nodes of a cluster is none of it.
        bubblewrap = await shared.proof.bubblewrap() if shared.is_local else None
        return Ground(shared.workspace.folder, UnconfinedLauncher(cold) if is_bare else cold, bubblewrap)


def check_installed(servers: Mapping[str, McpServer]) -> None:
    """Raises MissingExtraError where there are servers and no SDK to talk to them."""
    if servers and find_spec("mcp") is None:
        raise MissingExtraError("mcp, which talks to the servers of [mcp.…],", "pip install 'outcrop[mcp]'")


def _kept(folder: RunFolder, tools: Sequence[OutsideTool]) -> str:
    """Their cards as they are offered, kept with the run, by content."""
    folder.outside.mkdir(mode=0o700, exist_ok=True)
    return _store(folder.outside).put(wire.dumps([tool.model_dump(mode="json") for tool in tools]).decode())


def offered_before(folder: RunFolder, handle: str | None) -> list[OutsideTool]:
    """The tools that a recorded dispatch was offered. Raises ArgumentError, DataError where they are lost."""
    if handle is None:
        return []
    kept: list[Any] = wire.loads(_store(folder.outside).whole(handle))
    return [OutsideTool.model_validate(tool) for tool in kept]


def _store(folder: Path) -> Store:
    return Store(folder / "offered")
