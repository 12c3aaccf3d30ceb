"""The lines between an outside server and the MCP SDK: bounded in length and number, and answers only.

The SDK's own stdio transport starts the server itself, with its environment and its rights, and gathers a line of any
length. Here the process is ours (`launch.py`), and of what it writes only answers go on to the SDK: it is told of
nothing else, and what it asks for is refused at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits, wire

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

_ANSWERS_WAITING = 16
_LINES_AT_A_TIME = 32
_SHOWN_BYTES = 200
_NO_SUCH_METHOD = -32601


class Transport:
    """Both directions of one server; `over` is set when either has come to its end, `broken` says why it was us."""

    def __init__(self, stdout: int, stdin: int) -> None:
        import anyio

        self._stdout, self._stdin = stdout, stdin
        self._answers: MemoryObjectSendStream[SessionMessage | Exception]
        self.read: MemoryObjectReceiveStream[SessionMessage | Exception]
        self.write: MemoryObjectSendStream[SessionMessage]
        self._requests: MemoryObjectReceiveStream[SessionMessage]
        self._answers, self.read = anyio.create_memory_object_stream(_ANSWERS_WAITING)
        self.write, self._requests = anyio.create_memory_object_stream(0)
        self._pipe: asyncio.WriteTransport | None = None
        self._source: asyncio.ReadTransport | None = None
        self._pumps: list[asyncio.Task[None]] = []
        self._noise = 0
        self._asked: set[str] = set()
        self.over = asyncio.Event()
        self.broken: str | None = None
        self.garbage = ""
        self.answered = 0

    async def open(self) -> None:
        """Take the two descriptors, which are closed with this."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=limits.OUTSIDE_LINE_BYTES)
        protocol: Callable[[], asyncio.BaseProtocol] = lambda: asyncio.StreamReaderProtocol(reader)  # noqa: E731
        self._source, _ = await loop.connect_read_pipe(protocol, os.fdopen(self._stdout, "rb", 0))
        self._pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(self._stdin, "wb", 0))
        self._pumps = [asyncio.create_task(self._read(reader)), asyncio.create_task(self._write())]

    def end_of_input(self) -> None:
        """Close its stdin: by that a server knows that it is not wanted any more."""
        if self._pipe and not self._pipe.is_closing():
            self._pipe.abort()

    async def close(self) -> None:
        """Close both pipes; whoever waits for an answer is told that there will be none."""
        for pump in self._pumps:
            pump.cancel()
        if self._pumps:
            await asyncio.wait(self._pumps)
        self.end_of_input()
        if self._source:
            self._source.close()
        for stream in (self._answers, self._requests, self.read, self.write):
            stream.close()
        self.over.set()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        count = 0
        try:
            while not self.broken and (line := await self._line(reader)):
                await self._take(line)
                count += 1
                if count % _LINES_AT_A_TIME == 0:
                    # A reader with lines at hand never waits, and then nobody else would come to anything.
                    await asyncio.sleep(0)
        finally:
            self._answers.close()
            self.over.set()

    async def _line(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readline()
        except ValueError:
            self.broken = f"it wrote a line of more than {limits.OUTSIDE_LINE_BYTES:,} bytes"
            return b""

    async def _take(self, line: bytes) -> None:
        self._noise += len(line)
        message = _read_message(line)
        if message is None:
            self.garbage = line[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
        elif "method" in message:
            if isinstance(message.get("id"), int | str):
                self._send(_refusal(message))
        elif (answer := self._awaited(message)) is not None:
            self._noise, self.answered = 0, self.answered + 1
            await self._answers.send(answer)
        if self._noise > limits.OUTSIDE_NOISE_BYTES:
            self.broken = f"it wrote more than {limits.OUTSIDE_NOISE_BYTES:,} bytes that answer nothing"

    def _awaited(self, message: dict[str, Any]) -> SessionMessage | None:
        """The answer to what it was asked, once; None where it is another, of which there may be any number."""
        # The SDK takes an answer to "7" for one to 7.
        number = str(message.get("id"))
        if number not in self._asked or (answer := _answer(message)) is None:
            return None
        self._asked.remove(number)
        return answer

    async def _write(self) -> None:
        async for message in self._requests:
            number = getattr(message.message, "id", None)
            if number is not None:
                self._asked.add(str(number))
            self._send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    def _send(self, data: bytes) -> None:
        assert self._pipe is not None
        if self._pipe.get_write_buffer_size() + len(data) > limits.OUTSIDE_UNREAD_BYTES:
            self.broken = f"it left more than {limits.OUTSIDE_UNREAD_BYTES:,} bytes unread"
            self.over.set()
        elif not self._pipe.is_closing():
            self._pipe.write(data + b"\n")


def _read_message(line: bytes) -> dict[str, Any] | None:
    try:
        message = wire.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _answer(message: dict[str, Any]) -> SessionMessage | None:
    """What the SDK takes an answer for; None where it is none."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except ValueError:
        return None


def _refusal(request: dict[str, Any]) -> bytes:
    """To a request of the server's: it is heard, and nothing it asks for (a model, files, the user) is to be had."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "ping":
        return wire.dumps({**answer, "result": {}})
    return wire.dumps({**answer, "error": {"code": _NO_SUCH_METHOD, "message": "this client does nothing for servers"}})
