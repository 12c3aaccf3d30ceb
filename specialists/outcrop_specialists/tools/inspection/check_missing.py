"""Tool: counts the missing values of a table, column by column."""

from __future__ import annotations

from pydantic import Field

from outcrop_specialists.columns.profile import column_type
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult

COLUMNS_SHOWN = 100


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Columns with gaps, those with most first. Percentages are not rounded: a small gap never reads as none."""
    table = read_table(context, arguments.path)
    rows = table.frame.height
    gaps = [
        {
            "name": column.name,
            "type": column_type(column),
            "missing": column.null_count(),
            "missing_percent": 100 * column.null_count() / rows,
        }
        for column in table.frame.get_columns()
        if column.null_count()
    ]
    gaps.sort(key=lambda gap: -int(str(gap["missing"])))
    cells = sum(int(str(gap["missing"])) for gap in gaps)
    results = {
        "path": arguments.path,
        "rows": rows,
        "missing_cells": cells,
        "columns": gaps[:COLUMNS_SHOWN],
        "complete_columns": table.frame.width - len(gaps),
    }
    if len(gaps) > COLUMNS_SHOWN:
        results["more_columns"] = len(gaps) - COLUMNS_SHOWN
    found = f"{cells} missing cells in {len(gaps)} of {table.frame.width} columns" if gaps else "no missing cells"
    return ToolResult(summary=f"{table.path.name}: {rows} rows, {found}", results=results, notes=list(table.notes))


TOOL = Tool(
    name="check_missing",
    version=1,
    description="Counts missing values per column.",
    asked_for=(
        "check missing values",
        "find gaps",
        "count nulls",
        "completeness",
        "empty cells",
        "NA counts",
        "missing data",
        "missing values",
        "missing anything",
    ),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
)
