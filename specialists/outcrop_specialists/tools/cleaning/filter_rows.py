"""Tool: keeps the rows that meet a condition on one column, or an expression over several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.expressions.computing import ALLOWED, rows_where
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.inspection.conditions import Operator, Value, rows_that_meet
from outcrop_specialists.tools.inspection.preview import cut

if TYPE_CHECKING:
    import polars as pl

CONDITION_CHARS = 200
"""What of an expression stands in summary and title; the lineage record has all of it."""


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str | None = Field(default=None, description="The column that the condition is about.")
    operator: Operator | None = Field(
        default=None,
        description="How values are compared. contains looks for text in any case; between takes two values and "
        "includes both; in and not_in take a list; is_null and not_null take no value.",
    )
    value: Value = Field(default=None, description="A number, text, true or false, a date as YYYY-MM-DD, or a list.")
    expression: str | None = Field(
        default=None, description=f"A condition over several columns, instead of column, operator and value. {ALLOWED}"
    )
    keep: Literal["matching", "others"] = Field(
        default="matching",
        description="matching keeps the rows that meet the condition; others drops them and keeps all the rest, rows "
        "with a missing value too.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a condition that does not fit, and where none or two are given."""
    table = read_table(context, arguments.path)
    drops = arguments.keep == "others"
    mask, condition, notes = _condition(table, arguments, drops)
    condition = cut(condition, CONDITION_CHARS)
    frame = table.frame.filter(~mask if drops else mask)
    title = f"{table.path.name} {'without' if drops else 'where'} {condition}"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    if frame.is_empty():
        met = "every row meets" if drops else "no row meets"
        notes.append(f"{met} the condition; the file written holds the header only")
    removed = table.frame.height - frame.height
    told = f"{frame.height} of {table.frame.height} rows have {condition}"
    if drops:
        told = f"{removed} of {table.frame.height} rows have {condition} and were dropped, {frame.height} kept"
    return ToolResult(
        summary=told,
        results={
            "rows_before": table.frame.height,
            "rows_after": frame.height,
            "removed": removed,
            "condition": condition,
            "keep": arguments.keep,
            "path": published.artifact.path,
        },
        artifacts=[published.artifact],
        notes=[*table.notes, *notes],
        claims=[
            claiming.rows(arguments.path, table.frame.height),
            claiming.rows(published.artifact.path, frame.height),
        ],
    )


def _condition(table: Table, arguments: Arguments, drops: bool) -> tuple[pl.Series, str, list[str]]:
    """The rows that meet the condition, the condition in words, and notes."""
    if arguments.expression is not None:
        if (arguments.column, arguments.operator, arguments.value) != (None, None, None):
            raise ArgumentError("expression", "give an expression, or column, operator and value, not both")
        mask, notes = rows_where(table, arguments.expression, is_dropped=drops)
        return mask, cut(" ".join(arguments.expression.split()), CONDITION_CHARS), notes
    if arguments.column is None:
        raise ArgumentError("column", "is needed, with operator and value; or give an expression")
    column = find_column(table, arguments.column)
    if arguments.operator is None:
        raise ArgumentError("operator", "is needed with column")
    mask, notes = rows_that_meet(table, column, arguments.operator, arguments.value, is_dropped=drops)
    told = (column, arguments.operator, *([] if arguments.value is None else [arguments.value]))
    return mask, " ".join(map(str, told)), notes


TOOL = Tool(
    name="filter_rows",
    version=2,
    description="Keeps, or drops, the rows that meet a condition on one column (equal, greater, less, between, in a "
    "list, containing text, missing or not) or an expression over several, and writes them as a table.",
    asked_for=("filter rows", "keep rows", "select rows where", "drop rows with", "exclude rows", "only samples with"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        subset of the data; only the records for which; restrict to; limit to one area; keep those with; leave
        out; throw away; delete rows; discard samples; exclude a hole; select samples from one lithology; take
        only the granites; within a range; between two dates; samples deeper than; shallower than; after the
        year; before a date; where the name contains; extract records that satisfy; drop everything except;
        isolate the samples of; ignore all others; narrow down; rows without a value; remove incomplete records;
        northern part only; one project, campaign, tenement or block; matching criteria; cut the table down to;
        work with some of the records only; split off; retain the records of; omit; get rid of samples that;
        concentrate on one formation only; leave the weathered zone out; we merely want the wells from; drilled
        since; only the ones from; without the surface samples; just the samples that; limit the analysis to;
        forget about everything else; ignore the wells that; keep what lies below; use nothing but; until a
        date; not older than; from one client; omit the outliers; only those where; everything apart from; all
        but; drop the ones that; select what is in; remove samples below; younger than; of one age; from one
        area; keep only the east
        """
    ),
)
