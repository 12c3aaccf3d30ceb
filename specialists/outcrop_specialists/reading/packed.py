"""Unpacks compressed files for reading: gzip, bzip2, xz, and files in a zip archive. The packed file stays as it is."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.address import MARK

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table

STREAMS: dict[bytes, tuple[str, Callable[[Path], BufferedIOBase]]] = {
    b"\x1f\x8b": ("gzip", gzip.GzipFile),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ": ("xz", lzma.LZMAFile),
}
ZIP = b"PK\x03\x04"
WORKBOOK_MEMBERS = ("[Content_Types].xml", "mimetype")
"""What the first level of an Office or OpenDocument file holds."""
CHUNK_BYTES = 1 << 20
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""RuntimeError: an archive with a password."""
SHOWN = 12


def is_packed(path: Path, head: bytes) -> bool:
    """Whether a file with these first bytes is compressed, and no workbook, which is a zip archive too."""
    if head.startswith(tuple(STREAMS)):
        return True
    return head.startswith(ZIP) and bool(_members(path))


def read_packed(path: Path, head: bytes, scratch: Path, wanted: str, read: Callable[[Path, str], Table]) -> Table:
    """The table in a packed file, as `read(file, wanted)` reads it unpacked. Raises DataError."""
    for magic, (name, opened) in STREAMS.items():
        if head.startswith(magic):
            with _unpacked(path, path.name, partial(opened, path), scratch) as plain:
                table = read(plain, wanted)
            return replace(table, path=path, notes=(f"unpacked ({name})", *table.notes))
    members = _members(path)
    member, _, wanted = (members[0], "", wanted) if len(members) == 1 else _chosen(path, members, wanted)
    with (
        zipfile.ZipFile(path) as archive,
        _unpacked(path, f"{path.name}{MARK}{Path(member).name}", lambda: archive.open(member), scratch) as plain,
    ):
        table = read(plain, wanted)
    if len(members) == 1:
        return replace(table, path=path, notes=("unpacked (zip)", *table.notes))
    note = f"unpacked {member!r} of {len(members)} files in a zip archive"
    name = f"{member}{MARK}{table.name}" if table.name else member
    return replace(table, path=path, name=name, notes=(note, *table.notes))


def _members(path: Path) -> list[str]:
    """The files in a zip archive; none in a workbook or in what only begins like an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except DAMAGED:
        return []
    if any(name in names for name in WORKBOOK_MEMBERS):
        return []
    return [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX/")]


def _chosen(path: Path, members: list[str], wanted: str) -> tuple[str, str, str]:
    found = next((name for name in members if wanted == name or wanted.startswith(name + MARK)), None)
    if found is None:
        named = ", ".join(repr(name) for name in members[:SHOWN])
        more = f" and {len(members) - SHOWN} more" if len(members) > SHOWN else ""
        what = f"has no {wanted!r}" if wanted else "holds several files"
        raise DataError(f"{path.name}: {what}; name one of {named}{more}, as in '{path.name}{MARK}{members[0]}'")
    return found, MARK, wanted[len(found) + 1 :]


@contextmanager
def _unpacked(path: Path, name: str, opened: Callable[[], BufferedIOBase | IO[bytes]], scratch: Path) -> Iterator[Path]:
    """The content as a file `name`, gone when the block ends. Raises DataError where it is damaged or too large."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unpacked-", dir=scratch) as folder:
        plain = Path(folder) / name
        size = 0
        with plain.open("wb") as target:
            try:
                with opened() as source:
                    while chunk := source.read(CHUNK_BYTES):
                        size += len(chunk)
                        if size > limits.UNPACKED_BYTES:
                            raise DataError(
                                f"{path.name}: unpacks to more than {limits.UNPACKED_BYTES} bytes; unpack it and take "
                                "what is needed"
                            )
                        target.write(chunk)
            except DAMAGED as error:
                raise DataError(f"{path.name}: cannot be unpacked: {error}") from error
        if not size:
            raise DataError(f"{path.name}: holds an empty file")
        yield plain
