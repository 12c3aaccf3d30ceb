"""Reads a data file as a typed table, and writes a table as CSV. Every tool reads tables through here and nowhere else.

What kind of file it is follows from its content, not from its name. How text becomes records, records a layout and
texts types is said in `text.py`, `layout.py` and `types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_schemas.errors import DataError
from outcrop_specialists.paths import data_file
from outcrop_specialists.tools.base import ToolContext

if TYPE_CHECKING:
    import polars as pl

NOT_YET_READABLE = {
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive; unpack it",
    b"BZh": "a bzip2 archive; unpack it",
    b"\xfd7zXZ": "an xz archive; unpack it",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it",
    b"ARROW1": "an Arrow file; save it as parquet or CSV",
    b"SQLite format 3": "an SQLite database; export a table as CSV",
    b"\x89HDF": "an HDF5 file; export a table as CSV",
}


@dataclass(frozen=True)
class Table:
    """A table as read: `path` resolved, `frame` typed, `notes` on what was found or repaired, with counts.

    `units` holds the unit of a column where the file has a row of units.
    """

    path: Path
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)


def read_table(context: ToolContext, path: str | Path) -> Table:
    """The table in a data file of the workspace.

    Raises PathError for a path that cannot be used, and DataError, naming file and line, where the content cannot be
    read as one table without guessing.
    """
    resolved = data_file(context.workspace, path)
    name = resolved.name
    context.report(f"reading {name}", None, None)
    head = _head(resolved)
    for magic, what in NOT_YET_READABLE.items():
        if head.startswith(magic):
            raise DataError(f"{name}: is {what}, not a table that can be read")
    if head.startswith(b"PAR1"):
        return _read_parquet(resolved)
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        from outcrop_specialists.reading.excel import read_excel

        return read_excel(resolved)
    written = _read_written(resolved)
    if written is not None:
        return written
    from outcrop_specialists.reading.text import read_text

    return read_text(resolved)


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    """Write as CSV: UTF-8, floats with all their digits, missing values (also NaN) empty."""
    import polars as pl
    import polars.selectors as cs

    frame = frame.with_columns(cs.float().fill_nan(None))
    if frame.width == 1:
        # A missing value alone in its line must be written as "", or the line would be blank and the row lost.
        frame = frame.with_columns(pl.all().cast(pl.String).fill_null(""))
    frame.write_csv(path, null_value="")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _read_written(path: Path) -> Table | None:
    """A CSV that Outcrop wrote and nobody changed since, as it was; None for any other file."""
    from outcrop_specialists.reading.layout import total_note
    from outcrop_specialists.reading.types import Typed, note_sentinels
    from outcrop_specialists.reading.written import read_written

    found = read_written(path)
    if found is None or found[0].is_empty():
        return None
    frame, units = found
    typed = Typed()
    note_sentinels(frame.get_columns(), typed)
    last = [str(value) for value in frame.row(-1)[:2]]
    return Table(path, frame, (*total_note(frame.height + 1, last), *typed.notes()), units)


def _read_parquet(path: Path) -> Table:
    import polars as pl
    import polars.selectors as cs

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path.name}: begins like parquet but cannot be read: {error}") from error
    if frame.is_empty():
        raise DataError(f"{path.name}: has columns but no rows")
    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary]
    if nested:
        raise DataError(f"{path.name}: column {nested[0]!r} is of type {frame.schema[nested[0]]}, which is not a value")
    types: dict[str, pl.DataType] = {}
    for name, kind in frame.schema.items():
        if kind in (pl.Categorical, pl.Enum, pl.Null):
            types[name] = pl.String()
        elif kind.is_decimal() or kind == pl.Float32:
            types[name] = pl.Float64()
    floats = [name for name, kind in types.items() if kind == pl.Float64]
    notes = [f"read as 64-bit floats: {', '.join(map(repr, floats))}"] if floats else []
    frame = frame.with_columns(pl.col(name).cast(kind) for name, kind in types.items())
    whole = frame.with_columns(cs.float().fill_nan(None))
    gained = sum(whole.null_count().row(0)) - sum(frame.null_count().row(0))
    if gained:
        notes.append(f"{gained} NaN read as missing")
    return Table(path, whole, tuple(notes))
