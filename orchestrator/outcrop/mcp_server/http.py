"""Streamable HTTP on the loopback of this machine, for whoever has the token."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import uvicorn

from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError

if TYPE_CHECKING:
    from outcrop.mcp_server.host import Host

HOST, PATH, TOKEN = "127.0.0.1", "/mcp", "OUTCROP_MCP_TOKEN"
_TOKEN_CHARS = 16


def bound(port: int) -> socket.socket:
    """A socket at this port of the loopback; any free one for 0. Raises UsageError."""
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((HOST, port))
        # From now on: whoever reads the address may come before the server does.
        place.listen()
    except (OSError, OverflowError) as error:
        place.close()
        raise UsageError(f"port {port} of {HOST} cannot be taken: {error}; --port 0 takes a free one") from error
    return place


def token() -> tuple[str, bool]:
    """The token that clients must send, and whether it was made now. Raises UsageError for one that is too short."""
    given = os.environ.get(TOKEN, "")
    if not given:
        return secrets.token_urlsafe(32), True
    if len(given) < _TOKEN_CHARS or not given.isascii() or not given.isprintable() or " " in given:
        raise UsageError(f"{TOKEN} must have at least {_TOKEN_CHARS} printable characters without blanks")
    return given, False


class _Server(uvicorn.Server):
    """The same, which leaves signals to the command line."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(app: Any, place: socket.socket, host: Host) -> None:
    """Serve until cancelled; then what clients had asked for is ended first, and their connections after it."""
    config = uvicorn.Config(
        app, log_config=None, log_level="warning", access_log=False, server_header=False, lifespan="on"
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[place]))
    try:
        await asyncio.shield(serving)
    finally:
        await host.end()
        server.should_exit = True
        await asyncio.wait([serving], timeout=limits.MCP_END_SECONDS)
        server.force_exit = True
        if not serving.done():
            serving.cancel()
            await asyncio.wait([serving], timeout=limits.MCP_END_SECONDS)
