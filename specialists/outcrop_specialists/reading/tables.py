"""Reads a data file as a typed table, and writes a table as CSV. Every tool reads tables through here and nowhere else.

What kind of file it is follows from its content, not from its name. How text becomes records, records a layout and
texts types is said in `text.py`, `layout.py` and `types.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.reading.address import TablePath, addressed, table_of
from outcrop_specialists.tools.base import ToolContext

if TYPE_CHECKING:
    import polars as pl

NOT_YET_READABLE = {
    b"%PDF": "a PDF document",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it",
    b"ARROW1": "an Arrow file; save it as parquet or CSV",
    b"LASF": "a point cloud (lidar), not a well log",
    b"SQLite format 3": "an SQLite database; export a table as CSV",
    b"\x89HDF": "an HDF5 file; export a table as CSV",
}
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


@dataclass(frozen=True)
class Table:
    """A table as read: `path` resolved, `frame` typed, `notes` on what was found or repaired, with counts.

    `units` holds the unit of a column where the file has a row of units. `qualifiers` maps a numeric column with
    results beyond a limit to the column behind it that says which (`Au` to `Au_q`: "<", ">", "~" or ""); where
    censored, the value is the limit, or what a method of `substituted` (half, zero, value) put in its place.
    `name` is the table's own where its file holds several (a sheet, a section); `header` what the file says above its
    rows as key and value (a well's name, a client). `read_as` tells format, encoding, delimiter and lines of the
    header where the format has them (`report.py`).
    """

    path: Path
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    substituted: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    header: Mapping[str, str] = field(default_factory=dict)
    read_as: Mapping[str, str | int] = field(default_factory=dict)

    # Of a large table `frame` may not be in memory yet (`cache.py`): who needs a few columns asks for these.
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    @cached_property
    def schema(self) -> pl.Schema:
        # Made anew each time by polars, which takes milliseconds for a table of thousands of columns.
        return self.frame.schema

    @cached_property
    def found_out(self) -> dict[str, Any]:
        """What was found out about the whole table and is asked for again, by who found it out (`profile`)."""
        return {}

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.frame.height

    def column(self, name: str) -> pl.Series:
        """One column. Raises ColumnNotFoundError."""
        return self.select([name]).to_series()

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns. Raises ColumnNotFoundError."""
        import polars as pl

        # Not frame.select: that takes a name such as "*" or "^a$" for a pattern.
        return pl.DataFrame([self.frame.get_column(name) for name in names])

    def slice(self, offset: int, length: int, names: Sequence[str]) -> pl.DataFrame:
        """Some columns of some rows; an offset below 0 counts from the end."""
        return self.select(names).slice(offset, length)

    def null_count(self, name: str) -> int:
        return self.column(name).null_count()

    def scan(self) -> pl.LazyFrame:
        """The table for a query that polars plans and runs."""
        return self.frame.lazy()


@dataclass(frozen=True)
class TableRead:
    """A table that a tool read; `width` counts its columns without those that only qualify another one."""

    path: Path
    width: int
    height: int


_tables_read: ContextVar[tuple[list[TableRead], bool] | None] = ContextVar("tables read by a tool", default=None)


@contextmanager
def tables_read(*, needs_rows: bool = False) -> Iterator[list[TableRead]]:
    """While a tool runs: the list fills with the tables that it reads; one without rows is refused where it needs
    some, and named where the tool cannot serve it. Raises DataError."""
    read: list[TableRead] = []
    token = _tables_read.set((read, needs_rows))
    try:
        yield read
    except ArgumentError as error:
        empty = next((table for table in read if not table.height), None)
        if empty is None:
            raise
        raise DataError(f"{empty.path.name} has no rows: {error}") from error
    finally:
        _tables_read.reset(token)


def width_of(table: Table) -> int:
    """The number of columns without those that only qualify another one."""
    return len(table.columns) - len(table.qualifiers)


def read_table(context: ToolContext, path: str | Path) -> Table:
    """The table in a data file of the workspace; `path#name` is the table `name` of a file that holds several.

    Raises PathError for a path that cannot be used, and DataError, naming file and line, where the content cannot be
    read as one table without guessing.
    """
    resolved, wanted = addressed(context.workspace, path)
    context.report(f"reading {resolved.name}", None, None)
    from outcrop_specialists.reading.cache import read_cached

    table = read_cached(context.workspace, resolved, wanted, lambda: _read(context, resolved, wanted))
    is_named = table_of(table.path) == table.name
    table = table if is_named else replace(table, path=TablePath.of(resolved, table.name))
    asked = _tables_read.get()
    if asked is not None:
        read, needs_rows = asked
        if needs_rows and not table.height:
            raise DataError(
                f"{table.path.name}: has {width_of(table)} columns but no rows, so there is nothing to work on; the "
                "step that made it left none: look at its condition"
            )
        read.append(TableRead(table.path, width_of(table), table.height))
    return table


def _read(context: ToolContext, resolved: Path, wanted: str) -> Table:
    name = resolved.name
    head = _head(resolved)
    for magic, what in NOT_YET_READABLE.items():
        if head.startswith(magic):
            raise DataError(f"{name}: is {what}, not a table that can be read")
    from outcrop_specialists.reading.packed import is_packed, read_packed
    from outcrop_specialists.reading.several import single

    if is_packed(resolved, head):
        return read_packed(resolved, head, context.scratch, wanted, lambda plain, name: _read(context, plain, name))
    if head.startswith(b"PAR1"):
        return single(resolved, _read_parquet(resolved), wanted)
    if head.startswith(WORKBOOKS):
        from outcrop_specialists.reading.excel import read_excel

        table = read_excel(resolved, wanted)
        return replace(table, read_as={"format": "workbook", **table.read_as})
    written = _read_written(resolved)
    if written is not None:
        return single(resolved, written, wanted)
    from outcrop_specialists.reading.text import read_text

    return read_text(resolved, wanted)


def begins_as_workbook(path: Path) -> bool:
    """Whether the file is a workbook, by its first bytes."""
    return _head(path).startswith(WORKBOOKS)


def begins_packed(path: Path) -> bool:
    """Whether the file is compressed, by its first bytes."""
    from outcrop_specialists.reading.packed import is_packed

    return is_packed(path, _head(path))


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
    from outcrop_specialists.reading.totals import note_statistics
    from outcrop_specialists.reading.types import Typed, note_sentinels
    from outcrop_specialists.reading.written import read_written

    found = read_written(path)
    if found is None:
        return None
    frame = found.frame
    if frame.is_empty():
        how = {"format": "text", "written_by": "Outcrop"}
        note = "has no rows: the work that made it left none"
        return Table(path, frame, (note,), found.units, found.qualifiers, found.substituted, read_as=how)
    typed = Typed()
    note_sentinels(frame.get_columns(), typed)
    return Table(
        path,
        frame,
        (*note_statistics(frame.get_columns()[:2]), *typed.notes()),
        found.units,
        found.qualifiers,
        found.substituted,
        read_as={"format": "text", "written_by": "Outcrop"},
    )


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
    return Table(path, whole, tuple(notes), read_as={"format": "parquet"})
