"""One outside server of a run: started when it is first needed, and again where it ended; its tools, its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from outcrop.outside.answers import read_answer
from outcrop.outside.config import McpServer
from outcrop.outside.connection import Connection
from outcrop.outside.launch import Ground
from outcrop.outside.listing import Listing, listed
from outcrop_schemas import limits
from outcrop_schemas.errors import OutsideError
from outcrop_schemas.protocol import OutsideAnswer

Note = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Records an event of the run: its kind and what it says."""


class OutsideServer:
    """Shared by all dispatches of a run; what it is asked at the same time goes to it at the same time."""

    def __init__(
        self, name: str, config: McpServer, ground: Callable[[], Awaitable[Ground]], folder: Path, note: Note
    ) -> None:
        self.name, self.config = name, config
        self._ground, self._folder, self._note = ground, folder, note
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._starts = 0
        self._failed: OutsideError | None = None
        self._listing: Listing | None = None
        self._is_closed = False

    async def listing(self) -> Listing:
        """Its tools as they were at its first start: they stay the same for the whole run. Raises OutsideError."""
        if self._listing is None:
            await self._connected()
        assert self._listing is not None
        return self._listing

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> OutsideAnswer:
        """Call a tool by its server's own name for it, within its time limit. Raises OutsideError."""
        connection = await self._connected()
        params = {"name": tool, "arguments": dict(arguments)}
        return read_answer(self.name, await connection.request("tools/call", params, self.config.timeout_seconds))

    async def close(self) -> None:
        """End it with everything that it started."""
        self._is_closed = True
        if self._starting:
            await asyncio.wait([self._starting])
        if self._connection:
            await self._connection.close()

    async def _connected(self) -> Connection:
        if self._connection and not self._connection.is_over:
            return self._connection
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        # Others may wait for the same start: it goes on where one of them does not wait any more.
        return await asyncio.shield(self._starting)

    def _started(self, task: asyncio.Task[Connection]) -> None:
        self._starting = None
        if not task.cancelled():
            # Nobody may be waiting any more.
            task.exception()

    async def _start(self) -> Connection:
        if self._connection:
            await self._connection.close()
            self._failed = self._connection.why()
        if self._is_closed:
            raise OutsideError(self.name, "the run is over")
        if self._starts >= limits.OUTSIDE_STARTS:
            last = f"; last: {self._failed.reason}" if self._failed else ""
            raise OutsideError(self.name, f"it was started {self._starts} times in this run and is not again{last}")
        self._starts += 1
        try:
            connection = await self._opened()
        except OutsideError as error:
            self._failed = error
            await self._note("outside", {"server": self.name, "start": self._starts, "error": error.reason})
            raise
        return connection

    async def _opened(self) -> Connection:
        scratch = self._folder / f"{self.name}-{self._starts}"
        try:
            scratch.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise OutsideError(self.name, f"its folder cannot be made: {error.strerror}") from error
        connection = Connection(self.name, self.config, await self._ground(), scratch)
        try:
            await connection.ready()
            found = await self._list(connection) if self._listing is None else None
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        if found is not None:
            self._listing = listed(self.name, self.config, found)
        assert self._listing is not None
        about = {"version": connection.version, "tools": len(self._listing.tools), "network": self.config.network}
        await self._note(
            "outside", {"server": self.name, "start": self._starts, **about, "layers": dict(connection.layers)}
        )
        return connection

    async def _list(self, connection: Connection) -> list[Any]:
        """All that it lists, page by page."""
        found: list[Any] = []
        cursor: Any = None
        for _ in range(limits.OUTSIDE_LIST_PAGES):
            params = {"cursor": cursor} if cursor else {}
            page = await connection.request("tools/list", params, limits.OUTSIDE_START_SECONDS)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            if not isinstance(tools, list):
                raise OutsideError(self.name, "it did not list its tools as an MCP server does")
            found += tools
            if not isinstance(cursor, str) or not cursor:
                break
        return found
