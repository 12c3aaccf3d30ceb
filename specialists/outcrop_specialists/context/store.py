"""Where what is too long for a window is put aside whole: texts by the hash of their content, read back in pages.

The same text is kept once. The store lies in the run's folder and goes with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, DataError, SpillError
from outcrop_specialists.context.paging import Page, Unit, page_of, places_of

__all__ = ["Page", "Store", "Unit"]
_HANDLE_CHARS = 16
_HANDLE = re.compile(rf"[0-9a-f]{{{_HANDLE_CHARS}}}")
_BLOCK_CHARS = 1 << 20


class Store:
    """Texts by handle in one folder. Without a folder nothing is kept, and handles are what they would have been."""

    def __init__(self, folder: Path | None, quota: int = limits.STORE_BYTES) -> None:
        self._folder, self._quota = folder, quota
        self._used = 0

    def put(self, text: str) -> str:
        """Keep a text whole; its handle. Raises SpillError where the store is full or cannot be written."""
        digest, size = sha256(), 0
        for data in _encoded(text):
            digest.update(data)
            size += len(data)
        handle = digest.hexdigest()[:_HANDLE_CHARS]
        if self._folder is None:
            return handle
        path = self._folder / handle
        if path.exists():
            return handle
        if self._used + size > self._quota:
            raise SpillError(f"{size} bytes were not put aside: the store may hold {self._quota} bytes in all")
        aside = self._folder / f".{handle}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(_encoded(text))
            aside.replace(path)
        except OSError as error:
            raise SpillError(f"{path}: {size} bytes could not be put aside: {error.strerror}") from error
        self._used += size
        return handle

    def whole(self, handle: str) -> str:
        """A stored text, all of it. Raises ArgumentError where it is not there, DataError where it was changed."""
        data = self._path(handle).read_bytes()
        if sha256(data).hexdigest()[:_HANDLE_CHARS] != handle:
            raise DataError(f"what was put aside under {handle} was changed since")
        return data.decode("utf-8", "surrogatepass")

    def page(
        self, handle: str, unit: Unit = "line", start: int = 0, count: int = 200, most: int = limits.PAGE_CHARS
    ) -> Page:
        """Up to `count` units from `start`, at most `most` characters.

        Raises ArgumentError for a handle or a start that is not there, and for a count below 1.
        """
        return page_of(self._path(handle), unit, start, count, most)

    def find(self, handle: str, text: str, start: int = 0) -> list[dict[str, Any]]:
        """The first places from byte `start` on that hold `text` (case does not count), each with its line and byte
        and what is around it. Raises ArgumentError."""
        return places_of(self._path(handle), text, start)

    def _path(self, handle: str) -> Path:
        name = handle.strip()
        if self._folder is None or not _HANDLE.fullmatch(name) or not (self._folder / name).is_file():
            raise ArgumentError("handle", f"nothing is put aside under {handle[:80]!r}")
        return self._folder / name


def _encoded(text: str) -> Iterator[bytes]:
    """A text in blocks: a second copy of a long one may be more than there is memory for."""
    for place in range(0, len(text), _BLOCK_CHARS):
        yield text[place : place + _BLOCK_CHARS].encode("utf-8", "surrogatepass")
