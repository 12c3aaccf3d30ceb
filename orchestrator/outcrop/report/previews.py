"""What can be seen of a file without opening it in a program: a picture as it is, the head of a table.

The files are the specialists': they are read without following a link, only so far, and never decoded here.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from outcrop.artifacts import open_beneath
from outcrop.text import shorten
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

_CHUNK_BYTES = 1 << 20
# By how a file begins: its name is the specialist's word only.
_PICTURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Head:
    """The first rows of a table as text, cells cut. `more_columns` are not shown."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more_columns: int


class Files:
    """The files of a workspace, for reading; without a workspace there are none. Raises PathError, OSError."""

    def __init__(self, workspace: Path | None) -> None:
        self._workspace = workspace

    def read(self, path: str, most: int) -> tuple[bytes, int]:
        """The first bytes of a file, and how many it has."""
        with self._opened(path) as descriptor:
            parts, size = [], os.fstat(descriptor).st_size
            while most > 0 and (part := os.read(descriptor, min(most, _CHUNK_BYTES))):
                parts.append(part)
                most -= len(part)
        return b"".join(parts), size

    def size(self, path: str) -> int:
        """How many bytes it has."""
        with self._opened(path) as descriptor:
            return os.fstat(descriptor).st_size

    def sha256(self, path: str, most: int) -> str:
        """The hash of its first bytes."""
        found = hashlib.sha256()
        with self._opened(path) as descriptor:
            while most > 0 and (part := os.read(descriptor, min(most, _CHUNK_BYTES))):
                found.update(part)
                most -= len(part)
        return found.hexdigest()

    @contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        if self._workspace is None:
            raise FileNotFoundError(path)
        relative = Path(path)
        if relative.is_absolute() or ".." in relative.parts:
            raise PathError(path, "is outside the workspace")
        workspace = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            descriptor = open_beneath(workspace, relative)
        finally:
            os.close(workspace)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def picture(path: str, data: bytes) -> str | None:
    """What kind of picture a browser can show these bytes as; None for anything else."""
    for opening, kind in _PICTURES:
        if data.startswith(opening):
            return kind
    # In an <img> an SVG runs no script and loads nothing.
    is_svg = PurePosixPath(path).suffix.lower() == ".svg" and b"<svg" in data[:4096]
    return "image/svg+xml" if is_svg else None


def data_uri(kind: str, data: bytes) -> str:
    """The bytes themselves as an address."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def is_same(data: bytes, sha256: str) -> bool:
    """Whether these are the bytes that were recorded."""
    return hashlib.sha256(data).hexdigest() == sha256


def separator(path: str) -> str | None:
    """What parts the fields of a table of this name; None where it is no text that can be shown in rows."""
    return _SEPARATORS.get(PurePosixPath(path).suffix.lower())


def head(files: Files, path: str) -> Head | None:
    """The first rows of a CSV or TSV file; None where it has none. Raises PathError, OSError."""
    data, size = files.read(path, limits.REPORT_TABLE_BYTES)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if size > len(data):
        # The last line may be torn.
        text = text[: text.rfind("\n") + 1]
    try:
        rows = [row for row, _ in zip(_rows(path, text), range(limits.REPORT_TABLE_ROWS + 1), strict=False)]
    except csv.Error:
        return None
    if not rows:
        return None
    most = limits.REPORT_TABLE_COLUMNS
    cut = [tuple(shorten(cell, limits.REPORT_CELL_CHARS) for cell in row[:most]) for row in rows]
    return Head(cut[0], tuple(cut[1:]), max(0, len(rows[0]) - most))


def _rows(path: str, text: str) -> Iterator[list[str]]:
    return iter(csv.reader(io.StringIO(text, newline=""), delimiter=separator(path) or ","))
