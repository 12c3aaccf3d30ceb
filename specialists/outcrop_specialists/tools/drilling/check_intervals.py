"""Tool: looks for gaps, overlaps and other faults in the intervals of drill holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_specialists.columns.choice import find_columns, numeric
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling.collars import COLLAR_HELP, hole_depths
from outcrop_specialists.tools.drilling.holes import beside_of
from outcrop_specialists.tools.drilling.interval_issues import KINDS, find_issues
from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH, IntervalArguments, Intervals, read_intervals

if TYPE_CHECKING:
    import polars as pl

COLUMNS_TOLD = 4
RULE = (
    f"depths within {SAME_DEPTH:g} are the same; within a hole, ordered by from: gap = from beyond the deepest to, "
    "overlap = from above it, duplicate = hole, from and to as in an earlier row; length = to - from of rows with "
    "from < to, duplicates too; unassayed share = 1 - length with a value / length"
)


class Arguments(IntervalArguments):
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Measured columns whose assayed length is wanted, such as grades.",
        json_schema_extra={"x-role": "columns"},
    )
    collar_path: str | None = Field(default=None, description=COLLAR_HELP + " Intervals are then checked against it.")
    collar_hole: str | None = Field(default=None, description="Hole column of the collar table.")
    collar_depth: str | None = Field(default=None, description="Column of final depths in the collar table.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where the columns of holes and depths cannot be told."""
    collar_table = read_table(context, arguments.collar_path) if arguments.collar_path is not None else None
    beside = beside_of(collar_table, arguments.collar_hole, "collar_hole") if collar_table is not None else None
    intervals = read_intervals(context, arguments, beside)
    table = intervals.table
    columns = find_columns(table, arguments.columns or [], "columns")
    collars = None
    if collar_table is not None:
        collars = hole_depths(collar_table, arguments.collar_hole, arguments.collar_depth, intervals.beside)
    context.report(f"checking {table.frame.height} intervals", 0, table.frame.height)
    usable = intervals.usable()
    issues = find_issues(intervals, usable, collars)
    lengths = _lengths(intervals, usable, columns)
    holes = intervals.frame["hole"].drop_nulls().n_unique()
    counts = {kind: int((issues["issue"] == kind).sum()) for kind in KINDS}
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "holes": holes,
        "issues": counts,
        "length": lengths["length"],
        "deepest_to": lengths["deepest_to"],
        "unit": intervals.unit,
        "assayed": dict(list(lengths["assayed"].items())[:COLUMNS_TOLD]),
        "rule": RULE,
    }
    notes = [*table.notes, *intervals.notes]
    inputs = [table]
    if collars is not None:
        inputs.append(collars.table)
        shared = collars.shared(intervals.frame["hole"])
        results["collars"] = {
            "in_both": shared.both,
            "without_intervals": len(shared.only_second),
            "without_collar": len(shared.only_first),
            "drilled_length": collars.drilled(),
        }
        notes += [*collars.notes, *shared.notes(table.path.name, collars.table.path.name)]
    if len(columns) > COLUMNS_TOLD:
        notes.append(f"assayed lengths of {len(columns) - COLUMNS_TOLD} more columns are not listed")
    artifacts = []
    if not issues.is_empty():
        title = f"Issues of the intervals of {table.path.name}"
        published = publish_frame(
            context,
            TOOL,
            inputs,
            arguments,
            issues,
            title,
            resolved={"columns": columns, "depth_from": intervals.depth_from, "depth_to": intervals.depth_to},
        )
        artifacts.append(published.artifact)
        results["path"] = published.artifact.path
    return ToolResult(_told(results, counts), results, artifacts, notes)


def _lengths(intervals: Intervals, usable: pl.DataFrame, columns: list[str]) -> dict[str, Any]:
    total = float(usable["length"].sum())
    found: dict[str, Any] = {"length": total, "deepest_to": _deepest(usable), "assayed": {}}
    rows = usable["row"]
    for name in columns:
        has_value = numeric(intervals.table, name, "columns").is_not_null().gather(rows)
        assayed = float(usable["length"].filter(has_value).sum())
        found["assayed"][name] = {
            "length": assayed,
            "intervals": int(has_value.sum()),
            "unassayed_share": 1 - assayed / total if total else None,
        }
    return found


def _deepest(usable: pl.DataFrame) -> list[Any] | None:
    """The hole that reaches deepest and how deep it is."""
    if usable.is_empty():
        return None
    row = usable.row(usable["end"].arg_max() or 0, named=True)
    return [row["hole"], row["end"]]


def _told(results: dict[str, Any], counts: dict[str, int]) -> str:
    unit = f" {results['unit']}" if results["unit"] else ""
    found = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count)
    text = f"{results['rows']} intervals in {results['holes']} holes, {results['length']:.6g}{unit} long: "
    text += found or "no gap, overlap or other fault"
    for name, each in results["assayed"].items():
        if each["unassayed_share"] is not None:
            text += f"; {each['unassayed_share']:.4g} of the length has no {name}"
    return text


TOOL = Tool(
    name="check_intervals",
    version=1,
    description="Checks the from-to intervals of drill holes: gaps, overlaps, exact repeats, zero or negative lengths, "
    "depths beyond the collar's final depth, rows out of order, holes without a collar; and how much of the drilled "
    "length has no assay. Lists each issue in a CSV.",
    asked_for=(
        "check intervals",
        "check drill tables",
        "gaps and overlaps",
        "overlapping intervals",
        "gaps between intervals",
        "repeated intervals",
        "validate drillholes",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        gaps; overlaps; from and to; from greater than to; beyond the end of the hole; deeper than the hole;
        holes that stop short; missing core; unsampled stretches; depth errors; drillhole validation; drilling
        database check; audit of the drill database; inconsistent depths; double-sampled; zero length; depth
        past total depth; end of hole mismatch; not sampled; sampling that runs past the bottom; collar missing;
        drill logs consistency; holes without assays; sections without samples; negative length; intervals out
        of sequence; continuity of sampling down the hole; core loss; is the drillhole database sound; sampled
        twice; intersecting intervals; validate assays against collar depth; total depth; wrong depths;
        unassayed part; stretches of core nobody assayed; assayed double; from is bigger than to; verify the
        downhole depths against the collar file; start depth after end depth; intervals that cross each other;
        holes in the sampling; sampled beyond the end; missing metres; unsampled core; missing intervals; depth
        problems; do the intervals fit; from depth and to depth; length is negative; do the samples reach the
        bottom; is sampling continuous; assay depths beyond the hole; same depth twice; hole depth; wrong from
        and to; skipped core; consistent downhole; missing samples in the hole; final depth; gaps downhole;
        interval table; depth beyond the collar
        """
    ),
)
