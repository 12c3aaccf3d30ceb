"""Tool: describes a table column by column without showing a row."""

from __future__ import annotations

from itertools import islice
from typing import Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.reading.listing import tables_of
from outcrop_specialists.reading.report import short_report
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.inspection.preview import further_names

HEADER_FACTS, HEADER_CHARS = 20, 80
"""What a file says above its rows (a well's name, a client): so much of it is told."""
TABLES = 20


class Arguments(ToolArguments):
    path: str = Field(
        description="The data file; FILE#NAME is a sheet, section or block of a file with several tables."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    table = read_table(context, arguments.path)
    profiles = profile_table(table)
    shown = profiles[: limits.PROFILE_COLUMNS]
    results: dict[str, Any] = {
        "path": arguments.path,
        "rows": table.frame.height,
        "columns": [profile.as_json() for profile in shown],
        "more_columns": len(profiles) - len(shown),
    }
    if len(profiles) > len(shown):
        results |= further_names([profile.name for profile in profiles[len(shown) :]])
    results["reading"] = short_report(table)
    if table.header:
        results["header"] = dict(
            islice(((key, value[:HEADER_CHARS]) for key, value in table.header.items()), HEADER_FACTS)
        )
    if table.name:
        results["table"] = table.name
        results["tables"] = [found.as_json() for found in tables_of(table.path)[:TABLES]]
    summary = f"{table.path.name}: {table.frame.height} rows, {len(profiles)} columns"
    beyond = [profile for profile in profiles if profile.censored]
    if beyond:
        summary += f"; {sum(each.censored for each in beyond)} results in {len(beyond)} columns are beyond a limit"
    return ToolResult(summary=summary, results=results, notes=list(table.notes))


TOOL = Tool(
    name="inspect_dataset",
    version=1,
    description="Describes a table: number of rows, and for each column its type, role, unit, missing and distinct "
    "values, range and results beyond a detection limit.",
    asked_for=(
        "inspect data",
        "profile columns",
        "what columns are there",
        "data types",
        "overview",
        "look at a file",
        "list columns",
        "column names",
        "show the columns",
        "how many rows are there",
        "number of rows",
        "total number of samples",
    ),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
)
