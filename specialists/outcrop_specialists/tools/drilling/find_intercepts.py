"""Tool: finds intercepts above a cut-off grade in drill holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling import intercepts
from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH, IntervalArguments, read_intervals, refuse_overlaps

if TYPE_CHECKING:
    import polars as pl

INTERCEPTS_TOLD = 5


class Arguments(IntervalArguments):
    column: str = Field(description="The grade.", json_schema_extra={"x-role": "column"})
    cutoff: float = Field(description="Cut-off grade; an interval at or above it is ore.")
    min_length: float = Field(default=0, ge=0, description="Shortest intercept reported, in the unit of the depths.")
    max_internal_waste: float = Field(
        default=0, ge=0, description="Longest stretch below the cut-off that may lie inside an intercept."
    )
    top_cut: float | None = Field(default=None, description="Grades above it count as this value (max keeps them).")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for overlapping intervals and for a top cut below the cut-off."""
    import polars as pl

    if arguments.top_cut is not None and arguments.top_cut < arguments.cutoff:
        raise ArgumentError("top_cut", f"{arguments.top_cut:g} lies below the cut-off {arguments.cutoff:g}")
    intervals = read_intervals(context, arguments)
    table = intervals.table
    name = find_column(table, arguments.column, "column")
    usable = intervals.usable()
    refuse_overlaps(intervals, usable)
    usable = usable.with_columns(numeric(table, name).gather(usable["row"]).alias("uncut"))
    usable = usable.with_columns(grade=pl.col("uncut").clip(upper_bound=arguments.top_cut))
    context.report(f"looking for {name} of {arguments.cutoff:g} and more", 0, usable.height)
    every = intercepts.find(usable, arguments.cutoff, arguments.max_internal_waste)
    found = every.filter(pl.col("length") >= arguments.min_length - SAME_DEPTH)
    notes = [*table.notes, *intervals.notes, *intervals.left_out_notes()]
    cut = 0 if arguments.top_cut is None else int((usable["uncut"] > arguments.top_cut).sum())
    if cut:
        notes.append(f"{cut} grades above the top cut {arguments.top_cut:g} count as that value")
    blank = usable["uncut"].null_count()
    if blank:
        notes.append(f"{blank} intervals have no {name}; each ends an intercept")
    results: dict[str, Any] = {
        "intervals": usable.height,
        "holes": usable["hole"].n_unique(),
        "intercepts": found.height,
        "holes_with_intercepts": found["hole"].n_unique(),
        "too_short": every.height - found.height,
        "length": float(found["length"].sum()),
        "metal": float(found["metal"].sum()),
        "grade": float(found["metal"].sum()) / float(found["length"].sum()) if found.height else None,
        "unit_of_length": intervals.unit,
        "best": _best(found),
        "rule": (
            f"ore: {name} >= {arguments.cutoff:g}; waste up to {arguments.max_internal_waste:g} long stays inside "
            f"while the whole has the cut-off; an unassayed interval or a gap ends an intercept; length at least "
            f"{arguments.min_length:g}; grade weighted by length; metal = grade x length; best by metal"
        ),
    }
    artifacts = []
    if found.height:
        published = publish_frame(
            context,
            TOOL,
            [table],
            arguments,
            _named(found, name, has_cut=arguments.top_cut is not None),
            f"Intercepts of {name} >= {arguments.cutoff:g} in {table.path.name}",
            units=_units(intervals.unit, name, table.units.get(name)),
            resolved={"column": name},
        )
        artifacts.append(published.artifact)
        results["path"] = published.artifact.path
    return ToolResult(_told(results, name, arguments.cutoff), results, artifacts, notes)


def _best(found: pl.DataFrame) -> list[dict[str, Any]]:
    best = found.sort("metal", "hole", "start", descending=[True, False, False]).head(INTERCEPTS_TOLD)
    return best.rename({"start": "from", "end": "to"}).select("hole", "from", "to", "length", "grade").to_dicts()


def _named(found: pl.DataFrame, name: str, *, has_cut: bool) -> pl.DataFrame:
    import polars as pl

    ranked = found.with_columns(rank_by_metal=pl.col("metal").rank("ordinal", descending=True).cast(pl.Int64))
    names = {
        "start": "from",
        "end": "to",
        "grade": f"{name}_grade",
        "grade_uncut": f"{name}_grade_uncut",
        "metal": f"{name}_metal",
        "max": f"{name}_max",
        "waste": "internal_waste",
    }
    return (ranked if has_cut else ranked.drop("grade_uncut")).rename(names, strict=False)


def _units(length: str | None, name: str, grade: str | None) -> dict[str, str]:
    units = dict.fromkeys(("from", "to", "length", "internal_waste"), length) if length else {}
    return {**units, **(dict.fromkeys((f"{name}_grade", f"{name}_grade_uncut", f"{name}_max"), grade) if grade else {})}


def _told(results: dict[str, Any], name: str, cutoff: float) -> str:
    if not results["intercepts"]:
        short = f" of the length asked for ({results['too_short']} shorter)" if results["too_short"] else ""
        return f"no intercept of {name} >= {cutoff:g}{short} in {results['holes']} holes"
    best = results["best"][0]
    unit = f" {results['unit_of_length']}" if results["unit_of_length"] else ""
    return (
        f"{results['intercepts']} intercepts of {name} >= {cutoff:g} in {results['holes_with_intercepts']} of "
        f"{results['holes']} holes; best: {best['length']:.6g}{unit} at {best['grade']:.6g} "
        f"{name} in {best['hole']} from {best['from']:.6g} to {best['to']:.6g}"
    )


TOOL = Tool(
    name="find_intercepts",
    version=1,
    description="Finds mineralised intercepts in drill holes: contiguous intervals at or above a cut-off grade, with a "
    "minimum length, a maximum internal waste and a top cut; length-weighted grade and metal of each, in a CSV.",
    asked_for=(
        "find intercepts",
        "intercepts above",
        "intercepts",
        "significant intercepts",
        "mineralised intervals",
        "ore intervals above cut-off",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("best",),
    also_called=phrases(
        """
        ore zones; mineralised zones; best intersections; drill results; significant intersections; metres at
        grams per tonne; hits; did we hit ore; width and grade; announcement; press release; high-grade zones;
        continuous mineralisation; thickness of the ore; internal dilution; cut-off intersections; reportable
        intervals; pay zones; where is the ore in the hole; economic intervals; downhole intervals that exceed;
        runs of consecutive samples above; 10 m at 2 g/t; drill highlights; drilling success; ore shoots; from
        which depth to which depth is it mineralised; vein intercepts; grade envelope; top-cut; merge the
        high-grade samples into zones; best hits of the campaign; zones where copper stays over for at least;
        over at least 5 m; ore thickness; strike; grade over width; did the holes hit anything; stretches of
        high grade; consecutive samples; continuous stretches above; stays above; at least 3 m wide; mineralised
        sections; intersections; ore zone from to; rich stretches; hit; good intersections; reported as metres
        at grade; where in the hole is the ore; economic widths; runs of high grade; uninterrupted; wide zones;
        mineralization; pay; sections of core above a grade
        """
    ),
)
