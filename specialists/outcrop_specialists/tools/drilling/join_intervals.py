"""Tool: joins a table of intervals with another one by hole and overlap, or with a table of collars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling.collars import collars_of
from outcrop_specialists.tools.drilling.holes import beside_of, role_column, shared_holes
from outcrop_specialists.tools.drilling.intervals import (
    SAME_DEPTH,
    IntervalArguments,
    Intervals,
    intervals_of,
    read_intervals,
    refuse_overlaps,
)

if TYPE_CHECKING:
    import polars as pl


class Arguments(IntervalArguments):
    right_path: str = Field(
        description="Table to join: intervals (lithology, geotechnics…) or collars, relative to the workspace."
    )
    columns: list[str] | None = Field(
        default=None, min_length=1, description="Columns of the right table to bring over; all where not given."
    )
    keep: Literal["all", "matched"] = Field(
        default="all",
        description="all keeps parts that the right table does not cover, blank; matched leaves them out.",
    )
    right_hole: str | None = Field(default=None, description="Hole column of the right table.")
    right_depth_from: str | None = Field(default=None, description="Upper depths of the right table.")
    right_depth_to: str | None = Field(default=None, description="Lower depths of the right table.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where columns cannot be told or intervals of one table overlap, DataError for a collar table
    with a hole twice."""
    other = read_table(context, arguments.right_path)
    left = read_intervals(context, arguments, beside_of(other, arguments.right_hole, "right_hole"))
    usable = left.usable()
    wants_collars = arguments.right_depth_from is None and role_column(other, "depth_from", None, "right") is None
    context.report(f"joining {left.table.path.name} with {other.path.name}", 0, left.table.frame.height)
    if wants_collars:
        frame, results, notes = _with_collars(left, other, arguments)
    else:
        frame, results, notes = _by_overlap(left, usable, other, arguments)
    units = {**other.units, **left.table.units}
    title = f"{left.table.path.name} joined with {other.path.name}"
    published = publish_frame(context, TOOL, [left.table, other], arguments, frame, title, units=units, like=left.table)
    results |= {"rows_after": frame.height, "path": published.artifact.path}
    told = (
        f"{left.table.frame.height} intervals joined with {other.path.name} "
        f"{'by hole' if wants_collars else 'by hole and depth'}: {frame.height} rows, {results['unmatched_rows']} "
        "without a match"
    )
    return ToolResult(told, results, [published.artifact], [*left.table.notes, *other.notes, *left.notes, *notes])


def _with_collars(
    left: Intervals, other: Table, arguments: Arguments
) -> tuple[pl.DataFrame, dict[str, Any], list[str]]:
    """Every interval with the columns of its collar, in file order."""
    import polars as pl

    collars = collars_of(other, arguments.right_hole, "right_hole", left.beside)
    brought = _brought(other, arguments.columns, {collars.hole})
    names = _free_names(left.table.frame.columns, brought, other)
    beside = other.frame.select(pl.col(name).alias(new) for name, new in names.items()).with_columns(
        collars.holes.alias("hole_key"), pl.lit(True).alias("is_matched")
    )
    frame = left.table.frame.with_columns(left.frame["hole"].alias("hole_key"))
    joined = frame.join(beside, on="hole_key", how="left", maintain_order="left")
    unmatched = int(joined["is_matched"].null_count())
    if arguments.keep == "matched":
        joined = joined.filter(pl.col("is_matched").is_not_null())
    shared = shared_holes(left.frame["hole"], collars.holes)
    results = {
        "rows_before": left.table.frame.height,
        "unmatched_rows": unmatched,
        "holes_in_both": shared.both,
        "rule": "by hole identifier as text, exactly; the right table has one row a hole",
    }
    notes = [*collars.notes, *shared.notes(left.table.path.name, other.path.name)]
    return joined.drop("hole_key", "is_matched"), results, notes


def _by_overlap(
    left: Intervals, usable: pl.DataFrame, other: Table, arguments: Arguments
) -> tuple[pl.DataFrame, dict[str, Any], list[str]]:
    """Intervals cut wherever either table has a boundary, so that each piece has one row of each."""
    import polars as pl

    right = intervals_of(
        other, arguments.right_hole, arguments.right_depth_from, arguments.right_depth_to, "right_", left.beside
    )
    matching = right.usable()
    refuse_overlaps(left, usable)
    refuse_overlaps(right, matching, "right_path")
    pieces = _pieces(usable, matching)
    unmatched = pieces["right"].null_count()
    length = float(pieces["length"].sum())
    covered = float(pieces.filter(pl.col("right").is_not_null())["length"].sum())
    if arguments.keep == "matched":
        pieces = pieces.filter(pl.col("right").is_not_null())
    own = {name for name in (right.hole, right.depth_from, right.depth_to) if name is not None}
    names = _free_names(left.table.frame.columns, _brought(other, arguments.columns, own), other)
    frame = left.table.frame[pieces["left"]].with_columns(
        pieces["start"].alias(left.depth_from), pieces["end"].alias(left.depth_to)
    )
    rows = pieces["right"]
    frame = frame.with_columns(other.frame.get_column(name).gather(rows).alias(new) for name, new in names.items())
    shared = shared_holes(left.frame["hole"], right.frame["hole"])
    results = {
        "rows_before": left.table.frame.height,
        "left_out": left.left_out(),
        "unmatched_rows": unmatched,
        "length": length,
        "length_matched": covered,
        "holes_in_both": shared.both,
        "rule": "cut where either table has a boundary; each piece keeps the values of both; holes as text, exactly",
    }
    notes = [*left.left_out_notes(), *right.notes, *right.left_out_notes()]
    notes += shared.notes(left.table.path.name, other.path.name)
    if frame.height != left.table.frame.height:
        notes.append("values of a cut interval stand in each of its pieces: weight by length, do not count rows")
    return frame, results, notes


def _pieces(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """`left`, `right` (row numbers, the latter null where nothing covers the piece), `start`, `end`, `length`."""
    import polars as pl

    holes = left.select("hole").unique()
    near = right.join(holes, on="hole", how="semi")
    ends = pl.concat(
        [part.select("hole", at=pl.col(name)) for part in (left, near) for name in ("start", "end")]
    ).unique().sort("hole", "at")  # fmt: skip
    pieces = ends.with_columns(end=pl.col("at").shift(-1).over("hole")).rename({"at": "start"})
    pieces = pieces.filter(pl.col("end") - pl.col("start") > SAME_DEPTH)
    for part, name in ((left, "left"), (near, "right")):
        beside = part.select("hole", start="start", bottom="end", **{name: "row"}).sort("hole", "start")
        found = pieces.sort("hole", "start").join_asof(
            beside, on="start", by="hole", strategy="backward", tolerance=None, check_sortedness=False
        )
        is_inside = pl.col("start") < pl.col("bottom") - SAME_DEPTH / 2
        pieces = found.with_columns(pl.when(is_inside).then(name).alias(name)).drop("bottom")
    kept = pieces.filter(pl.col("left").is_not_null()).with_columns(length=pl.col("end") - pl.col("start"))
    return kept.sort("left", "start")


def _brought(other: Table, wanted: list[str] | None, own: set[str]) -> list[str]:
    found = (
        find_columns(other, wanted, "columns") if wanted else [name for name in other.frame.columns if name not in own]
    )
    if not found:
        raise ArgumentError("columns", f"{other.path.name} has no column but hole and depths, so there is none to join")
    return found


def _free_names(taken: list[str], brought: list[str], other: Table) -> dict[str, str]:
    """What the brought columns are called: as they are, or with the right file's name where the left has such one."""
    used, names = set(taken), {}
    for name in brought:
        new = name if name not in used else f"{name}_{other.path.stem}"
        while new in used:
            new += "_"
        used.add(new)
        names[name] = new
    return names


TOOL = Tool(
    name="join_intervals",
    version=1,
    description="Joins drill tables: assay intervals with lithology or other intervals by hole and overlapping depths "
    "(cut at every boundary), or with the collar table by hole. Hole identifiers are compared as text.",
    asked_for=("join intervals", "join drill tables", "put drill tables together", "assign lithology to assays",
               "join collar", "add collar coordinates", "merge assays with lithology"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        assays with lithology; assign rock type to samples; which rock is each sample in; geology to assays;
        overlapping depth; tag samples with the logged unit; combine from-to tables; collar coordinates onto
        assays; lithology at the depth; split at boundaries; alteration log and assays; match by hole and depth;
        flag assays by geology; depth matching; combine downhole logs; coincident intervals; code the assays
        with geology; structure and assays; geotechnical log; core recovery with assays; depth join; transfer
        the log to the samples; mineralisation by logged unit; intersect two interval tables; put the geology
        log beside the chemistry; which formation does the sample lie in; collars onto intervals; drillhole
        tables into one; sampled stretch of core; put the logged geology next to each assay; what rock do the
        samples sit in, by depth; add alteration code from the log to assay depths; geology at the assay depth;
        add the rock; which lithology; combine logs and assays by depth; match depths; rock of each sample;
        combine geology and assays; logged unit; bring the geology log to the assays; which alteration is at
        that depth; attach the log by depth; from the lithology table; host rock of the grades; two downhole
        tables; join on depth; depth ranges; by hole and depth; assign geology; unit of each assay; link assays
        to the log; mark assays by domain
        """
    ),
)  # fmt: skip
