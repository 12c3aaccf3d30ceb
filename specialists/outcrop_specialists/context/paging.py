"""A stored text in pages, by line, record or byte, and the places in it where something stands.

A page ends between lines, records or characters, so that pages put one behind the other are the text again, byte for
byte. The file is mapped, never read whole: what is put aside may be larger than there is memory for.
"""

from __future__ import annotations

import mmap
import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError

Unit = Literal["line", "record", "byte"]
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Page:
    """A piece of a stored text. `next_unit` and `next_start` say where to go on; None where this was the end.

    `start` counts in `unit` from 0, `total` is the number of bytes of the whole.
    """

    text: str
    unit: Unit
    start: int
    total: int
    next_unit: Unit | None = None
    next_start: int | None = None

    def as_json(self) -> dict[str, Any]:
        more = {"next": {"unit": self.next_unit, "start": self.next_start}} if self.next_unit else {}
        return {"text": self.text, "unit": self.unit, "start": self.start, "total_bytes": self.total, **more}


def page_of(path: Path, unit: Unit, start: int, count: int, most: int = limits.PAGE_CHARS) -> Page:
    """Up to `count` units from `start`, at most `most` bytes. Raises ArgumentError."""
    if start < 0:
        raise ArgumentError("start", f"{start} is less than 0")
    if count < 1:
        raise ArgumentError("count", f"{count} is less than 1")
    with _mapped(path) as data:
        if unit == "byte":
            return _bytes(data, start, count, most)
        return _whole_units(data, unit, _records(data) if unit == "record" else _lines(data), start, count, most)


def places_of(path: Path, text: str, start: int = 0) -> list[dict[str, Any]]:
    """The first places from byte `start` on where `text` stands (case does not count): line, byte and what is around.
    What stands in the surroundings of a place that is given is not given again."""
    # Each character in its cases: a pattern of bytes ignores those of ASCII only.
    cases = (sorted({char.encode("utf-8", "replace") for char in (c, c.lower(), c.upper())}) for c in text)
    wanted = re.compile(b"".join(b"(?:" + b"|".join(map(re.escape, each)) + b")" for each in cases))
    found: list[dict[str, Any]] = []
    line = counted = 0
    with _mapped(path) as data:
        place = wanted.search(data, start)
        while place and len(found) < limits.FOUND_LINES:
            line += _newlines(data, counted, counted := place.start())
            begins, ends = _around(data, place.start())
            shown = data[begins:ends].decode("utf-8", "ignore")
            found.append({"line": line, "byte": place.start(), "text": shown})
            place = wanted.search(data, max(ends, place.end()))
    return found


@contextmanager
def _mapped(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        if path.stat().st_size == 0:  # nothing to map
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _bytes(data: Any, start: int, count: int, most: int) -> Page:
    if start > len(data):
        raise ArgumentError("start", f"{start} is not between 0 and {len(data)} bytes")
    read = data[start : start + min(count, most) + 4]
    end = min(len(read), count, most)
    # A character is never cut: the page ends before the first byte of one.
    while 0 < end < len(read) and read[end] & 0xC0 == 0x80:
        end -= 1
    if end == 0 and read:
        end = next((n for n in range(1, len(read)) if read[n] & 0xC0 != 0x80), len(read))
    stop = start + end
    more: dict[str, Any] = {"next_unit": "byte", "next_start": stop} if stop < len(data) else {}
    return Page(read[:end].decode("utf-8", "replace"), "byte", start, len(data), **more)


def _whole_units(data: Any, unit: Unit, bounds: Iterable[int], start: int, count: int, most: int) -> Page:
    """Units from `start`; `bounds` gives where each of them ends, in bytes."""
    total = len(data)
    begins = ends = number = taken = 0
    for end in bounds:
        if number < start:
            begins = ends = end
        elif taken < count and end - begins <= most:
            ends, taken = end, taken + 1
        else:
            break
        number += 1
    if number < start:
        raise ArgumentError("start", f"there are {number} {unit}s, so none begins at {start}")
    if not taken and begins < total:
        # One unit that is longer than a page goes on by bytes.
        page = _bytes(data, begins, most, most)
        return Page(page.text, unit, start, total, page.next_unit, page.next_start)
    more: dict[str, Any] = {"next_unit": unit, "next_start": start + taken} if ends < total else {}
    return Page(data[begins:ends].decode("utf-8", "replace"), unit, start, total, **more)


def _lines(data: Any) -> Iterator[int]:
    """Where each line ends, its newline included."""
    place = 0
    while place < len(data):
        place = data.find(b"\n", place) + 1 or len(data)
        yield place


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_CLOSES = {b"]": b"[", b"}": b"{"}


@dataclass
class _Container:
    opens: bytes
    commas: array[int]
    holds_more: bool = False

    @property
    def rank(self) -> tuple[int, int]:
        """A list of records before a list of values before an object, then the longest."""
        is_list = self.opens == b"["
        return is_list + (is_list and self.holds_more and len(self.commas) > 0), len(self.commas)


def _records(data: Any) -> Iterable[int]:
    """Where each element of the longest list of a JSON text ends, the comma behind it included; what stands before the
    list belongs to its first element and what stands behind it to the last. Of any other text, and of one beyond
    `limits.RECORDS_BYTES`, each line."""
    if len(data) > limits.RECORDS_BYTES or data[:64].lstrip()[:1] not in (b"[", b"{"):
        return _lines(data)
    best: _Container | None = None
    stack: list[_Container] = []
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in (b"[", b"{"):
            if best is not None and not stack:
                return _lines(data)  # a second text behind the first: lines of JSON
            if stack:
                stack[-1].holds_more = True
            stack.append(_Container(sign, array("Q")))
        elif sign in _CLOSES:
            if not stack or stack[-1].opens != _CLOSES[sign]:
                return _lines(data)
            closed = stack.pop()
            best = closed if best is None or closed.rank > best.rank else best
        elif sign == b"," and stack:
            stack[-1].commas.append(token.end())
    if best is None or stack or not best.commas:
        return _lines(data)
    return [*best.commas, len(data)]


def _newlines(data: Any, begins: int, ends: int) -> int:
    return sum(data[at : min(at + _BLOCK, ends)].count(b"\n") for at in range(begins, ends, _BLOCK))


def _around(data: Any, place: int) -> tuple[int, int]:
    """What is shown of the line around a place: at most `limits.FOUND_CHARS`, whole characters."""
    begins = max(
        data.rfind(b"\n", max(0, place - limits.FOUND_CHARS // 2), place) + 1, place - limits.FOUND_CHARS // 2, 0
    )
    ends = data.find(b"\n", place, begins + limits.FOUND_CHARS)
    ends = ends if ends >= 0 else min(begins + limits.FOUND_CHARS, len(data))
    while begins < place and data[begins] & 0xC0 == 0x80:
        begins += 1
    return begins, ends
