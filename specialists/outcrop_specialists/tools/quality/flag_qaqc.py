"""Tool: says of every row whether it is a routine sample, a blank, a standard or a duplicate."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.quality.kinds import ROUTINE, kinds_of
from outcrop_specialists.tools.statistics.bounded import counted
from outcrop_specialists.tools.statistics.groups import put_figures


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    type_column: str | None = Field(
        default=None,
        description="Text column that tells QA/QC rows (`Blank`, `DUP of S2`, `STD 5.2`); found by its values where "
        "not given.",
        json_schema_extra={"x-role": "type-column"},
    )
    keep: Literal["all", "routine", "qaqc"] = Field(
        default="all", description="all rows with their flag; only routine samples; or only the QA/QC rows."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where no column tells QA/QC rows, or several tell different ones."""
    table = read_table(context, arguments.path)
    kinds = kinds_of(table, arguments.type_column)
    flag, original = features.free_name(table.frame, "qaqc"), features.free_name(table.frame, "qaqc_original")
    frame = table.frame.with_columns(kinds.kinds.alias(flag), kinds.originals.alias(original))
    is_routine = kinds.kinds == ROUTINE
    if arguments.keep != "all":
        frame = frame.filter(is_routine if arguments.keep == "routine" else ~is_routine)
    made_of = features.parameters(arguments, type_column=kinds.column)
    titles = {"all": "QA/QC flags", "routine": "Routine samples", "qaqc": "QA/QC rows"}
    file = put_figures(context, TOOL, table, made_of, frame, f"{titles[arguments.keep]} of {table.path.name}")
    counts = kinds.counts()
    results: dict[str, Any] = {
        "rows": table.height,
        "rows_written": frame.height,
        "counts": counts,
        "type_column": kinds.column,
        "duplicates_that_name_an_original": int(kinds.originals.is_not_null().sum()),
        "added_columns": [flag, original],
        "path": file.artifact.path,
        "rule": f"by the first words of {kinds.column}: blank, standard / CRM, duplicate / repeat, "
        "triplicate, in any case and common misspellings; every other row is routine",
    }
    text = f"{table.height} rows: {counted(counts)} (by {kinds.column}); {frame.height} rows written"
    return ToolResult(text, results, [file.artifact], list(table.notes))


TOOL = Tool(
    name="flag_qaqc",
    version=1,
    description=(
        "Tells QA/QC rows (blanks, standards, duplicates, triplicates) from routine samples by what a text column "
        "says, counts each kind and writes the table with a flag, or only the routine samples, for statistics."
    ),
    asked_for=(
        "flag QA/QC rows",
        "separate routine samples from QA/QC",
        "leave out blanks and duplicates",
        "only routine samples",
        "how many real samples",
        "keep only routine samples",
        "keep routine samples",
        "how many blanks and duplicates",
        "remove QA/QC samples",
        "quality control rows",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        separate control samples; remove standards and blanks; real samples only; strip the controls; exclude
        check samples; primary samples; identify standards, blanks and duplicates; sort out the quality control;
        mark inserted samples; how many control samples; original samples only; genuine samples; laboratory
        inserts; insertion rate; percentage of QC; CRMs and blanks mixed in with the assays; take the controls
        out; check assays; before statistics take out; which rows are not true samples; field samples only;
        routine; sample type; label controls; ordinary samples; QAQC; reference material rows; take the lab
        inserts out; true rock samples only; how many controls were slipped in; control samples out of the
        model; keep genuine rock samples; inserts; exclude controls; which are quality control samples;
        distinguish real samples from inserted ones; number of standards in the batches; take out blanks,
        standards and duplicates; drop the check samples; not real samples; tell apart true samples and
        controls; no control material in the statistics; how many inserted; sort by sample type; leave the QC
        out; only the actual samples; remove the standards from the assays
        """
    ),
)
