"""Tool: looks into a table: a few rows, counts of values, figures of columns, how many rows meet a condition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.claims import Claim
from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.columns.censoring import as_written, with_qualifiers
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.expressions.computing import ALLOWED, rows_where
from outcrop_specialists.reading.tables import Table, read_table, width_of
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.inspection.conditions import Operator, Value, rows_that_meet
from outcrop_specialists.tools.inspection.preview import cell, cut, preview
from outcrop_specialists.tools.statistics.ordered import percentiles_of

if TYPE_CHECKING:
    import polars as pl

DEFAULT_ROWS = 5
TOLD_VALUES = 10
CONDITION_CHARS = 200
DEFAULT_VALUES = 20
WIDE_CHARS = 450
"""Rows of a wide table take so much of its answer: as many columns as fit; further ones can be named."""


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    operation: Literal["head", "tail", "sample", "value_counts", "describe", "filter_count"] = Field(
        description="head, tail and sample show rows; value_counts counts the values of a column; describe gives n, "
        "mean, sd and quartiles; filter_count counts rows that meet the condition."
    )
    columns: list[str] | None = Field(default=None, min_length=1, description="Columns to look at; all if not given.")
    n: int | None = Field(
        default=None,
        ge=1,
        description=f"Rows or values wanted ({DEFAULT_ROWS} rows, {DEFAULT_VALUES} values if not given); at most "
        f"{limits.PREVIEW_ROWS} are shown, the rows wanted are written to a file.",
    )
    seed: int = Field(default=42, ge=0, description="Seed of the sample.")
    filter_column: str | None = Field(
        default=None, description="Look only at rows where this column meets the condition."
    )
    operator: Operator | None = Field(default=None, description="How filter_column is compared with value.")
    value: Value = Field(default=None, description="What filter_column is compared with.")
    expression: str | None = Field(
        default=None, description=f"A condition over several columns, instead of filter_column. {ALLOWED}"
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """At most 20 rows are shown, whatever is asked for, and all that are asked for written to a file; counts and
    figures are of all rows that meet the condition."""
    table = read_table(context, arguments.path)
    columns = find_columns(table, arguments.columns) if arguments.columns else table.columns
    part, notes = _filtered(table, with_qualifiers(table, columns), arguments)
    results: dict[str, Any] = {"path": arguments.path, "rows": table.height}
    if arguments.filter_column is not None or arguments.expression is not None:
        results["rows_that_meet"] = part.height
    artifacts: list[Artifact] = []
    doubts = ""
    match arguments.operation:
        case "head" | "tail" | "sample":
            chosen = _rows(part, with_qualifiers(table, columns), arguments)
            room = WIDE_CHARS if width_of(table) > limits.SMALL_TABLE_COLUMNS else None
            results |= {**preview(chosen, limits.PREVIEW_ROWS, room), "n_rows": chosen.height}
            artifacts = _published(context, table, arguments, chosen)
            results["file"] = artifacts[0].path if artifacts else None
        case "value_counts":
            results |= _value_counts(part, columns, arguments)
        case "describe":
            results["columns"] = _describe(part, columns, arguments.columns is not None, notes)
            doubts = suspicions(part, [column["name"] for column in results["columns"]])
        case "filter_count":
            pass
    if (arguments.n or 0) > limits.PREVIEW_ROWS and arguments.operation not in ("filter_count", "describe"):
        notes.append(f"{arguments.n} were asked for; at most {limits.PREVIEW_ROWS} are ever shown")
    told = _told(table, arguments, part, results) + doubts
    return ToolResult(told, results, artifacts, [*table.notes, *notes], _claims(table, arguments, part, results))


def _told(table: Table, arguments: Arguments, part: Table, results: dict[str, Any]) -> str:
    """The answer in a sentence."""
    of = f"{part.height} of {table.height} rows of {table.path.name}"
    if arguments.operation == "filter_count":
        if arguments.expression is not None:
            return f"{of} meet {cut(' '.join(arguments.expression.split()), CONDITION_CHARS)}"
        value = "" if arguments.value is None else f" {arguments.value}"
        return f"{of} meet {arguments.filter_column} {arguments.operator}{value}"
    if arguments.operation == "value_counts":
        shown = ", ".join(f"{entry['value']} {entry['count']}" for entry in results["values"][:TOLD_VALUES])
        more = results["distinct"] - min(len(results["values"]), TOLD_VALUES)
        rest = f", {more} more values" if more > 0 else ""
        return f"{results['column']} in {of}: {shown or 'no values'}{rest}"
    return f"{arguments.operation} of {table.path.name}: {part.height} of {table.height} rows looked at"


def _claims(table: Table, arguments: Arguments, part: Table, results: dict[str, Any]) -> list[Claim]:
    """The counts, and the figures of a description, each with its condition."""
    path, where = arguments.path, arguments.expression
    claims = [claiming.rows(path, table.height)]
    if arguments.filter_column is not None:
        where = claiming.condition(find_column(table, arguments.filter_column), arguments.operator, arguments.value)
        if where is None:
            return claims
    if where is not None:
        claims.append(claiming.rows(path, part.height, where))
    if arguments.operation == "value_counts":
        name = results["column"]
        for each in results["values"]:
            is_whole = not isinstance(each["value"], str) or not each["value"].endswith("…")
            if where is None and is_whole and name not in table.qualifiers:
                claims.append(Claim(path=path, statistic="rows", group={name: each["value"]}, value=each["count"]))
    return claims


def _filtered(table: Table, columns: list[str], arguments: Arguments) -> tuple[Table, list[str]]:
    """The rows that meet the condition, with the columns wanted; the table itself where there is no condition."""
    if arguments.expression is not None:
        if (arguments.filter_column, arguments.operator, arguments.value) != (None, None, None):
            raise ArgumentError("expression", "give an expression, or filter_column, operator and value, not both")
        mask, notes = rows_where(table, arguments.expression)
        return _part(table, columns, mask), notes
    if arguments.filter_column is None:
        if arguments.operation == "filter_count" or arguments.operator is not None:
            raise ArgumentError("filter_column", "is needed for a condition, with operator and value; or an expression")
        return table, []
    if arguments.operator is None:
        raise ArgumentError("operator", "is needed with filter_column")
    column = find_column(table, arguments.filter_column, "filter_column")
    mask, notes = rows_that_meet(table, column, arguments.operator, arguments.value)
    return _part(table, [column] if arguments.operation == "filter_count" else columns, mask), notes


def _part(table: Table, columns: list[str], mask: pl.Series) -> Table:
    """The rows of the mask. The first two columns stay too: a row of totals is known by them."""
    wanted = list(dict.fromkeys([*table.columns[:2], *columns]))
    return replace(table, frame=table.select(wanted).filter(mask))


def _rows(table: Table, columns: list[str], arguments: Arguments) -> pl.DataFrame:
    wanted = min(arguments.n or DEFAULT_ROWS, table.height)
    if arguments.operation == "head":
        return table.slice(0, wanted, columns)
    if arguments.operation == "tail":
        return table.slice(-wanted, wanted, columns) if wanted else table.slice(0, 0, columns)
    return table.select(columns).sample(wanted, seed=arguments.seed)


def _published(context: ToolContext, table: Table, arguments: Arguments, chosen: pl.DataFrame) -> list[Artifact]:
    """The rows as a file for the person who asked; none where there is no row."""
    if chosen.is_empty():
        return []
    title = f"{arguments.operation} of {table.path.name}: {many(chosen.height, 'row')}"
    return [publish_table(context, TOOL, table, arguments, chosen, title).artifact]


def _value_counts(table: Table, columns: list[str], arguments: Arguments) -> dict[str, Any]:
    """The commonest values, equally common ones in the order of the file, and how many there are."""
    if arguments.columns is None or len(columns) > 1:
        raise ArgumentError("columns", "value_counts needs one column")
    name = columns[0]
    column = as_written(table, name) if name in table.qualifiers else table.column(name)
    filled = column.drop_nulls().alias("value")
    counts = filled.to_frame().group_by("value", maintain_order=True).len("count")
    wanted = min(arguments.n or DEFAULT_VALUES, limits.PREVIEW_ROWS)
    top = counts.sort("count", descending=True, maintain_order=True).head(wanted)
    found: dict[str, Any] = {
        "column": column.name,
        "missing": column.null_count(),
        "distinct": counts.height,
        "values": [{"value": cell(value), "count": count} for value, count in top.iter_rows()],
    }
    if top.height < counts.height:
        found |= {"more_values": counts.height - top.height, "rows_with_more_values": len(filled) - top["count"].sum()}
    return found


def _describe(table: Table, columns: list[str], is_named: bool, notes: list[str]) -> list[dict[str, Any]]:
    """Figures of numeric columns: sd with n - 1, quartiles by linear interpolation (type 7)."""
    numbers = [name for name in columns if is_named or table.schema[name].is_numeric()]
    shown = numbers[: limits.PREVIEW_ROWS]
    if len(numbers) > len(shown):
        notes.append(f"{len(numbers) - len(shown)} more numeric columns are not described; name them")
    if len(numbers) < len(columns):
        notes.append(f"{len(columns) - len(numbers)} columns that are not numeric are left out")
    return [{"name": name, **_figures(numeric(table, name, "columns"))} for name in shown]


def _figures(column: pl.Series) -> dict[str, Any]:
    values = column.drop_nulls().sort()
    q1, median, q3 = percentiles_of(values.to_numpy(), (25, 50, 75)) if len(values) else [None] * 3
    return {
        "n": len(values),
        "missing": len(column) - len(values),
        "mean": cell(values.mean()),
        "sd": cell(values.std(ddof=1)),
        "min": cell(values.min()),
        "q1": cell(q1),
        "median": cell(median),
        "q3": cell(q3),
        "max": cell(values.max()),
    }


TOOL = Tool(
    name="query_data",
    version=2,
    description="Looks into a table: first, last or random rows (also as a file), counts of values, figures of "
    "columns, how many rows meet a condition.",
    asked_for=(
        "show rows",
        "preview the table",
        "look up values",
        "count values",
        "how many rows have",
        "how many samples",
        "count rows per",
        "first rows",
        "show the table",
        "distinct values",
        "how many of each",
        "show the data",
    ),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        peek at some records; glance at the data; head and tail; a handful of random entries; how often does
        each code occur; frequency of categories; tally; number of occurrences; unique entries; list all the
        lithologies; which values does this field take; what is the value for sample; find the record of; is
        there a sample called; what was measured at; number of records that satisfy a criterion; how many assays
        exceed; how many fall below; count those over; print a few lines; extract of the table; random subset,
        draw a subsample; most common category; last entries; raw look at the contents; which holes were
        drilled; how many holes, wells, sites or stations; how many are larger than; how many are lower than;
        quick question about the table; what does a record look like; number of analyses per laboratory, year or
        rock; which names turn up and how frequently; read me the result of one sample; pull some arbitrary
        lines; number of boreholes that went past a depth; how many are deeper than; what was the reading on
        that day; show record; get a feel for the rows; distinct codes; what different types are there; how many
        different; what is in line; list the holes; what labels are used; number of rows with; how many wells
        have more than; count of analyses above; which companies or loggers appear; tell me the assay of; lookup
        of one record; browse; see the raw values; first few; the last five; what did sample return
        """
    ),
)
