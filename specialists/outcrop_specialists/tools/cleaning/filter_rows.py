"""Tool: keeps the rows that meet a condition on one column."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.inspection.conditions import Operator, Value, rows_that_meet


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str = Field(description="The column that the condition is about.")
    operator: Operator = Field(
        description="How values are compared. contains looks for text in any case; between takes two values and "
        "includes both; in and not_in take a list; is_null and not_null take no value."
    )
    value: Value = Field(default=None, description="A number, text, true or false, a date as YYYY-MM-DD, or a list.")
    keep: Literal["matching", "others"] = Field(
        default="matching",
        description="matching keeps the rows that meet the condition; others drops them and keeps all the rest, rows "
        "with a missing value too.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    table = read_table(context, arguments.path)
    column = find_column(table, arguments.column)
    drops = arguments.keep == "others"
    mask, notes = rows_that_meet(table, column, arguments.operator, arguments.value, is_dropped=drops)
    frame = table.frame.filter(~mask if drops else mask)
    condition = " ".join(
        map(str, (column, arguments.operator, *([] if arguments.value is None else [arguments.value])))
    )
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
    )


TOOL = Tool(
    name="filter_rows",
    version=1,
    description="Keeps, or drops, the rows that meet a condition on one column (equal, greater, less, between, in a "
    "list, containing text, missing or not) and writes them as a table.",
    asked_for=("filter rows", "keep rows", "select rows where", "drop rows with", "exclude rows", "only samples with"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
)
