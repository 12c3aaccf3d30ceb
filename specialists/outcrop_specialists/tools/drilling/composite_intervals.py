"""Tool: composites intervals to a fixed length, or within a category, weighted by length."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling.composites import Composited, Residual, composite
from outcrop_specialists.tools.drilling.intervals import IntervalArguments, Intervals, read_intervals, refuse_overlaps

COLUMNS_TOLD = 2


class Arguments(IntervalArguments):
    columns: list[str] = Field(
        min_length=1, description="Measured columns (grades) to composite.", json_schema_extra={"x-role": "columns"}
    )
    length: float | None = Field(
        default=None, gt=0, description="Length of a composite, in the unit of the depths. Give length, by or both."
    )
    by: str | None = Field(
        default=None,
        description="Category (lithology, domain): composites end where it changes.",
        json_schema_extra={"x-role": "by-column"},
    )
    min_coverage: float = Field(
        default=0.5, ge=0, le=1, description="Share of a composite that must be assayed; below it the grade is blank."
    )
    residual: Residual = Field(
        default="keep",
        description="What becomes of a short end piece: keep it, merge it into the composite above, drop it, or spread "
        "(lengths adjusted so that none is left).",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for overlapping intervals, and where neither length nor by is given."""
    if arguments.length is None and arguments.by is None:
        raise ArgumentError("length", "give the length of a composite, a category in by, or both")
    intervals = read_intervals(context, arguments)
    table = intervals.table
    names = find_columns(table, arguments.columns, "columns")
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    usable = intervals.usable()
    refuse_overlaps(intervals, usable)
    if usable.is_empty():
        raise ArgumentError("path", f"{table.path.name} has no interval with a positive length")
    columns = {name: f"value_{place}" for place, name in enumerate(names)}
    usable = usable.with_columns(
        numeric(table, name, "columns").gather(usable["row"]).alias(to) for name, to in columns.items()
    )
    if by is not None:
        usable = usable.with_columns(table.frame.get_column(by).gather(usable["row"]).alias("category"))
    context.report(f"compositing {usable.height} intervals", 0, usable.height)
    made = composite(usable, columns, arguments.length, arguments.residual, arguments.min_coverage)
    frame = made.frame.rename({"category": by} if by is not None and by not in made.frame.columns else {})
    units = {name: unit for name, unit in table.units.items() if name in names}
    if intervals.unit:
        units |= {"from": intervals.unit, "to": intervals.unit}
    resolved: dict[str, Any] = {
        "columns": names,
        "by": by,
        "depth_from": intervals.depth_from,
        "depth_to": intervals.depth_to,
    }
    title = f"Composites of {table.path.name}"
    published = publish_frame(context, TOOL, [table], arguments, frame, title, units=units, resolved=resolved)
    lengths = publish_frame(
        context, TOOL, [table], arguments, made.lengths, f"{title}: lengths", part="lengths", resolved=resolved
    )
    results = _results(arguments, intervals, made, usable.height)
    notes = [*table.notes, *intervals.notes, *intervals.left_out_notes()]
    if made.dropped:
        notes.append(
            f"{made.dropped} end pieces shorter than {arguments.length:g} dropped; their length counts as lost"
        )
    if len(names) > COLUMNS_TOLD:
        notes.append(f"lengths of {len(names) - COLUMNS_TOLD} more columns are in {lengths.artifact.path}")
    return ToolResult(_told(results, names), results, [published.artifact, lengths.artifact], notes)


def _results(arguments: Arguments, intervals: Intervals, made: Composited, used: int) -> dict[str, Any]:
    return {
        "intervals": used,
        "rows_left_out": intervals.table.frame.height - used,
        "composites": made.frame.height,
        "holes": made.frame["hole"].n_unique(),
        "residuals_dropped": made.dropped,
        "unit_of_length": intervals.unit,
        "columns": {row.pop("column"): row for row in made.lengths.head(COLUMNS_TOLD).rows(named=True)},
        "rule": _rule(arguments),
    }


def _rule(arguments: Arguments) -> str:
    begins = (
        "where a hole's first interval begins" if arguments.by is None else f"at each change of {arguments.by} or gap"
    )
    size = f"{arguments.length:g} long, counted from there" if arguments.length else "as long as it stays"
    rest = {
        "keep": "a short end piece is kept",
        "merge": "a short end piece joins the composite above",
        "drop": "a short end piece is dropped",
        "spread": "lengths adjusted to leave no end piece",
    }[arguments.residual]
    return (
        f"composites begin {begins}, {size}; {rest if arguments.length else 'no end piece'}; grade = length-weighted"
        f" mean of the assayed part, blank where less than {arguments.min_coverage:g} of the composite has it; blanks"
        " are never zero; lost = assayed length outside graded composites, gained = unassayed inside"
    )


def _told(results: dict[str, Any], names: list[str]) -> str:
    first = results["columns"][names[0]]
    return (
        f"{results['intervals']} intervals made {results['composites']} composites in {results['holes']} holes; "
        f"{names[0]}: {first['assayed_length']:.6g} assayed, {first['lost_length']:.6g} lost, "
        f"{first['gained_length']:.6g} gained"
    )


TOOL = Tool(
    name="composite_intervals",
    version=1,
    description="Composites drill intervals, weighted by length: to a fixed length, or over contiguous intervals of "
    "one category, or both. Blank grades are never zero; reports assayed length lost and gained.",
    asked_for=("composite", "composite to fixed length", "regularise intervals", "length-weighted composites"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        equal lengths; regular lengths; same support; change of support; bench composites; two-metre composites;
        fixed-length samples; uniform sample length; regularised; down-hole composites; merge short intervals;
        combine intervals of the same rock; average over 5 m; before resource estimation; sample lengths differ;
        standardise the lengths of the intervals; upscale; resample down the hole; blend adjacent samples;
        length-weighted averages over; estimation support; coarser intervals; unequal core lengths; intervals of
        constant thickness; aggregate along the hole; mean per lithological unit; geostatistics preparation;
        lump neighbouring samples; bring the assays to 1 m lengths; average the core over each unit; equal
        sample length; make all samples 2 m long; fixed lengths; same length; regular intervals downhole;
        lengths of samples vary; merge core samples into longer ones; average by geological unit downhole; even
        lengths; constant length; average the samples in 10 m steps; combine assays within a unit; weigh by
        length; one grade per lithology interval; for the block model; sampling lengths made uniform; downhole
        averaging; short samples into long
        """
    ),
)
