"""Tool: counts the missing values of a table, column by column."""

from __future__ import annotations

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_specialists.columns.censoring import censored_values, missing_count, qualifier_columns
from outcrop_specialists.columns.profile import type_name
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases

COLUMNS_SHOWN = 100


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Columns with gaps, those with most first. Percentages are not rounded: a small gap never reads as none."""
    table = read_table(context, arguments.path)
    rows, qualifiers = table.height, qualifier_columns(table)
    gaps = [
        {
            "name": name,
            "type": type_name(kind),
            "missing": count,
            "missing_percent": 100 * count / rows,
        }
        for name, kind in table.schema.items()
        if name not in qualifiers and (count := missing_count(table, name))
    ]
    gaps.sort(key=lambda gap: -int(str(gap["missing"])))
    cells = sum(int(str(gap["missing"])) for gap in gaps)
    results = {
        "path": arguments.path,
        "rows": rows,
        "missing_cells": cells,
        "columns": gaps[:COLUMNS_SHOWN],
        "complete_columns": len(table.columns) - len(qualifiers) - len(gaps),
    }
    censored = {name: censored_values(table, name) for name in table.qualifiers if name not in table.substituted}
    if censored:
        results["beyond_a_limit"] = {
            name: {"below": int(found.below.sum()), "above": int(found.above.sum())}
            for name, found in list(censored.items())[:COLUMNS_SHOWN]
        }

    if len(gaps) > COLUMNS_SHOWN:
        results["more_columns"] = len(gaps) - COLUMNS_SHOWN
    found = (
        f"{cells} missing cells in {len(gaps)} of {len(table.columns) - len(qualifiers)} columns"
        if gaps
        else "no missing cells"
    )
    beyond = sum(each.count for each in censored.values())
    if beyond:
        found += f"; {beyond} results in {len(censored)} columns are beyond a limit, which is not missing"
    return ToolResult(
        summary=f"{table.path.name}: {many(rows, 'row')}, {found}", results=results, notes=list(table.notes)
    )


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
    also_called=phrases(
        """
        empty fields; blanks; NaN; nulls; unfilled cells; incomplete records; which columns are sparse;
        percentage filled; how complete is the data; not recorded; absent entries; lost information; data
        coverage by field; holes in the table; is everything filled in; what share is unknown; how much was
        never measured; samples without a result; fields with nothing in them; fraction of empty entries; gaps
        in the data entry; where do we lack measurements; skipped analytes; which parameters were not
        determined; to what extent was it measured; too incomplete to be of use; not analysed; how many were
        left empty; which elements were never analysed; how full is the table; how many cells are vacant; data
        availability; unanswered; where nothing was written; what was not tested; amount of absent data;
        proportion present
        """
    ),
)
