"""Where what is too long for a window is put aside whole: texts by the hash of their content, read back in pages.

The same text is kept once. A page ends between lines, records or characters, so that pages put one behind the other are
the text again, byte for byte. The store lies in the run's folder and goes with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, DataError, SpillError

Unit = Literal["line", "record", "byte"]
_HANDLE_CHARS = 16
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Page:
    """A piece of a stored text. `next_unit` and `next_start` say where to go on; None where this was the end.

    `start` and `end` count in `unit` from 0, `total` is the number of bytes of the whole.
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


class Store:
    """Texts by handle in one folder. Without a folder nothing is kept, and handles are what they would have been."""

    def __init__(self, folder: Path | None, quota: int = limits.STORE_BYTES) -> None:
        self._folder, self._quota = folder, quota
        self._used = 0

    def put(self, text: str) -> str:
        """Keep a text whole; its handle. Raises SpillError where the store is full or cannot be written."""
        data = text.encode("utf-8", "surrogatepass")
        handle = sha256(data).hexdigest()[:_HANDLE_CHARS]
        if self._folder is None:
            return handle
        path = self._folder / handle
        if path.exists():
            return handle
        if self._used + len(data) > self._quota:
            raise SpillError(f"{len(data)} bytes were not put aside: the store may hold {self._quota} bytes in all")
        aside = self._folder / f".{handle}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            aside.replace(path)
        except OSError as error:
            raise SpillError(f"{path}: {len(data)} bytes could not be put aside: {error.strerror}") from error
        self._used += len(data)
        return handle

    def whole(self, handle: str) -> str:
        """A stored text, all of it. Raises ArgumentError where it is not there, DataError where it was changed."""
        data = self._path(handle).read_bytes()
        if sha256(data).hexdigest()[:_HANDLE_CHARS] != handle:
            raise DataError(f"what was put aside under {handle} was changed since")
        return data.decode("utf-8", "surrogatepass")

    def page(self, handle: str, unit: Unit = "line", start: int = 0, count: int = 200) -> Page:
        """Up to `count` units from `start`, at most `limits.PAGE_CHARS` characters.

        Raises ArgumentError for a handle, a unit or a start that is not there.
        """
        path = self._path(handle)
        total = path.stat().st_size
        with path.open("rb") as file:
            if unit == "byte":
                return _bytes(file.read, file.seek, start, count, total)
            bounds = _records(path) if unit == "record" else _lines(path)
            return _whole_units(path, unit, bounds, start, count, total)

    def find(self, handle: str, text: str) -> list[dict[str, Any]]:
        """The first lines that hold `text` (case does not count), each with its number. Raises ArgumentError."""
        wanted, found = text.casefold(), []
        with self._path(handle).open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file):
                place = line.casefold().find(wanted)
                if place >= 0:
                    begins = max(0, place - limits.FOUND_CHARS // 2)
                    found.append({"line": number, "text": line[begins : begins + limits.FOUND_CHARS].rstrip("\n")})
                    if len(found) >= limits.FOUND_LINES:
                        break
        return found

    def _path(self, handle: str) -> Path:
        name = handle.strip()
        if self._folder is None or not name.isalnum() or not (self._folder / name).is_file():
            raise ArgumentError("handle", f"nothing is put aside under {handle[:80]!r}")
        return self._folder / name


def _bytes(read: Any, seek: Any, start: int, count: int, total: int) -> Page:
    if not 0 <= start <= total:
        raise ArgumentError("start", f"{start} is not between 0 and {total} bytes")
    seek(start)
    data = read(min(count, limits.PAGE_CHARS) + 4)
    end = min(len(data), count, limits.PAGE_CHARS)
    # A character is never cut: the page ends before the first byte of one.
    while 0 < end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    if end == 0 and data:
        end = next((n for n in range(1, len(data)) if data[n] & 0xC0 != 0x80), len(data))
    stop = start + end
    more: dict[str, Any] = {"next_unit": "byte", "next_start": stop} if stop < total else {}
    return Page(data[:end].decode("utf-8", "surrogateescape"), "byte", start, total, **more)


def _whole_units(path: Path, unit: Unit, bounds: Iterator[int], start: int, count: int, total: int) -> Page:
    """Units from `start`; `bounds` gives where each of them ends, in bytes."""
    begins = ends = 0
    number = 0
    taken = 0
    for end in bounds:
        if number < start:
            begins = ends = end
        elif taken < count and end - begins <= limits.PAGE_CHARS:
            ends, taken = end, taken + 1
        else:
            break
        number += 1
    if start < 0 or number < start:
        raise ArgumentError("start", f"there are {number} {unit}s, so none begins at {start}")
    if not taken and begins < total:
        # One unit that is longer than a page goes on by bytes.
        with path.open("rb") as file:
            page = _bytes(file.read, file.seek, begins, limits.PAGE_CHARS, total)
        return Page(page.text, unit, start, total, page.next_unit, page.next_start)
    with path.open("rb") as file:
        file.seek(begins)
        text = file.read(ends - begins).decode("utf-8", "surrogateescape")
    more: dict[str, Any] = {"next_unit": unit, "next_start": start + taken} if ends < total else {}
    return Page(text, unit, start, total, **more)


def _lines(path: Path) -> Iterator[int]:
    """Where each line ends, its newline included."""
    place = 0
    with path.open("rb") as file:
        for line in file:
            place += len(line)
            yield place


def _records(path: Path) -> Iterator[int]:
    """Where each element of a JSON list ends, the comma behind it included; of any other text each line."""
    text = path.read_text("utf-8", "surrogateescape")
    if not text.lstrip().startswith("["):
        yield from _lines(path)
        return
    decoder, place, told, ends = json.JSONDecoder(), text.index("[") + 1, 0, 0
    try:
        while text[place := _after_white(text, place)] != "]":
            _, place = decoder.raw_decode(text, place)
            place = _after_white(text, place)
            place += text[place] == ","
            # The closing bracket belongs to the last element.
            if text[_after_white(text, place)] == "]":
                break
            ends += len(text[told:place].encode("utf-8", "surrogateescape"))
            told = place
            yield ends
    except (ValueError, IndexError):
        pass  # not a JSON list after all: what is left of it is one record
    yield path.stat().st_size


def _after_white(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place
