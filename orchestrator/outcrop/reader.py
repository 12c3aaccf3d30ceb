"""Reads one specialist's stdout and stderr in a thread of its own, to the end or until it is told to stop.

A thread with plain reads is several times faster than the event loop, and a stream that nobody ends (a grandchild holds
it) costs a thread that can be woken, not a hang. Nobody has to wait for it either: its descriptors are its own, so
that one that is still at work when its dispatch ends may finish later and touches nothing of another's.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path

from outcrop.stream import StreamScanner
from outcrop.transcript import Transcript
from outcrop_schemas import limits

# As much as the pipe holds: fewer wake-ups per byte, and it still stays in the processor's second cache.
_CHUNK_BYTES = limits.PIPE_BYTES
# What is in the pipes is read in milliseconds; one long line may take a few tenths of a second.
_STOP_SECONDS = 2.0


class StderrTail:
    """The head and the tail of what was written to stderr, and its whole length."""

    def __init__(self, kept: int = limits.STDERR_KEPT_BYTES) -> None:
        self._kept, self._head, self._tail, self.bytes_read = kept, bytearray(), bytearray(), 0

    def feed(self, chunk: bytes) -> None:
        self.bytes_read += len(chunk)
        room = self._kept - len(self._head)
        if room > 0:
            self._head += chunk[:room]
        self._tail += chunk[max(room, 0) :]
        if len(self._tail) > 2 * self._kept:
            del self._tail[: -self._kept]

    def text(self) -> str:
        """Head and tail as text, with the number of bytes between them."""
        tail = bytes(self._tail[-self._kept :])
        between = self.bytes_read - len(self._head) - len(tail)
        middle = f"\n… {between} bytes …\n".encode() if between > 0 else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", "replace")


def _kept(descriptor: int, opened: contextlib.ExitStack) -> int:
    """Closed again where what is opened after it cannot be."""
    opened.callback(os.close, descriptor)
    return descriptor


class StreamReader:
    """Drains both pipes. `on_change` is called from the thread whenever something happened that may matter.

    Raises OSError where no more files can be opened.
    """

    def __init__(
        self, stdout: int, stderr: int, scanner: StreamScanner, transcript: Path, on_change: Callable[[], None]
    ) -> None:
        self._scanner, self._on_change = scanner, on_change
        self._transcript = Transcript(transcript)
        with contextlib.ExitStack() as opened:
            # Others may close theirs while the thread is at work, and the numbers then are another's.
            self._stdout, self._stderr = (_kept(os.dup(descriptor), opened) for descriptor in (stdout, stderr))
            self._wake_read, self._wake_write = (_kept(end, opened) for end in os.pipe2(os.O_CLOEXEC))
            opened.pop_all()
        self._thread = threading.Thread(target=self._run, name=f"read-{transcript.stem}", daemon=True)
        self.stderr = StderrTail()
        self.started_at = time.monotonic()
        self.last_byte_at = self.started_at
        self.has_spoken = False
        self.is_over_limit = False
        self.is_stdout_closed = False
        self.is_done = False
        self._is_left = False

    @property
    def transcript_error(self) -> str | None:
        return self._transcript.error

    def start(self) -> None:
        self._thread.start()

    def tell_to_stop(self) -> None:
        """End the thread, whoever still holds the pipes, once it has read what is in them now."""
        with contextlib.suppress(OSError):
            # It may have ended, and closed the other end.
            os.write(self._wake_write, b"x")

    def leave(self) -> None:
        """No more of it is wanted. One that is still at work ends as soon as it comes to it."""
        self._is_left = True
        os.close(self._wake_write)

    def stop(self, seconds: float = _STOP_SECONDS) -> None:
        """All three in one, for whoever may block: what the scanner has after so many seconds is what there is."""
        self.tell_to_stop()
        self._thread.join(seconds)
        self.leave()

    def _run(self) -> None:
        poll = select.poll()
        for descriptor in (self._stdout, self._stderr, self._wake_read):
            poll.register(descriptor, select.POLLIN | select.POLLHUP)
        open_pipes = {self._stdout, self._stderr}
        try:
            while open_pipes and not (self.is_over_limit or self._is_left):
                ready = {descriptor for descriptor, _ in poll.poll()}
                if self._wake_read in ready and not (ready & open_pipes):
                    break
                for descriptor in ready & open_pipes:
                    chunk = os.read(descriptor, _CHUNK_BYTES)
                    if not chunk:
                        poll.unregister(descriptor)
                        open_pipes.discard(descriptor)
                        self._closed(descriptor)
                    elif descriptor == self._stdout:
                        self._take_stdout(chunk)
                    else:
                        self.stderr.feed(chunk)
                if self._wake_read in ready:
                    # Told to stop: what is in the pipes now was read, what comes later is not waited for.
                    break
            if not self._is_left:
                self._scanner.finish()
        finally:
            self._transcript.close()
            for descriptor in (self._stdout, self._stderr, self._wake_read):
                os.close(descriptor)
            self.is_done = True
            self._on_change()

    def _take_stdout(self, chunk: bytes) -> None:
        self.last_byte_at = time.monotonic()
        had_completion = self._scanner.valid_count
        self._transcript.write(chunk)
        self._scanner.feed(chunk)
        if self._scanner.bytes_read > limits.STDOUT_BYTES:
            self.is_over_limit = True
        if not self.has_spoken or self._scanner.valid_count != had_completion or self.is_over_limit:
            self.has_spoken = True
            self._on_change()

    def _closed(self, descriptor: int) -> None:
        if descriptor == self._stdout:
            # A last line without a newline is a line.
            self._scanner.finish()
            self.is_stdout_closed = True
            self._on_change()
