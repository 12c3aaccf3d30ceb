"""Tool: removes rows that repeat another row, wholly or in some columns."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outcrop_schemas.counts import many, named
from outcrop_specialists.columns.censoring import with_qualifiers
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    subset: list[str] | None = Field(
        default=None, min_length=1, description="Columns that make two rows duplicates; all columns if not given."
    )
    keep: Literal["first", "last", "none"] = Field(
        default="first", description="Which row of each group of duplicates stays: the first, the last or none."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Rows keep their order. Two missing values count as equal; text is compared as it stands."""
    table = read_table(context, arguments.path)
    subset = find_columns(table, arguments.subset, "subset") if arguments.subset else table.frame.columns
    told = subset
    subset = with_qualifiers(table, subset)
    frame = table.frame.unique(subset=subset, keep=arguments.keep, maintain_order=True)
    groups = int((table.frame.group_by(subset).len()["len"] > 1).sum())
    published = publish_table(context, TOOL, table, arguments, frame, f"{table.path.name} without duplicate rows")
    removed = table.frame.height - frame.height
    by = f"in {', '.join(told)}" if arguments.subset else "in all columns"
    return ToolResult(
        summary=f"{removed} of {many(table.frame.height, 'row')} removed as duplicates {by}, "
        f"from {many(groups, 'group')} of equal rows; {many(frame.height, 'row')} "
        f"{named(frame.height, 'remains', 'remain')}",
        results={
            "rows_before": table.frame.height,
            "rows_after": frame.height,
            "removed": removed,
            "groups": groups,
            "kept": arguments.keep,
            "path": published.artifact.path,
        },
        artifacts=[published.artifact],
        notes=list(table.notes),
        claims=[
            claiming.rows(arguments.path, table.frame.height),
            claiming.rows(published.artifact.path, frame.height),
        ],
    )


TOOL = Tool(
    name="remove_duplicates",
    version=2,
    description="Removes duplicate rows, compared in all columns or in some, and writes the table without them.",
    asked_for=("remove duplicates", "drop duplicate rows", "deduplicate", "drop repeated rows", "keep unique rows"),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        the same record appears twice; repeated entries; double entries; get rid of copies; copied rows;
        redundant records; identical lines; keep the first occurrence; keep one row per sample; one record for
        each identifier; entered twice; pasted twice; purge repeats; uniqueness of identifiers; dedupe; collapse
        identical rows; sample numbers that occur more than once; eliminate extras; double counting; clones;
        imported twice; make every ID unique; uploaded two times; only leave one copy; every reading twice;
        listed more than once; loaded again by mistake; same analysis repeated; superfluous copies; second copy;
        each only once; merged by accident and doubled; occurs several times; keep unique; entries were imported
        again; weed out repeated; rows that are the same
        """
    ),
)
