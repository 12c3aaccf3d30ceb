"""Serves the live view on 127.0.0.1 until it is told to end; streams that are open then end with it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import uvicorn

from outcrop.ui.access import Gate, new_token
from outcrop.ui.app import Application
from outcrop.workspace import Workspace
from outcrop_schemas.errors import WorkspaceError

HOST = "127.0.0.1"
_ENDING_SECONDS = 2


@dataclass(frozen=True)
class Address:
    """Where the live view is to be found."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are those of whoever serves."""
        yield


async def serve(workspace: Workspace, port: int, on_ready: Callable[[Address], None]) -> None:
    """Serve until SIGTERM or SIGHUP comes, or until cancelled. Raises WorkspaceError where the port is taken."""
    with _listening(port) as listener:
        address = Address(listener.getsockname()[1], new_token())
        application = Application(workspace, address.token)
        server = _Server(_config(Gate(application.asgi, address.token, address.port)))
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        serving = asyncio.create_task(server.serve([listener]))
        looking = asyncio.create_task(application.watches.run())
        try:
            on_ready(address)
            await asyncio.to_thread(application.warm)
            await ended.wait()
        finally:
            looking.cancel()
            application.watches.close()
            server.should_exit = True
            await asyncio.wait([serving, looking])


def _config(app: Gate) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_ENDING_SECONDS,
    )


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            # From now on who connects waits for the server, so that the address can be told.
            listener.listen()
        except OSError as error:
            raise WorkspaceError(
                f"port {port} of {HOST} cannot be had: {error.strerror}; choose another --port"
            ) from error
        yield listener
    finally:
        listener.close()
