"""Tool: puts the rows of several tables below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.columns.units import is_same_unit
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.publish import relative
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made
from outcrop_specialists.tools.transform.keys import as_text

if TYPE_CHECKING:
    import polars as pl

MOST_FILES = 1_000


class Arguments(ToolArguments):
    paths: list[str] = Field(min_length=2, max_length=MOST_FILES, description="The data files, in order.")
    columns: Literal["same", "all", "common"] = Field(
        default="same",
        description="same: every file must have the same columns; all: those of any file, missing where a file has "
        "none; common: only those of every file.",
    )
    source_column: str | None = Field(
        default="source", description="Column that says which file a row is from; none if null."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Columns are matched by name, also where only case or outer blanks differ (noted); the first file's names and
    order lead. Whole numbers beside decimals become decimals, numbers beside text become text (noted).

    Raises ArgumentError where columns differ though they must not, and where a column has two units.
    """
    import polars as pl

    tables = []
    for done, path in enumerate(arguments.paths):
        context.report(f"reading {path}", done, len(arguments.paths))
        tables.append(read_table(context, path))
    if len({table.path for table in tables}) < len(tables):
        raise ArgumentError("paths", "a file is named twice")
    notes = [f"{table.path.name}: {note}" for table in tables for note in table.notes]
    tables = _with_first_names(tables, notes)
    names, lacking = _names(tables, arguments)
    _refuse_units(tables, names)
    types = {name: _type(name, tables, notes) for name in names}
    source = arguments.source_column
    if source is not None and source in names:
        raise ArgumentError("source_column", f"{source!r} is a column already; give another name")
    parts = []
    for table in tables:
        part = pl.DataFrame([_column(table, name, types[name]) for name in names])
        if source is not None:
            part = part.insert_column(
                0, pl.Series(source, [relative(context, table.path)]).new_from_index(0, part.height)
            )
        parts.append(part)
    frame = pl.concat(parts)
    units = {name: unit for table in reversed(tables) for name, unit in table.units.items() if name in names}
    qualifiers = {a: q for table in tables for a, q in table.qualifiers.items() if a in names and q in names}
    substituted = {a: method for table in tables for a, method in table.substituted.items() if a in qualifiers}
    stacked = Table(tables[0].path, frame, (), units, qualifiers, substituted)
    title = f"{len(tables)} tables below each other"
    published = made.publish_made(context, TOOL, [table.path for table in tables], arguments, stacked, title)
    rows = {table.path.name: table.frame.height for table in tables}
    return ToolResult(
        f"{frame.height} rows of {len(tables)} files with {len(names)} columns",
        {
            "rows_after": frame.height,
            "rows_of": bounded.fitting(rows, made.SHOWN_CHARS)[0],
            "files": len(tables),
            "columns": len(names),
            "not_in_every_file": len(lacking),
            "path": published.artifact.path,
        },
        [published.artifact],
        [*_bounded(notes), *([_lacking_note(lacking, arguments)] if lacking else [])],
    )


def _with_first_names(tables: list[Table], notes: list[str]) -> list[Table]:
    """Each table with its columns called as the first table that has them calls them."""
    known: dict[str, str] = {}
    found = []
    for table in tables:
        renamed: dict[str, str] = {}
        for name in table.frame.columns:
            first = known.setdefault(_key(name), name)
            if first != name and name not in known.values() and first not in table.frame.columns:
                renamed[name] = first
        if renamed:
            told = [f"{old!r} as {new!r}" for old, new in renamed.items()]
            notes.append(f"{table.path.name}: columns taken for those of an earlier file: {bounded.named(told)}")
        found.append(_renamed(table, renamed))
    return found


def _renamed(table: Table, renamed: dict[str, str]) -> Table:
    def new(name: str) -> str:
        return renamed.get(name, name)

    return Table(
        table.path,
        table.frame.rename(renamed),
        table.notes,
        {new(name): unit for name, unit in table.units.items()},
        {new(name): new(q) for name, q in table.qualifiers.items()},
        {new(name): method for name, method in table.substituted.items()},
    )


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _names(tables: list[Table], arguments: Arguments) -> tuple[list[str], list[str]]:
    """The columns of the result, and those that not every file has."""
    every = list(dict.fromkeys(name for table in tables for name in table.frame.columns))
    lacking = [name for name in every if any(name not in table.frame.columns for table in tables)]
    # A file without results beyond a limit has no column of qualifiers, and needs none.
    qualifiers = {q for table in tables for q in table.qualifiers.values()}
    lacking = [name for name in lacking if name not in qualifiers]
    if lacking and arguments.columns == "same":
        first = next(table for table in tables if lacking[0] not in table.frame.columns)
        raise ArgumentError(
            "columns",
            f"{len(lacking)} columns are not in every file: {bounded.named(lacking)} ({first.path.name} lacks "
            f"{bounded.named([lacking[0]])}); all keeps them, common leaves them out",
        )
    names = every if arguments.columns != "common" else [name for name in every if name not in lacking]
    if not set(names) - qualifiers:
        raise ArgumentError("columns", "the files have no column in common")
    return names, lacking


def _refuse_units(tables: list[Table], names: list[str]) -> None:
    for name in names:
        units = [(table.path.name, unit) for table in tables if (unit := unit_of(name, table.units))]
        other = next((each for each in units[1:] if not is_same_unit(each[1], units[0][1])), None)
        if other is not None:
            raise ArgumentError(
                "paths",
                f"{name!r} is in {units[0][1]} in {units[0][0]} and in {other[1]} in {other[0]}; convert one first",
            )


def _type(name: str, tables: list[Table], notes: list[str]) -> pl.DataType:
    """The type that holds this column of every table."""
    import polars as pl

    kinds: dict[pl.DataType, str] = {}
    for table in tables:
        column = table.frame.get_column(name) if name in table.frame.columns else None
        if column is not None and column.null_count() < len(column):
            kinds.setdefault(column.dtype, table.path.name)
    if len(kinds) <= 1:
        return next(iter(kinds), pl.String())
    if all(kind.is_integer() for kind in kinds):
        return pl.Int64()
    if all(kind.is_numeric() for kind in kinds):
        return pl.Float64()
    told = [f"{kind} in {file}" for kind, file in kinds.items()]
    notes.append(f"{name!r} became text, because it is {bounded.named(told)}")
    return pl.String()


def _column(table: Table, name: str, kind: pl.DataType) -> pl.Series:
    import polars as pl

    height = table.frame.height
    if name not in table.frame.columns:
        return pl.Series(name, [None], dtype=kind).new_from_index(0, height)
    column = table.frame.get_column(name)
    if kind == pl.String and column.dtype != pl.String:
        return as_text(column).alias(name)
    return column.cast(kind)


def _lacking_note(lacking: list[str], arguments: Arguments) -> str:
    fate = "left out" if arguments.columns == "common" else "missing where a file has none"
    return f"not in every file, so {fate}: {bounded.named(lacking)}"


def _bounded(notes: list[str]) -> list[str]:
    return notes if len(notes) <= 8 else [*notes[:8], f"{len(notes) - 8} more notes of this kind"]


TOOL = Tool(
    name="stack_tables",
    version=1,
    description="Puts the rows of several files with the same columns below each other, with a column that says which "
    "file a row is from, and writes the table.",
    asked_for=(
        "stack tables",
        "stack",
        "append",
        "concatenate files",
        "append the files",
        "append rows",
        "put files below each other",
        "combine files with the same columns",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        one below the other; concatenate; union; pile up; put the batches together; combine several deliveries;
        merge files of the same layout; one table from many files; all years in one; append records; identical
        columns; join vertically; several campaigns; glue files end to end; monthly files into one; collect
        sheets; multiple certificates; row bind; rbind; bulk import; consolidate the batches; same format;
        extend the table with new records; add the latest results at the bottom; unify the yearly exports;
        assemble all sheets; compile the lab batches; glue quarterly exports into one; four campaigns share a
        layout; one long table; same layout; several files into one; all campaigns together; one file out of
        many; sheets below each other; join the years; identical structure; add new rows; six files; pool the
        batches; put campaigns together; one after another; string together; make one big file; merge all months
        """
    ),
)
