"""What kind of file this is, by its first bytes: text, a packed file, a workbook, or binary content with its name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.reading.packed import DAMAGED, SHOWN, STREAMS, ZIP

Unpack = Callable[[BinaryIO], IO[bytes]]
HEAD_BYTES = 512
OLD_OFFICE = b"\xd0\xcf\x11\xe0"
TABLES = {b"PAR1": "a parquet table"}
WORKBOOK = "a workbook"
MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"BM": "a bitmap image",
    b"II*\0": "a TIFF image or raster",
    b"MM\0*": "a TIFF image or raster",
    b"II+\0": "a BigTIFF raster",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"MZ": "a Windows program",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x28\xb5\x2f\xfd": "Zstandard-packed",
    b"ARROW1": "an Arrow table",
    b"LASF": "a point cloud (lidar)",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"CDF\x01": "a NetCDF file",
    b"CDF\x02": "a NetCDF file",
    b"\x80\x04": "a Python pickle",
    b"\x93NUMPY": "a numpy array",
    b"RIFF": "a sound, film or image",
    b"\0\0\0 ftyp": "a film",
    b"wOF": "a font",
    b"\0\0'\n": "a shapefile",
    OLD_OFFICE: "an older Office document",
}
PLAIN_WORDS = (b"BM", b"MZ", b"RIFF", b"wOF", b"Rar!", b"GIF8", b"LASF", b"ARROW1")
"""A text may begin with these words; binary content has a NUL soon behind them."""
PARTS = {"xl/": WORKBOOK, "word/": "a Word document", "ppt/": "a presentation"}
OPEN_DOCUMENT = {b"spreadsheet": WORKBOOK, b"text": "an OpenDocument text", b"presentation": "a presentation"}
STREAM_OPENERS: dict[str, Unpack] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}  # type: ignore[dict-item]


@dataclass(frozen=True)
class Kind:
    """`what` names binary content and is empty for text; a table in binary form says so. `unpack` opens a packed file,
    packed as `packed`; `members` are the files of an archive of several, of which none was named."""

    what: str = ""
    is_table: bool = False
    packed: str = ""
    unpack: Unpack | None = None
    members: tuple[str, ...] = ()


def kind_of_file(path: Path, wanted: str = "") -> Kind:
    """The kind of a file; `wanted` is the member of an archive. Raises DataError where that is not in it."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for magic, (name, _) in STREAMS.items():
        if head.startswith(magic) and (magic != b"BZh" or head[3:4].isdigit()):
            return Kind(packed=name, unpack=STREAM_OPENERS[name])
    if head.startswith(ZIP):
        return _of_zip(path, wanted)
    if head.startswith(OLD_OFFICE) and path.suffix.lower() == ".xls":
        return Kind(WORKBOOK, is_table=True)
    return kind_of_bytes(head)


def kind_of_bytes(head: bytes) -> Kind:
    """The kind of content by its first bytes, packed content aside."""
    for magic, what in TABLES.items():
        if head.startswith(magic):
            return Kind(what, is_table=True)
    for magic, what in MAGIC.items():
        if head.startswith(magic) and (magic not in PLAIN_WORDS or b"\0" in head):
            return Kind(what)
    return Kind()


def size_of(count: int) -> str:
    """Bytes as they are told to a person."""
    size, unit = float(count), "bytes"
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1_000 or unit == "GB":
            break
        size /= 1_000
    return f"{size:.4g} {unit}" if unit != "bytes" else f"{count} bytes"


def _of_zip(path: Path, wanted: str) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            mimetype = archive.read("mimetype")[:200] if "mimetype" in names else b""
    except DAMAGED:
        return Kind("a damaged zip archive")
    for part, what in PARTS.items():
        if "[Content_Types].xml" in names and any(name.startswith(part) for name in names):
            return Kind(what, is_table=what == WORKBOOK)
    for word, what in OPEN_DOCUMENT.items():
        if word in mimetype:
            return Kind(what, is_table=what == WORKBOOK)
    names = [name for name in names if not name.startswith("__MACOSX/")]
    member = names[0] if len(names) == 1 and not wanted else wanted
    if not member:
        return Kind("a zip archive", members=tuple(names))
    if member not in names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise DataError(f"{path.name}: has no {member!r}; name one of {', '.join(names[:SHOWN])}{more}")
    return Kind(packed="zip", unpack=lambda stored: zipfile.ZipFile(stored).open(member))


def member_address(path: str, member: str) -> str:
    """How a file in an archive is named."""
    return f"{path}{MARK}{member}"
