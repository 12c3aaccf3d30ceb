"""Reads a text file of any size in pieces: lines are skipped and counted as bytes, what is shown is decoded; memory is
bounded by a block and what is shown.

A line ends with \\n, in a file whose first lines end with \\r alone with that. Line ends are kept, so that pieces put
together are the text of the file. Compressed files are unpacked as they are read.
"""

from __future__ import annotations

import codecs
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, AnyStr, BinaryIO

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.encoding import MARKED, encoding_of
from outcrop_specialists.reading.packed import DAMAGED

BLOCK_BYTES = 256 << 10
SAMPLE_BYTES = 256 << 10
REPORT_SECONDS = 0.5
ESCAPED = re.compile("[\udc80-\udcff]")
# Bytes that are no UTF-8 are Windows-1252, as in `encoding.py`.
WESTERN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
Told = Callable[[int, int], None]
"""Is told how many bytes of how many have been read."""


def _to_nobody(done: int, total: int) -> None:
    pass


@dataclass(frozen=True)
class Opened:
    """A file that is read from its start: `content` unpacked, `stored` as it lies on the disk, `size` bytes there."""

    name: str
    content: IO[bytes]
    stored: BinaryIO
    size: int

    def is_unpacked_beyond(self, most_bytes: int) -> bool:
        return self.content is not self.stored and self.content.tell() > most_bytes


@dataclass(frozen=True)
class TextForm:
    """How a text is written: its encoding, the length of its byte-order mark, the character that ends its lines."""

    encoding: str
    mark_bytes: int
    line_end: str

    @classmethod
    def of(cls, name: str, sample: bytes) -> TextForm:
        """By the first bytes. Raises DataError for binary content."""
        encoding = encoding_of(name, sample)
        mark = next((mark for mark in MARKED if sample.startswith(mark)), b"")
        text = sample[len(mark) :].decode(encoding, "replace")
        return cls(encoding, len(mark), "\r" if "\r" in text and "\n" not in text else "\n")

    @property
    def is_of_bytes(self) -> bool:
        """Whether a line end is one byte that is nothing else."""
        return not self.encoding.startswith(("utf-16", "utf-32"))


@contextmanager
def opened(path: Path, unpack: Callable[[BinaryIO], IO[bytes]] | None = None) -> Iterator[Opened]:
    """Open a file, unpacked by `unpack`. Raises DataError where it is damaged, also later, while it is read."""
    with path.open("rb") as stored:
        size = stored.seek(0, 2)
        stored.seek(0)
        if unpack is None:
            yield Opened(path.name, stored, stored, size)
            return
        try:
            with unpack(stored) as content:
                yield Opened(path.name, content, stored, size)
        except DAMAGED as error:
            raise DataError(f"{path.name}: cannot be unpacked: {error}") from error


class Cursor:
    """A place in a text that only goes forward: `line` from 1, `char` from 0 within it. `mended` counts bytes that are
    not of its encoding, in what was decoded."""

    def __init__(self, file: Opened, form: TextForm, told: Told = _to_nobody) -> None:
        """`file` stands at its start; `told` hears now and then how far a long way has been gone."""
        self._file, self._form, self._told = file, form, told
        self._due = time.monotonic() + REPORT_SECONDS
        # Of a text that is no longer valid somewhere nothing is lost, and nothing stops it.
        errors = "surrogateescape" if form.encoding in ("utf-8", "cp1252") else "replace"
        self._decoder = codecs.getincrementaldecoder(form.encoding)(errors)
        self._text, self._at = "", 0
        self._is_read = False
        # The last character that is behind; a text that ends with a line end has no further line.
        self._last = ""
        self.line, self.char = 1, 0
        self.mended = 0
        file.content.read(form.mark_bytes)

    @property
    def is_at_end(self) -> bool:
        """Whether nothing follows."""
        return not self.peek(1)

    def peek(self, most: int) -> str:
        """What follows, to the end of the line (which is included) or `most` characters; empty at the end."""
        while True:
            end = self._text.find(self._form.line_end, self._at, self._at + most)
            if end >= 0:
                return self._text[self._at : end + 1]
            if len(self._text) - self._at >= most or not self._more():
                return self._text[self._at : self._at + most]

    def advance(self, text: str) -> None:
        """Go behind what was peeked at, or behind the beginning of it."""
        self._at += len(text)
        self._last = text[-1:] or self._last
        if text.endswith(self._form.line_end):
            self.line, self.char = self.line + 1, 0
        else:
            self.char += len(text)

    def skip_lines(self, count: int) -> None:
        """Go to the beginning of the line that is `count` further, or to the end."""
        left, end = count, self._form.line_end
        while left:
            found = self._text.count(end, self._at)
            if found >= left:
                self._at, self._last, left = _behind(self._text, end, left, self._at), end, 0
                break
            left -= found
            self._forget()
            if self._is_read:
                break
            if self._form.is_of_bytes:
                left = self._skip_in_block(left)
            else:
                self._more()
        self.line, self.char = self.line + count - left, 0

    def skip_chars(self, count: int) -> int:
        """Go on by `count` characters within this line; how many of them it lacks, its end not counted."""
        left = count
        while left:
            piece = self.peek(min(left, BLOCK_BYTES)).removesuffix(self._form.line_end)
            if not piece:
                break
            self.advance(piece)
            left -= len(piece)
        return left

    def skip_line(self, until: float) -> tuple[int, bool]:
        """Go behind the end of this line: how many characters that were, its end not counted, and whether it was
        reached before the time `until`."""
        count, end = 0, self._form.line_end
        while True:
            place = self._text.find(end, self._at)
            if place >= 0:
                count += place - self._at
                self._at, self._last = place + 1, end
                self.line, self.char = self.line + 1, 0
                return count, True
            count += len(self._text) - self._at
            self.char += len(self._text) - self._at
            self._forget()
            if self._is_read:
                return count, True
            if time.monotonic() > until:
                return count, False
            self._more()

    def count_lines(self, until: float = math.inf) -> tuple[int, bool]:
        """The lines of the whole file: exact and true where its end is reached before the time `until`, and unpacked
        within what may be unpacked, else an estimate by the share that was read. Nothing can be read after it."""
        end = self._form.line_end
        ends = self.line - 1 + self._text.count(end, self._at)
        self._forget()
        while not self._is_read:
            if time.monotonic() > until or self._file.is_unpacked_beyond(limits.UNPACKED_BYTES):
                share = self._file.stored.tell() / max(1, self._file.size)
                return max(ends + 1, round(ends / share) if share else 0), False
            block = self._block()
            if self._form.is_of_bytes:
                ends += block.count(end.encode())
                self._last = block[-1:].decode("latin-1") or self._last
            else:
                text = self._decoder.decode(block, self._is_read)
                ends += text.count(end)
                self._last = text[-1:] or self._last
        return ends + (self._last not in ("", end)), True

    def _skip_in_block(self, left: int) -> int:
        """Read a block and skip line ends in it without decoding what is skipped; how many are left."""
        block, end = self._block(), self._form.line_end.encode()
        found = block.count(end)
        if found < left:
            self._last = block[-1:].decode("latin-1") or self._last
            return left - found
        self._decoder.reset()
        self._last = self._form.line_end
        self._keep(self._decoder.decode(block[_behind(block, end, left, 0) :], self._is_read))
        return 0

    def _more(self) -> bool:
        """Decode a block more; false at the end."""
        if self._is_read:
            return False
        self._keep(self._decoder.decode(self._block(), self._is_read))
        return True

    def _block(self) -> bytes:
        block = self._file.content.read(BLOCK_BYTES)
        self._is_read = len(block) < BLOCK_BYTES
        if time.monotonic() > self._due:
            self._told(self._file.stored.tell(), self._file.size)
            self._due = time.monotonic() + REPORT_SECONDS
        return block

    def _keep(self, text: str) -> None:
        escaped = 0 if text.isascii() else len(ESCAPED.findall(text))
        if escaped:
            self.mended += escaped
            text = text.translate(WESTERN)
        self._text, self._at = self._text[self._at :] + text, 0

    def _forget(self) -> None:
        """What is in memory is behind."""
        self._last = self._text[-1:] or self._last
        self._text, self._at = "", 0


def _behind(text: AnyStr, end: AnyStr, count: int, start: int) -> int:
    """The place behind the `count`th `end` from `start`."""
    for _ in range(count):
        start = text.index(end, start) + 1
    return start
