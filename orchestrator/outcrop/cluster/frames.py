"""What crosses the connection of one dispatch between a node and the orchestrator: frames of a kind and bytes.

A frame is one byte that says what it is, four of length (big-endian), and so many bytes. Of a stream of bytes an empty
frame is the end.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ProtocolError

# From the node: who it is, what became of the start, the three streams, the end of the process, all swept.
HELLO, STARTED, FAILED, UNFIT = b"H", b"S", b"F", b"U"
STDOUT, STDERR, CHANNEL = b"o", b"e", b"c"
EXITED, OVER, SWEPT = b"X", b"V", b"W"
# From the orchestrator: what to start, and that all of it is to end. CHANNEL goes both ways.
LAUNCH, STOP = b"L", b"T"
_HEAD_BYTES = 5


class Connection:
    """One end of it. Frames may be sent by several tasks at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Returns when there is room for more; what nobody is there to take is dropped."""
        if self._writer.is_closing():
            return
        self._writer.write(kind + len(payload).to_bytes(4, "big") + payload)
        try:
            await self._writer.drain()
        except (ConnectionError, ssl.SSLError):
            # Whoever reads here sees the end of the connection, and says what follows from it.
            drop(self._writer)

    async def tell(self, kind: bytes, /, **fields: Any) -> None:
        """Send a frame of JSON."""
        await self.send(kind, wire.dumps(fields))

    async def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame; None where the other end is gone. Raises ProtocolError for what is no frame."""
        try:
            head = await self._reader.readexactly(_HEAD_BYTES)
            size = int.from_bytes(head[1:], "big")
            if size > limits.STREAM_LINE_BYTES:
                raise ProtocolError(f"a frame of {size} bytes came from the other end of a cluster connection")
            return head[:1], await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, TimeoutError):
            return None

    async def pump(self, kind: bytes, source: asyncio.StreamReader) -> None:
        """Send all that comes from `source`, and its end."""
        while True:
            try:
                data = await source.read(limits.NODE_FRAME_BYTES)
            except ConnectionError:
                data = b""
            await self.send(kind, data)
            if not data:
                return

    def close(self) -> None:
        """At once: what was sent and not read yet is of no use any more."""
        drop(self._writer)


async def pour(data: bytes, into: asyncio.StreamWriter) -> None:
    """Pass on what a frame of a stream brought, or its end; a reader that left does not matter."""
    if into.is_closing():
        return
    if not data:
        into.close()
        return
    into.write(data)
    try:
        await into.drain()
    except ConnectionError:
        into.close()


def drop(writer: asyncio.StreamWriter) -> None:
    """Close at once, whatever is still to be written; also where it was closed before."""
    # CPython's transports break when they are aborted after they were closed and had written everything.
    if not writer.is_closing() or writer.transport.get_write_buffer_size():
        writer.transport.abort()
