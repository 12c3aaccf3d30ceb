"""Tool: finds what is to be cleaned in a table, and repairs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from outcrop_schemas import wire
from outcrop_schemas.counts import many, named
from outcrop_specialists.columns.censoring import qualifier_columns
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.inspection.cleaning_issues import column_issues, duplicate_rows, weight
from outcrop_specialists.tools.publish import publish, relative

COLUMNS_SHOWN = 20


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] | None = Field(default=None, min_length=1, description="Columns to check; all if not given.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """The full findings go to a JSON report; the answer holds the columns with most issues."""
    table = read_table(context, arguments.path)
    aside = qualifier_columns(table)
    wanted = find_columns(table, arguments.columns) if arguments.columns else table.frame.columns
    names = [name for name in wanted if name not in aside]
    context.report(f"checking {len(names)} columns", 0, len(names))
    issues = column_issues(table, names)
    repeated = duplicate_rows(table.frame)
    full = {
        "path": relative(context, table.path),
        "rows": table.frame.height,
        "duplicate_rows": repeated,
        "columns": issues,
        "notes": list(table.notes),
    }
    published = publish(
        context,
        TOOL,
        [table.path],
        arguments.model_dump(mode="json", exclude={"path"}),
        extension="json",
        kind="report",
        title=f"Cleaning issues of {table.path.name}",
        write=lambda path: _write(path, full),
    )
    with_issues = sorted((each for each in issues if weight(each)), key=lambda each: -weight(each))
    return ToolResult(
        summary=f"{len(with_issues)} of {many(len(names), 'column')} {named(len(with_issues), 'has', 'have')} issues; "
        f"{many(repeated, 'row')} {named(repeated, 'repeats', 'repeat')} another one",
        results={
            "path": published.artifact.path,
            "rows": table.frame.height,
            "duplicate_rows": repeated,
            "columns_with_issues": len(with_issues),
            "columns": with_issues[:COLUMNS_SHOWN],
        },
        artifacts=[published.artifact],
        notes=list(table.notes),
    )


def _write(path: Path, full: dict[str, Any]) -> None:
    path.write_bytes(wire.dumps(full))


TOOL = Tool(
    name="detect_cleaning_issues",
    version=2,
    description="Finds what is to be cleaned: missing values, results beyond detection limits, text among numbers, "
    "negative concentrations, spelling variants, suspected fill values, constant columns, outliers (1.5 IQR), "
    "duplicate rows.",
    asked_for=(
        "detect issues",
        "check data quality",
        "go through",
        "not usable",
        "spelling variants",
        "names in other spelling",
        "duplicates in other spelling",
        "find errors",
        "quality control",
        "what needs cleaning",
        "are there duplicates",
        "how many duplicates",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        what is wrong with this data; problems in the table; faults; errors and inconsistencies; is the data
        clean; can I trust this file; audit; data validation; sanity check; health check; suspicious entries;
        dirty data; messy table; things to repair before the analysis; typos; impossible values; negative
        grades; review the quality of the dataset; list every defect; diagnose; bad data; reliability of the
        records; pre-flight check; anything odd in here; do I have to fix anything; triage; red flags; mistakes
        made at data entry; screening for trouble; is it fit for use; garbage in the spreadsheet; anything
        fishy; what will bite me later; hygiene; what should be corrected up front; what needs fixing; flaws;
        correct before I start; pitfalls; is it good enough; quality problems; weak points of the table; find
        mistakes; what looks off; where is the data unreliable; possible problems; review before use; inspect
        for faults; look for trouble; potential errors; is anything broken
        """
    ),
)
