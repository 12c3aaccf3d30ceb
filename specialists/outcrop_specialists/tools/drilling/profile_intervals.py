"""Tool: length-weighted grades of intervals, overall and per hole, with the holes ranked by metal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling.collars import COLLAR_HELP, Collars, collars_of
from outcrop_specialists.tools.drilling.holes import ONE_HOLE, beside_of, shared_holes
from outcrop_specialists.tools.drilling.intervals import IntervalArguments, Intervals, overlaps, read_intervals
from outcrop_specialists.tools.drilling.weighting import assayed_length, metal, weighted_mean
from outcrop_specialists.tools.multivariate.features import chosen_columns

if TYPE_CHECKING:
    import polars as pl

ELEMENTS_TOLD = 2
HOLES_TOLD = 5
RULE = (
    "grade = sum(value x length) / length with a value (blanks are never zero); metal = sum(value x length); unassayed "
    "share = 1 - length with a value / length; median over holes with a value"
)


class Arguments(IntervalArguments):
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Measured columns (grades); all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    rank_by: str | None = Field(
        default=None, description="Column whose metal ranks the holes; the first of columns where not given."
    )
    collar_path: str | None = Field(default=None, description=COLLAR_HELP + " Its columns go beside each hole.")
    collar_hole: str | None = Field(default=None, description="Hole column of the collar table.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where columns cannot be told, DataError for a collar table with a hole twice."""
    collar_table = read_table(context, arguments.collar_path) if arguments.collar_path is not None else None
    beside = beside_of(collar_table, arguments.collar_hole, "collar_hole") if collar_table is not None else None
    intervals = read_intervals(context, arguments, beside)
    table = intervals.table
    names, passed_over = _columns(intervals, arguments)
    rank_by = names[0] if arguments.rank_by is None else find_column(table, arguments.rank_by, "rank_by")
    if rank_by not in names:
        raise ArgumentError("rank_by", f"{rank_by!r} is not among the columns {', '.join(names[:5])}")
    collars = None
    if collar_table is not None:
        collars = collars_of(collar_table, arguments.collar_hole, beside=intervals.beside)
    context.report(f"profiling {table.frame.height} intervals", 0, table.frame.height)
    usable = intervals.usable()
    if usable.is_empty():
        reasons = "; ".join(intervals.left_out_notes())
        raise ArgumentError("path", f"{table.path.name} has no interval with a positive length ({reasons})")
    renamed = {name: f"value_{place}" for place, name in enumerate(names)}
    values = [numeric(table, name, "columns").gather(usable["row"]).alias(to) for name, to in renamed.items()]
    frame = usable.with_columns(values)
    holes = _per_hole(frame, renamed, rank_by)
    elements = _overall(frame, holes, renamed)
    doubled = overlaps(usable)
    notes = [*table.notes, *passed_over, *intervals.notes, *intervals.left_out_notes()]
    inputs = [table]
    if collars is not None:
        inputs.append(collars.table)
        notes += [
            *collars.notes,
            *shared_holes(intervals.frame["hole"], collars.holes).notes(table.path.name, collars.table.path.name),
        ]
        holes = _with_collar(holes, collars)
    if doubled:
        notes.append(
            f"CAUTION: {doubled} intervals overlap others: their length counts twice; check_intervals lists them"
        )
    resolved: dict[str, Any] = {"columns": names, "rank_by": rank_by}
    units = {**table.units, **(collars.table.units if collars else {})}
    units |= {f"{name}_grade": table.units[name] for name in names if name in table.units}
    per_hole = publish_frame(
        context,
        TOOL,
        inputs,
        arguments,
        holes,
        f"Holes of {table.path.name} by {rank_by}",
        part="holes",
        units=units,
        resolved=resolved,
    )
    overall = publish_frame(
        context, TOOL, inputs, arguments, elements, f"Grades of {table.path.name}", part="grades", resolved=resolved
    )
    results = _results(intervals, usable, holes, elements, rank_by)
    results |= {"rule": RULE}
    return ToolResult(_told(results, doubled), results, [per_hole.artifact, overall.artifact], notes)


def _columns(intervals: Intervals, arguments: Arguments) -> tuple[list[str], list[str]]:
    if arguments.columns is not None:
        return find_columns(intervals.table, arguments.columns, "columns"), []
    found, notes = chosen_columns(intervals.table, None)
    own = {intervals.hole, intervals.depth_from, intervals.depth_to}
    names = [name for name in found if name not in own]
    if not names:
        raise ArgumentError("columns", f"{intervals.table.path.name} has no column of measured numbers; name one")
    return names, notes


def _per_hole(frame: pl.DataFrame, renamed: dict[str, str], rank_by: str) -> pl.DataFrame:
    import polars as pl

    figures: list[pl.Expr] = []
    for name, value in renamed.items():
        figures += [
            assayed_length(value).alias(f"{name}_assayed_length"),
            weighted_mean(value).alias(f"{name}_grade"),
            pl.col(value).max().alias(f"{name}_max"),
            (pl.col(value) * pl.col("length")).max().alias(f"{name}_max_grade_x_length"),
            metal(value).alias(f"{name}_metal"),
        ]
    holes = frame.group_by("hole").agg(
        pl.len().alias("intervals"),
        pl.col("start").min().alias("depth_from"),
        pl.col("end").max().alias("depth_to"),
        pl.col("length").sum(),
        *figures,
    )
    by = f"{rank_by}_metal"
    rank = pl.col(by).rank("min", descending=True).cast(pl.Int64).alias(f"rank_by_{rank_by}")
    return holes.with_columns(rank).sort(by, "hole", descending=[True, False], nulls_last=True)


def _overall(frame: pl.DataFrame, holes: pl.DataFrame, renamed: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    total = float(frame["length"].sum())
    records = []
    for name, value in renamed.items():
        found = frame.select(
            intervals=pl.col(value).count(),
            missing=pl.col(value).null_count(),
            assayed_length=assayed_length(value),
            grade=weighted_mean(value),
            max=pl.col(value).max(),
            max_grade_x_length=(pl.col(value) * pl.col("length")).max(),
            metal=metal(value),
        ).row(0, named=True)
        grades = holes[f"{name}_grade"].drop_nulls()
        records.append(
            {
                "column": name,
                **found,
                "unassayed_share": 1 - found["assayed_length"] / total,
                "holes_with_value": len(grades),
                "median_hole_grade": grades.median(),
            }
        )
    return pl.DataFrame(records, infer_schema_length=None)


def _with_collar(holes: pl.DataFrame, collars: Collars) -> pl.DataFrame:
    import polars as pl

    beside = collars.table.frame.drop(collars.hole).select(
        pl.all().name.map(lambda name: f"collar_{name}" if name in holes.columns else name)
    )
    return holes.join(beside.with_columns(collars.holes.alias("hole")), on="hole", how="left", maintain_order="left")


def _results(
    intervals: Intervals, usable: pl.DataFrame, holes: pl.DataFrame, elements: pl.DataFrame, rank_by: str
) -> dict[str, Any]:
    # By name, not as rows: what the specialist passes on of it reaches the lead.
    top = {
        hole: {"metal": metal_, "grade": grade}
        for hole, metal_, grade in holes.select("hole", f"{rank_by}_metal", f"{rank_by}_grade").head(HOLES_TOLD).rows()
        if metal_ is not None
    }
    kept = ("column", "grade", "max", "unassayed_share", "holes_with_value", "median_hole_grade")
    order = elements.with_columns(is_first=elements["column"] == rank_by).sort("is_first", descending=True)
    results: dict[str, Any] = {
        "rows": intervals.table.frame.height,
        "intervals": usable.height,
        "holes": holes.height,
        "length": float(usable["length"].sum()),
        "unit_of_length": intervals.unit,
        "columns": [
            {key: value for key, value in row.items() if key in kept}
            for row in order.head(ELEMENTS_TOLD).rows(named=True)
        ],
        "ranked_by": f"{rank_by} metal",
        "top": top,
    }
    if elements.height > ELEMENTS_TOLD:
        results["more_columns"] = elements.height - ELEMENTS_TOLD
    return results


def _told(results: dict[str, Any], doubled: int) -> str:
    first = results["columns"][0]
    name, unit = first["column"], results["unit_of_length"]
    where = f"{results['intervals']} intervals, {results['length']:.6g}{' ' + unit if unit else ''} long"
    holes = "" if ONE_HOLE in results["top"] else f" in {results['holes']} holes"
    if first["grade"] is None:
        return f"{where}{holes}: {name} has no value in any of them"
    best, figures = next(iter(results["top"].items()))
    text = (
        f"{where}{holes}: length-weighted mean {name} {first['grade']:.6g}, highest {first['max']:.6g}; "
        f"{first['unassayed_share']:.4g} of the length has no {name}"
    )
    if holes:
        text += f"; most {name} metal (grade x length) in {best}: {figures['metal']:.6g}"
    return text + (f". CAUTION: {doubled} overlapping intervals count twice" if doubled else "")


TOOL = Tool(
    name="profile_intervals",
    version=1,
    description="Length-weighted grades of drill intervals, overall and per hole: mean grade, maximum, highest "
    "grade times length, metal (grade x length), assayed and unassayed length; ranks the holes by metal and puts the "
    "collar's coordinates beside each hole. One CSV per hole, one per element.",
    asked_for=(
        "profile intervals",
        "length-weighted mean",
        "length-weighted grade",
        "rank holes by metal",
        "grade times length",
        "grade thickness",
        "unassayed length",
        "drilled length has no assay",
        "summarise holes",
        "grade per hole",
        "hole grades",
        "metal per hole",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        grade of each hole; average grade by hole; best hole; which hole is richest; metal content of the holes;
        gram metres; grade thickness product; accumulation; which drillhole carries the most; hole ranking;
        total metal; length-weighted average of the whole hole; hole by hole summary; coverage of assays;
        compare the drill holes; average weighted by sample length; holes side by side; contained metal; overall
        grade of the drilling; linear grade; which boreholes are the most promising; hole summary; metres
        assayed; intensity of mineralisation by hole; drillhole averages; most copper overall; metres that were
        never assayed; percent metres; compare holes by gram-metres; average grade of every borehole, long
        samples counting more; best borehole; rank boreholes; grade by hole; richest hole; mean per borehole
        weighted; metal of each hole; long samples count more; what does each hole average; which hole has the
        most; hole averages; total gold per hole; compare boreholes; grade of the whole hole; hole statistics;
        overall grade; each borehole's grade; metres times grade; which hole is the best; how much of each hole
        was assayed; ranking of boreholes; contained; length-weighted
        """
    ),
)
