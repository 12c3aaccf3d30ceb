"""One outside server while it runs: started, greeted, asked, ended. The one door to the MCP SDK's client."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop.launching import Child
from outcrop.launching.environment import signal_name
from outcrop.outside.config import McpServer
from outcrop.outside.launch import Ground, launch
from outcrop.outside.transport import Transport
from outcrop.text import inert, shorten
from outcrop_schemas import limits
from outcrop_schemas.errors import LaunchError, OutsideError

if TYPE_CHECKING:
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

_log = logging.getLogger(__name__)
_STDERR_BYTES, _SAID_CHARS = 4_096, 300
# How long a server may take to go by itself once its stdin is closed, before the signals.
_LEAVE_SECONDS = 0.5
# What a process wrote on stderr just before it ended is in the pipe; reading it takes milliseconds.
_LAST_WORDS_SECONDS = 0.5


class Connection:
    """A server that answered the greeting. It is over when the process has ended, or broke the rules of the line."""

    def __init__(self, name: str, server: McpServer, ground: Ground, scratch: Path) -> None:
        self._name, self._server, self._ground, self._scratch = name, server, ground, scratch
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: Transport | None = None
        self._dispatcher: JSONRPCDispatcher[Any] | None = None
        self._stderr: deque[int] = deque(maxlen=_STDERR_BYTES)
        self._silent_since: int | None = None
        self._why = ""
        self.layers: Mapping[str, str] = {}
        self.version = ""
        self._living = asyncio.create_task(self._live())

    @property
    def is_over(self) -> bool:
        return self._living.done() or self._stop.is_set() or self._transport is None or self._transport.over.is_set()

    async def ready(self) -> None:
        """Until it was greeted. Raises OutsideError with the reason where it cannot be."""
        await asyncio.shield(self._ready)

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What it answers. Raises OutsideError, also where it takes longer or ends meanwhile; then it was cancelled."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        if self.is_over or self._dispatcher is None:
            raise await self._ended()
        try:
            answer = await self._dispatcher.send_raw_request(method, params, {"timeout": seconds})
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT and not self.is_over:
                self._was_silent()
                raise OutsideError(self._name, f"no answer came within {seconds:g} s; the call was cancelled") from None
            if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                raise await self._ended() from None
            raise OutsideError(self._name, inert(shorten(error.message, limits.OUTSIDE_ERROR_CHARS))) from None
        if not isinstance(answer, dict):
            raise OutsideError(self._name, "it answered with what is no result")
        return answer

    async def close(self) -> None:
        """End it with all that it started."""
        self._stop.set()
        await asyncio.wait([self._living])

    def _was_silent(self) -> None:
        """Twice without any answer between: it hangs, and is ended, so that the next call starts it anew."""
        assert self._transport is not None
        if self._silent_since == self._transport.answered:
            self._why = "it did not answer two calls in a row"
            self._stop.set()
        self._silent_since = self._transport.answered

    async def _live(self) -> None:
        try:
            # The first import takes most of a second, in which nobody else would come to anything.
            await asyncio.to_thread(import_module, "mcp.client.session")
            await self._lived()
        except Exception as error:  # noqa: BLE001 - the boundary to the SDK: whatever breaks in it, the work goes on
            _log.warning("the connection to the outside server %s broke: %r", self._name, error)
            self._why = self._why or f"the connection to it broke: {type(error).__name__}"
        finally:
            self._fail(self.why())

    async def _lived(self) -> None:
        try:
            started = await launch(self._server, self._ground, self._scratch)
        except (LaunchError, OSError) as error:
            self._why = f"it could not be started: {error}"
            return
        self.layers = started.child.layers
        words = asyncio.create_task(self._listen(started.child.stderr))
        self._transport = Transport(os.dup(started.child.stdout), started.stdin)
        try:
            await self._transport.open()
            await self._talk(self._transport)
        finally:
            try:
                await self._end(started.child, words)
            finally:
                started.child.close()

    async def _talk(self, transport: Transport) -> None:
        """The session: greet it, and hold the line until it is over."""
        from mcp.client.session import ClientSession
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
        from mcp_types import Implementation

        self._dispatcher = JSONRPCDispatcher(transport.read, transport.write)
        about = Implementation(name="outcrop", version="1")
        async with ClientSession(
            dispatcher=self._dispatcher, client_info=about, read_timeout_seconds=limits.OUTSIDE_START_SECONDS
        ) as session:
            if await self._greeted(session):
                waits = [asyncio.create_task(event.wait()) for event in (self._stop, transport.over)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for wait in waits:
                    wait.cancel()

    async def _greeted(self, session: Any) -> bool:
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED

        try:
            said = await session.initialize()
        except (MCPError, RuntimeError, ValueError) as error:
            # Told once it has ended: how it did, and what it wrote on stderr, says more.
            if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
                return False
            lines = str(error).splitlines() or [type(error).__name__]
            self._why = f"it did not answer as an MCP server does: {inert(shorten(lines[0], _SAID_CHARS))}"
            return False
        info = said.server_info
        self.version = inert(shorten(f"{info.name} {info.version}", _SAID_CHARS))
        if not self._ready.done():
            self._ready.set_result(None)
        return True

    async def _end(self, child: Child, words: asyncio.Task[None]) -> None:
        assert self._transport is not None
        self._transport.end_of_input()
        await asyncio.wait([child.exited], timeout=_LEAVE_SECONDS)
        if not self._stop.is_set() and not self._why:
            self._why = self._transport.broken or _how_it_ended(child)
        await child.stop(limits.GRACE_SECONDS)
        await asyncio.wait([words], timeout=_LAST_WORDS_SECONDS)
        words.cancel()
        await asyncio.wait([words])
        await self._transport.close()

    async def _ended(self) -> OutsideError:
        """Why there is no answer; waits for the end, which says more than a closed pipe does."""
        await asyncio.wait([self._living], timeout=2 * limits.GRACE_SECONDS + _LEAVE_SECONDS + _LAST_WORDS_SECONDS)
        return self.why()

    def why(self) -> OutsideError:
        """Why it is over, with the last that was heard of it."""
        said = bytes(self._stderr).decode("utf-8", "replace").strip()
        heard = f"; its last words: {inert(shorten(said[-_SAID_CHARS:], _SAID_CHARS))}" if said else ""
        garbage = self._transport.garbage if self._transport else ""
        wrote = f"; on stdout it wrote {inert(garbage)!r}" if garbage else ""
        return OutsideError(self._name, f"{self._why or 'it was ended'}{wrote}{heard}")

    def _fail(self, error: OutsideError) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            # Nobody may be waiting any more.
            self._ready.exception()

    async def _listen(self, stderr: int) -> None:
        """Read all that it says on stderr and keep the end of it."""
        reader = asyncio.StreamReader(limit=_STDERR_BYTES)
        pipe = os.fdopen(os.dup(stderr), "rb", 0)
        source, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while data := await reader.read(_STDERR_BYTES):
                self._stderr.extend(data)
        finally:
            source.close()


def _how_it_ended(child: Child) -> str:
    if not child.exited.done():
        return "it closed its stdout"
    ended = child.exited.result()
    over = f" ({child.over})" if child.over else ""
    if ended.signal:
        return f"it was ended by {signal_name(ended.signal)}{over}"
    return f"it ended with exit code {ended.code}{over}"
