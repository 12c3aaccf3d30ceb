"""The orchestrator's door for nodes: TLS, and for each dispatch a token that is good for one connection."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from dataclasses import dataclass, field

from outcrop.cluster import frames
from outcrop.cluster.certificate import server_context
from outcrop.cluster.frames import Connection
from outcrop.cluster.remote import RemoteChild
from outcrop.cluster.ticket import keep_alive
from outcrop.launching import LaunchSpec
from outcrop.launching.supervised import explained
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ClusterError, ProtocolError

_log = logging.getLogger(__name__)


@dataclass
class Expected:
    """A dispatch that a node is to call for."""

    spec: LaunchSpec
    launch: bytes
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    child: asyncio.Future[RemoteChild] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Relay:
    """Listens while a run is open."""

    def __init__(self) -> None:
        self._expected: dict[bytes, Expected] = {}
        self._server: asyncio.Server | None = None
        self.certificate = ""
        self.host, self.port = "", 0

    async def open(self, host: str) -> None:
        """Listen at an address that nodes can reach. Raises ClusterError."""
        context, self.certificate = server_context()
        try:
            self._server = await asyncio.start_server(
                self._serve, host, 0, ssl=context, ssl_handshake_timeout=limits.NODE_HELLO_SECONDS
            )
        except OSError as error:
            raise ClusterError(
                f"this machine cannot be listened at under {host} ({error.strerror}); "
                "say with the setting cluster_listen under which address nodes reach it"
            ) from error
        self.host, self.port = self._server.sockets[0].getsockname()[:2]

    def expect(self, spec: LaunchSpec, launch: bytes) -> Expected:
        """Whoever calls with its token gets this launch, once."""
        expected = Expected(spec, launch)
        self._expected[_hashed(expected.token)] = expected
        return expected

    def forget(self, expected: Expected) -> None:
        """Nobody is to have it any more."""
        self._expected.pop(_hashed(expected.token), None)

    async def close(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        try:
            async with asyncio.timeout(limits.NODE_HELLO_SECONDS):
                frame = await connection.receive()
            said = wire.loads(frame[1]) if frame and frame[0] == frames.HELLO else {}
            expected = self._expected.pop(_hashed(str(said.get("token"))), None)
        except (ProtocolError, TimeoutError, ValueError, AttributeError) as error:
            _log.warning("a connection that is no node's was closed: %s", error)
            connection.close()
            return
        if expected is None or expected.child.done():
            # As a rule a task that the scheduler gave to a second node after it lost the first.
            connection.close()
            return
        keep_alive(writer.get_extra_info("socket"))
        child = RemoteChild(connection, str(said.get("node"))[: limits.ENTRY_CHARS])
        try:
            await child.begin(expected.spec, expected.launch)
        except OSError as error:
            child.close()
            if not expected.child.done():
                expected.child.set_exception(explained(error))
            return
        if expected.child.done():
            child.close()
        else:
            expected.child.set_result(child)


def _hashed(token: str) -> bytes:
    # Looked up by its hash: how long that takes says nothing of the token.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
