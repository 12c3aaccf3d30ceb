"""Tool: looks closely at chosen columns: figures, unique values and how often each comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_specialists.columns.censoring import missing_count
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.profile import column_type
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl

VALUE_CHARS = 60
RECORDS_CHARS = 800


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, max_length=200, description="Columns to look at.", json_schema_extra={"x-role": "columns"}
    )
    most_values: int = Field(
        default=10,
        ge=0,
        le=limits.COMPLETE_LIST_RECORDS,
        description="Values told of each column, the commonest first.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for unknown columns."""
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns, "columns")
    counts = {name: _counts(table.column(name)) for name in names}
    figures = {name: _figures(table, name, counts[name]) for name in names}
    listed = {name: {**figures[name], **_values(counts[name], arguments.most_values)} for name in names}
    file = put_figures(
        context,
        TOOL,
        table,
        features.parameters(arguments, columns=names),
        _frame(counts),
        f"Values of {named(names)} of {table.path.name} and how often each comes",
    )
    shown, more = fitting(listed, RECORDS_CHARS)
    results: dict[str, Any] = {
        "rows": table.height,
        "columns": shown,
        "rule": "missing values counted apart and no value; sd with n - 1; median linear; every value is in the file",
    }
    if more:
        results["not_shown"] = f"{more} further columns; every value of them is in {file.artifact.path}"
    told = named([_told(name, figures[name]) for name in names], 4, 120)
    return ToolResult(f"{told}{suspicions(table, names)}", results, [file.artifact], list(table.notes))


def _counts(column: pl.Series) -> pl.DataFrame:
    """Every value with its count, the commonest first, equal ones in the order of the values."""
    return (
        column.drop_nulls().rename("value").value_counts(name="count").sort("count", "value", descending=[True, False])
    )


def _figures(table: Table, name: str, counts: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    column = table.column(name)
    record: dict[str, Any] = {
        "type": column_type(column),
        "unit": unit_of(name, table.units),
        "missing": missing_count(table, name),
        "distinct": counts.height,
    }
    if column.dtype.is_numeric():
        from outcrop_specialists.columns.choice import numeric

        values = numeric(table, name).drop_nulls()
        record |= {
            "mean": values.mean(),
            "sd": values.std(),
            "min": values.min(),
            "median": values.quantile(0.5, "linear"),
            "max": values.max(),
            # A column of numbers may hold none: all missing, or all below limits that are not said.
            "rows_at_min": int((values == values.min()).sum()) if len(values) else None,
        }
    elif column.dtype.is_temporal() and counts.height:
        record |= {"min": str(column.min()), "max": str(column.max())}
    elif column.dtype == pl.String:
        filled = column.drop_nulls()
        outer = int((filled != filled.str.strip_chars()).sum())
        folded = filled.str.strip_chars().str.to_lowercase().n_unique()
        record |= {"distinct_ignoring_case": folded} if folded < counts.height else {}
        record |= {"with_outer_blanks": outer} if outer else {}
    return {key: value for key, value in record.items() if value is not None}


def _values(counts: pl.DataFrame, most: int) -> dict[str, Any]:
    """The commonest values with their counts. Where no value comes twice the first ones would say nothing: none."""
    if not most or not counts.height or (counts.height > most and counts["count"][0] == 1):
        return {}
    first = {_text(value): count for value, count in counts.head(most).iter_rows()}
    shown, _ = fitting(first, RECORDS_CHARS // 2, most)
    more = counts.height - len(shown)
    return {"values": shown, **({"more_values": more} if more else {})}


def _text(value: Any) -> str:
    text = str(value)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"


def _frame(counts: dict[str, pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(
        each.select(pl.lit(name).alias("column"), pl.col("value").cast(pl.String), pl.col("count").cast(pl.Int64))
        for name, each in counts.items()
    )


def _told(name: str, figures: dict[str, Any]) -> str:
    if "mean" in figures:
        spread = f"{figures['min']:.6g} to {figures['max']:.6g}"
        return f"{name}: mean {figures['mean']:.6g}, {spread}, {figures['missing']} missing"
    return f"{name}: {figures['distinct']} distinct values, {figures['missing']} missing"


TOOL = Tool(
    name="inspect_columns",
    version=1,
    description=(
        "Looks closely at chosen columns: type, unit, missing, distinct values, mean, sd, range, and the commonest "
        "values with their counts. Every value with its count goes to a CSV."
    ),
    asked_for=(
        "inspect specific columns",
        "look closely at columns",
        "details of these columns",
        "column details",
    ),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        details of one field; profile of a single column; zoom in on a variable; examine these attributes; range
        and commonest entries of a field; what is in this column; statistics and top categories of the variable;
        drill into a column; tell me about the field; characterise a variable; look at particular columns only;
        value counts with mean and range; more on this attribute; focus on a few fields; deep dive into a
        column; explain the column; which entries dominate in the field; full picture of one parameter; go
        deeper into one element; what is this attribute like; only this field and nothing else; more about one
        column; take a closer look at; closer examination; explore one variable; details on; focus on one
        parameter; what values does it hold and how many; particulars of a field; look into the column
        """
    ),
)
