"""Tool: from long to wide: a column for each value of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl

How = Literal["refuse", "first", "last", "mean", "median", "sum", "min", "max", "count"]
MOST_COLUMNS = 5_000
ORDERED = ("refuse", "first", "last")


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    index: list[str] = Field(min_length=1, description="Columns that name a row of the new table, such as the sample.")
    columns: str = Field(
        description="Column whose values become columns, such as the element.", json_schema_extra={"x-role": ""}
    )
    values: list[str] = Field(min_length=1, description="Columns that fill the new table, such as the result.")
    duplicates: How = Field(
        default="refuse",
        description="Where several rows meet in one cell: refuse, the first or last in the file, or a figure of them.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Rows and columns stand in the order of their first row in the file; a cell without a row is missing.

    Raises ArgumentError where rows meet in one cell unless it is said what becomes of them, and for more than 5,000
    new columns.
    """
    import polars as pl

    table = read_table(context, arguments.path)
    index = find_columns(table, arguments.index, "index")
    key = find_column(table, arguments.columns, "columns")
    values = find_columns(table, arguments.values, "values")
    _refuse_overlap(index, key, values)
    frame, unnamed = _long(table, index, key, values, arguments.duplicates)
    keys = frame.get_column("key").unique(maintain_order=True).to_list()
    if len(keys) * len(values) > MOST_COLUMNS:
        raise ArgumentError("columns", f"{key!r} has {len(keys):,} values; at most {MOST_COLUMNS:,} columns are made")
    cells = frame.group_by([*_inner(index), "key"], maintain_order=True).agg(
        *(_figure(pl.col(f"v{number}"), arguments.duplicates) for number in range(len(values))), pl.len().alias("rows")
    )
    crowded = cells.filter(pl.col("rows") > 1)
    if crowded.height and arguments.duplicates == "refuse":
        raise ArgumentError(
            "duplicates",
            f"{crowded.height} cells of the new table have several rows ({crowded['rows'].sum()} in all); say what "
            f"becomes of them, or add a column to index",
        )
    wide = _wide(cells, index, keys, values, key)
    published = publish_table(context, TOOL, table, arguments, wide, f"{table.path.name} with a column per {key}")
    empty = wide.height * len(keys) - cells.height
    notes = list(table.notes)
    if unnamed:
        notes.append(f"{unnamed} rows without a value in {bounded.named([key])} are left out")
    if crowded.height:
        notes.append(f"{crowded.height} cells had several rows: {arguments.duplicates} of them taken")
    return ToolResult(
        f"{table.frame.height} rows became {wide.height} rows with {len(keys) * len(values)} new columns; "
        f"{empty} cells have no row",
        {
            "rows_before": table.frame.height,
            "rows_after": wide.height,
            "new_columns": bounded.named(wide.columns[len(index) :]),
            "cells_without_row": empty,
            "cells_with_several_rows": crowded.height,
            "rows_left_out": unnamed,
            "rule": f"several rows in a cell: {arguments.duplicates}",
            "path": published.artifact.path,
        },
        [published.artifact],
        notes,
    )


def _refuse_overlap(index: list[str], key: str, values: list[str]) -> None:
    for field, taken in (("columns", index), ("values", [*index, key])):
        twice = [name for name in ([key] if field == "columns" else values) if name in taken]
        if twice:
            raise ArgumentError(field, f"{twice[0]!r} is used twice; a column is index, columns or values")


def _inner(index: list[str]) -> list[str]:
    return [f"i{number}" for number in range(len(index))]


def _long(table: Table, index: list[str], key: str, values: list[str], how: How) -> tuple[pl.DataFrame, int]:
    """Index, key (as text) and values under names of our own, and how many rows without a key were left out."""
    import polars as pl

    columns = {f"i{number}": table.frame.get_column(name) for number, name in enumerate(index)}
    columns["key"] = table.frame.get_column(key).cast(pl.String)
    for number, name in enumerate(values):
        is_text = how in (*ORDERED, "count") and not table.frame.schema[name].is_numeric()
        columns[f"v{number}"] = table.frame.get_column(name) if is_text else _number(table, name)
    frame = pl.DataFrame(columns)
    named = frame.drop_nulls("key")
    if named.is_empty():
        raise ArgumentError("columns", f"{key!r} holds no value")
    return named, frame.height - named.height


def _number(table: Table, name: str) -> pl.Series:
    column = table.frame.get_column(name)
    return column if column.dtype.is_integer() and name not in table.qualifiers else numeric(table, name, "values")


def _figure(column: pl.Expr, how: How) -> pl.Expr:
    import polars as pl

    if how == "refuse":
        return column.first()
    made: dict[How, Any] = {
        "first": pl.Expr.first, "last": pl.Expr.last, "mean": pl.Expr.mean, "median": pl.Expr.median,
        "min": pl.Expr.min, "max": pl.Expr.max, "count": pl.Expr.count,
    }  # fmt: skip
    if how == "sum":
        # The sum of nothing but missing values is missing, not 0.
        return pl.when(column.count() > 0).then(column.sum()).alias(column.meta.output_name())
    return made[how](column)  # type: ignore[no-any-return]


def _wide(cells: pl.DataFrame, index: list[str], keys: list[str], values: list[str], key: str) -> pl.DataFrame:
    """One left join per new column would be slow: polars pivots, names are given afterwards."""
    inner = _inner(index)
    wide: pl.DataFrame | None = None
    for number, value in enumerate(values):
        part = cells.select(*inner, "key", f"v{number}").pivot("key", index=inner, values=f"v{number}")
        names = {each: each if len(values) == 1 else f"{value}_{each}" for each in keys}
        rows = part.select(keys).rename(names)
        clash = set(rows.columns) & set(index)
        if clash:
            raise ArgumentError("columns", f"a value of {key!r} has the name of an index column: {min(clash)!r}")
        before = part.select(inner).rename(dict(zip(inner, index, strict=True))) if wide is None else wide
        wide = before.hstack(rows)
    assert wide is not None
    return wide


TOOL = Tool(
    name="pivot",
    version=1,
    description="Turns a long table into a wide one: a row per index value, a column per value of a column; refuses or "
    "aggregates where several rows meet in a cell.",
    asked_for=(
        "pivot",
        "pivot table",
        "long to wide",
        "reshape to wide",
        "one column per element",
        "spread into columns",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        spread; wide format; crosstab; cross-tabulation; one field per analyte; parameters as columns; unstack;
        matrix of samples and elements; long list to a table; rows into columns; each element in its own column;
        lab export with one line per result; samples as rows and analytes across; transpose the parameters;
        reorganise results by parameter; dates down, stations across; widen; turn measurement records side by
        side; database dump with name and value fields; from key-value to table; two-way table; one line for
        every analyte; parameters across the top; samples down the side; want a matrix; turn lines into columns;
        separate columns for each parameter; results of one sample in one row; element names as columns; from
        list to matrix; bring to a table with one row for each sample; across; each parameter a column; lab
        delivers result by result; rearrange rows to columns
        """
    ),
)
