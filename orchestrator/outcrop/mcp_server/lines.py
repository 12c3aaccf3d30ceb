"""The standard streams as lines of the protocol: stdin read and stdout written by threads that hold nothing up.

Nothing else may come out on stdout: while the protocol has it, what is printed goes to stderr, and stdin is empty.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from outcrop.mcp_server.unread import Cut
from outcrop_schemas import limits

_CHUNK_BYTES = 64 << 10
_ENDS_BYTES = 1_000
"""Of a line that is too long so much of its beginning and of its end is looked at."""
_AHEAD = 64
"""Lines that are read before those before them were taken."""
_log = logging.getLogger(__name__)


class LineReader:
    """The lines of a descriptor, as `async for` gives them. Of one that is too long both ends come, and it is told."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._loop = descriptor, asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        # A daemon: it may wait in a read that never ends, and nobody waits for it then.
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        with suppress(RuntimeError):  # the event loop was closed before
            try:
                for line in split_lines(self._descriptor):
                    self._room.acquire()
                    self._put(line)
            except OSError as error:
                _log.warning("stdin cannot be read: %s", error.strerror)
            self._put(None)

    def _put(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


def split_lines(descriptor: int, most: int = limits.MCP_MESSAGE_BYTES) -> Iterator[str]:
    """The lines of a descriptor; of one that is too long its two ends."""
    held, head = bytearray(), b""
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            yield _text(held, head, most)
            held, head = bytearray(), b""
        held += rest
        if len(held) > most:
            head, held = head or bytes(held[:_ENDS_BYTES]), held[-_ENDS_BYTES:]
    if held or head:
        yield _text(held, head, most)


def _text(line: bytearray, head: bytes, most: int) -> str:
    if head or len(line) > most:
        _log.warning("a message of more than %d bytes was not read", most)
        # The zero byte between them is in no JSON: together they are no message.
        ends = (head or bytes(line[:_ENDS_BYTES])) + b"\0" + line[-_ENDS_BYTES:]
        return Cut(ends.decode("utf-8", "replace"))
    return line.decode("utf-8", "replace")


class LineWriter:
    """Writes lines to a descriptor in order. `write` raises OSError when nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._loop = descriptor, asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="mcp-stdout", daemon=True).start()

    async def write(self, text: str) -> None:
        done = self._loop.create_future()
        self._waiting.put((text.encode("utf-8", "backslashreplace"), done))
        await done

    async def flush(self) -> None:
        """Nothing is held back."""

    def _write(self) -> None:
        with suppress(RuntimeError):
            while True:
                data, done = self._waiting.get()
                fault: OSError | None = None
                view = memoryview(data)
                try:
                    while view:
                        view = view[os.write(self._descriptor, view) :]
                except OSError as error:
                    fault = error
                self._loop.call_soon_threadsafe(_settle, done, fault)


def _settle(done: asyncio.Future[None], fault: OSError | None) -> None:
    if done.done():
        return
    if fault:
        done.set_exception(fault)
    else:
        done.set_result(None)


@contextmanager
def taken() -> Iterator[tuple[int, int]]:
    """The standard streams under numbers of their own, where no print and no child comes to."""
    sys.stdout.flush()
    ours = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1)]
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield ours[0], ours[1]
    finally:
        # Not closed: a thread may still wait in one of them, and must not get another's number.
        for number, descriptor in enumerate(ours):
            os.dup2(descriptor, number)
