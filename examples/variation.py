"""Tool: how much columns of numbers vary, as their coefficient of variation."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns, numeric
from outcrop_specialists.reading.tables import read_table, write_csv
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.publish import publish


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(min_length=1, description="Numeric columns.", json_schema_extra={"x-role": "columns"})


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """sd with n - 1; missing values are left out and counted. Raises ArgumentError where a mean is zero."""
    table = read_table(context, arguments.path)
    found = {}
    for name in find_columns(table, arguments.columns):
        values = numeric(table, name).drop_nulls()
        mean = values.mean()
        if not isinstance(mean, float) or mean == 0:
            raise ArgumentError("columns", f"{name!r} has the mean {mean}, by which nothing can be divided")
        found[name] = {"n": len(values), "missing": table.height - len(values), "cv": float(str(values.std())) / mean}
    frame = pl.DataFrame({"column": list(found), "cv": [one["cv"] for one in found.values()]})
    published = publish(
        context,
        TOOL,
        [table.path],
        {"columns": list(found)},
        extension="csv",
        kind="table",
        title=f"Variation in {table.path.name}",
        write=lambda path: write_csv(frame, path),
    )
    most = max(found, key=lambda name: found[name]["cv"])
    summary = f"{len(found)} columns compared; {most} varies most (cv {found[most]['cv']:.3g})"
    return ToolResult(summary, {"columns": found}, [published.artifact], list(table.notes))


TOOL = Tool(
    name="variation",
    version=1,
    description="Compares how much numeric columns vary, by their coefficient of variation (sd / mean).",
    asked_for=("coefficient of variation", "compare the variation", "which column varies most"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases("relative spread; relative standard deviation; rsd; most variable element; how noisy"),
)
