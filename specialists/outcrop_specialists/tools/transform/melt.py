"""Tool: from wide to long: a row for each value of several columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import censoring
from outcrop_specialists.columns.choice import find_columns, numeric
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 500_000_000


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    id_columns: list[str] = Field(
        min_length=1, description="Columns that are repeated on every row, such as the sample and its place."
    )
    value_columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns that become rows; all others if not given.",
        json_schema_extra={"x-role": "columns"},
    )
    variable_name: str = Field(default="variable", min_length=1, description="Column for the names, such as element.")
    value_name: str = Field(default="value", min_length=1, description="Column for the values.")
    drop_missing: bool = Field(default=False, description="Whether rows without a value are left out (counted).")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A row of the table gives a row for each value column, column after column; a `unit` column where units are known.

    Raises ArgumentError where value columns are of several kinds, or a name is taken.
    """
    import polars as pl

    table = read_table(context, arguments.path)
    ids = find_columns(table, arguments.id_columns, "id_columns")
    values = _value_columns(table, arguments.value_columns, ids)
    for field, name in (("variable_name", arguments.variable_name), ("value_name", arguments.value_name)):
        if name in ids or arguments.variable_name == arguments.value_name:
            raise ArgumentError(field, f"{name!r} is used already; give another name")
    if table.frame.height * len(values) > MOST_ROWS:
        raise ArgumentError(
            "value_columns", f"would give {table.frame.height * len(values):,} rows; name fewer columns"
        )
    wide = table.frame.select(ids).with_columns(_columns(table, values))
    long = wide.unpivot(on=values, index=ids, variable_name=arguments.variable_name, value_name=arguments.value_name)
    units = {name: unit for name in values if (unit := unit_of(name, table.units))}
    notes = list(table.notes)
    if units and "unit" not in long.columns:
        long = long.with_columns(
            pl.col(arguments.variable_name).replace_strict(units, default=None, return_dtype=pl.String).alias("unit")
        )
    kinds = sorted(set(units.values()))
    if len(kinds) > 1:
        notes.append(f"values are in several units ({bounded.named(kinds)}), each in the column unit")
    missing = long.get_column(arguments.value_name).null_count()
    if arguments.drop_missing:
        long = long.drop_nulls(arguments.value_name)
    if missing:
        notes.append(f"{missing} rows without a value are {'left out' if arguments.drop_missing else 'kept'}")
    published = publish_table(context, TOOL, table, arguments, long, f"{table.path.name} in long form")
    return ToolResult(
        f"{table.frame.height} rows of {len(values)} columns became {long.height} rows",
        {
            "rows_before": table.frame.height,
            "rows_after": long.height,
            "value_columns": len(values),
            "named": bounded.named(values),
            "missing": missing,
            "columns": bounded.named(long.columns),
            "path": published.artifact.path,
        },
        [published.artifact],
        notes,
    )


def _value_columns(table: Table, wanted: list[str] | None, ids: list[str]) -> list[str]:
    if wanted is None:
        qualifiers = censoring.qualifier_columns(table)
        names = [name for name in table.frame.columns if name not in ids and name not in qualifiers]
    else:
        names = find_columns(table, wanted, "value_columns")
    if not names:
        raise ArgumentError("value_columns", "every column is an id column; none is left to become rows")
    twice = next((name for name in names if name in ids), None)
    if twice is not None:
        raise ArgumentError("value_columns", f"{twice!r} is an id column")
    return names


def _columns(table: Table, names: list[str]) -> list[pl.Series]:
    """The value columns with one type: whole numbers stay so where all are."""
    import polars as pl

    types = {name: table.frame.schema[name] for name in names}
    numbers = [name for name, kind in types.items() if kind.is_numeric()]
    if len(numbers) == len(names):
        if all(kind.is_integer() for kind in types.values()) and not set(names) & set(table.qualifiers):
            return [table.frame.get_column(name).cast(pl.Int64) for name in names]
        return [numeric(table, name, "value_columns") for name in names]
    if len(set(types.values())) > 1:
        others = [name for name in names if name not in numbers]
        raise ArgumentError(
            "value_columns",
            f"are of several kinds: numbers in {bounded.named(numbers) or 'none'}, others in {bounded.named(others)}; "
            "name columns of one kind",
        )
    return [table.frame.get_column(name) for name in names]


TOOL = Tool(
    name="melt",
    version=1,
    description="Turns a wide table into a long one: a row for each value of several columns, with the name of its "
    "column and its unit.",
    asked_for=("melt", "unpivot", "wide to long", "reshape to long", "one row per element", "gather columns into rows"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        long format; stack the element columns; tidy data; columns into rows; one measurement per row; gather;
        name-value pairs; flatten a wide table; list of results; lengthen; key-value; tall table; each analyte
        as its own line; prepare for a database import; wide matrix to a list; one observation per record;
        unstack the header into a field; columns of months into rows; parameter and result fields; from crosstab
        to list; turn the headers into values; turn the headings into a field; matrix into a flat list; flat
        list for our database; one line per sample and element; columns become rows; list form; element names
        into one column; single value column; one result per line; from wide to tall; restructure for plotting;
        normalise the table for the database; flatten; variable and value; unroll; one record for each
        measurement
        """
    ),
)
