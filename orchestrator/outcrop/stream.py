"""Finds, in whatever a specialist prints, the few lines that matter, without parsing the rest.

Bytes come in chunks and are split on 0x0A only. A line is looked at only when it holds the string "completion"; at most
ten progress lines a second are decoded for display; the last partial findings are kept as bytes. Memory is bounded by
one line of 16 MiB whatever is printed; of a longer line the tail is looked at, since a completion may be glued to it.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable
from typing import Any

from outcrop.bytesearch import contains
from outcrop.completion import TAIL_BYTES, Foreign, Parsed, parse_candidate, parse_tail
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ProtocolError

_COMPLETION = b'"completion"'
_COMPLETION_UTF16 = '"completion"'.encode("utf-16-le")
_PROGRESS = b'"progress"'
_PARTIAL = b'"partial"'
_PARTIAL_OBJECT = re.compile(rb'"partial"\s*:\s*\{')
# Foreign completions are counted by parsing them; past this many the point is made.
_FOREIGN_PARSED = 100


class StreamScanner:
    """The state of one specialist's stdout. Used by one thread at a time."""

    def __init__(self, dispatch_id: str, on_progress: Callable[[dict[str, Any]], None] = lambda message: None) -> None:
        self._dispatch_id, self._id_bytes, self._on_progress = dispatch_id, dispatch_id.encode(), on_progress
        self._carry = bytearray()
        self._skipping = 0
        self._tail = bytearray()
        self._next_progress = 0.0
        self._head = b""
        self._saw_utf16 = False
        self._partial: bytes | None = None
        self.valid: Parsed | None = None
        self.valid_count = 0
        self.fault: ProtocolError | None = None
        self.fault_count = 0
        self.foreign: list[str] = []
        self.long_lines: list[int] = []
        self.bytes_read = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.bytes_read += len(chunk)
        if len(self._head) < 4:
            self._head += chunk[: 4 - len(self._head)]
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        if first < 0:
            self._extend(chunk)
            return
        self._end_line(chunk[:first])
        self._scan(chunk, first + 1, last + 1)
        self._extend(chunk[last + 1 :])

    def finish(self) -> None:
        """No more bytes will come: what was carried is the last line."""
        self._end_line(b"")
        if self.valid is None and self.fault is None and self._is_utf16():
            self.fault = ProtocolError("the stream is UTF-16 text; protocol 1 is UTF-8")
            self.fault_count += 1

    def partial(self) -> dict[str, Any] | None:
        """The last partial findings, decoded now."""
        if self._partial is None:
            return None
        try:
            message = wire.loads(self._partial)
        except ValueError:
            return None
        found = message.get("partial") if isinstance(message, dict) else None
        return found if isinstance(found, dict) else None

    def _extend(self, piece: bytes) -> None:
        """Add to the line that is not ended yet, or to the count of what is skipped of it."""
        if self._skipping:
            self._skipping += len(piece)
            self._tail += piece
            if len(self._tail) > 2 * TAIL_BYTES:
                del self._tail[:-TAIL_BYTES]
            return
        self._carry += piece
        if len(self._carry) > limits.STREAM_LINE_BYTES:
            self._skipping = len(self._carry)
            self._tail = self._carry[-TAIL_BYTES:]
            self._carry = bytearray()

    def _end_line(self, rest: bytes) -> None:
        if not (self._skipping or self._carry):
            self._scan(rest)
            return
        self._extend(rest)
        if self._skipping:
            length, tail = self._skipping, bytes(self._tail[-TAIL_BYTES:])
            self._skipping, self._tail = 0, bytearray()
            self.long_lines.append(length)
            self._scan_tail(tail, length)
            return
        line = bytes(self._carry)
        self._carry = bytearray()
        self._scan(line)

    def _scan_tail(self, tail: bytes, length: int) -> None:
        """A line over the limit may end in a completion that a specialist's own output stands in front of."""
        if _COMPLETION in tail and self._id_bytes in tail:
            self._take(lambda: parse_tail(tail, self._dispatch_id, length))

    def _scan(self, chunk: bytes, start: int = 0, end: int | None = None) -> None:
        """Look at the whole lines between `start` and `end`; the chunk itself is never copied."""
        end = len(chunk) if end is None else end
        if contains(chunk, _COMPLETION, start, end):
            self._scan_candidates(chunk[start:end])
        elif chunk.find(b"\x00", start, end) >= 0 and contains(chunk, _COMPLETION_UTF16, start, end):
            self._saw_utf16 = True
        if contains(chunk, _PROGRESS, start, end):
            self._scan_progress(chunk, start, end)

    def _scan_candidates(self, lines: bytes) -> None:
        position = lines.find(_COMPLETION)
        while position >= 0:
            begins, end = _bounds_of_line(lines, position, 0, len(lines))
            self._take_candidate(lines[begins:end])
            position = lines.find(_COMPLETION, end)

    def _take_candidate(self, line: bytes) -> None:
        if self._id_bytes not in line and len(self.foreign) >= _FOREIGN_PARSED:
            return
        self._take(lambda: parse_candidate(line, self._dispatch_id))

    def _take(self, parse: Callable[[], Parsed | Foreign | None]) -> None:
        try:
            found = parse()
        except ProtocolError as fault:
            self.fault = self.fault or fault
            self.fault_count += 1
            return
        if isinstance(found, Foreign):
            self.foreign.append(found.dispatch_id)
        elif found:
            self.valid = found
            self.valid_count += 1

    def _scan_progress(self, chunk: bytes, start: int, end: int) -> None:
        self._keep_partial(chunk, start, end)
        now = time.monotonic()
        if now < self._next_progress:
            return
        self._next_progress = now + 1 / limits.PROGRESS_PER_SECOND
        begins, ends = _bounds_of_line(chunk, chunk.rfind(_PROGRESS, start, end), start, end)
        if ends - begins > limits.PARTIAL_BYTES:
            return
        try:
            message = wire.loads(chunk[begins:ends])
        except ValueError:
            return
        if isinstance(message, dict):
            self._on_progress(message)

    def _keep_partial(self, chunk: bytes, start: int, end: int) -> None:
        """Keep the last line that brings partial findings: a progress line with an object under that name."""
        # Searching from the end is many times slower than looking whether it is there at all.
        partial = chunk.rfind(_PARTIAL, start, end) if contains(chunk, _PARTIAL, start, end) else -1
        while partial >= 0:
            # A line is looked at once, and only copied when it is short, however often the word stands in it.
            begins, ends = _bounds_of_line(chunk, partial, start, end)
            if ends - begins <= limits.PARTIAL_BYTES:
                line = chunk[begins:ends]
                if _PROGRESS in line and _PARTIAL_OBJECT.search(line):
                    self._partial = line
                    return
            partial = chunk.rfind(_PARTIAL, start, begins)

    def _is_utf16(self) -> bool:
        return self._saw_utf16 or self._head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _bounds_of_line(lines: bytes, position: int, start: int, end: int) -> tuple[int, int]:
    """Where the line around a position begins and ends, between `start` and `end`."""
    begins = max(lines.rfind(b"\n", start, position) + 1, start)
    ends = lines.find(b"\n", position, end)
    return begins, end if ends < 0 else ends
