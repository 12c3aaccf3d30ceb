"""The faults that a table of intervals can have, each as a line: which hole, from where to where, which row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcrop_specialists.tools.drilling.collars import HoleDepths
from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH, Intervals

if TYPE_CHECKING:
    import polars as pl

KINDS = (
    "gap",
    "overlap",
    "duplicate",
    "zero_length",
    "from_beyond_to",
    "missing",
    "above_collar",
    "beyond_final_depth",
    "out_of_order",
)


def find_issues(intervals: Intervals, usable: pl.DataFrame, collars: HoleDepths | None) -> pl.DataFrame:
    """Columns `issue`, `hole`, `from`, `to`, `length`, `row` (data row, from 1), by hole and depth.

    From and to of a gap or an overlap are its own; of other issues those of the interval.
    """
    import polars as pl

    start, end = pl.col("start"), pl.col("end")
    lacks = pl.col("hole").is_null() | start.is_null() | end.is_null()
    frame = intervals.frame
    # By hole and depth: equal ones stand one below the other.
    is_repeat = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in ("hole", "start", "end"))
    marked = usable.with_columns(is_repeat=is_repeat.fill_null(False))
    once = marked.filter(~pl.col("is_repeat")).with_columns(
        before=pl.col("end").cum_max().shift(1).over("hole"),
    )
    ordered = frame.filter(~lacks).with_columns(above=start.cum_max().shift(1).over("hole"))
    found = {
        "gap": once.filter(start > pl.col("before") + SAME_DEPTH).with_columns(start=pl.col("before"), end=start),
        "overlap": once.filter(start < pl.col("before") - SAME_DEPTH).with_columns(
            end=pl.min_horizontal("end", "before")
        ),
        "duplicate": marked.filter("is_repeat"),
        "zero_length": frame.filter(~lacks & (start == end)),
        "from_beyond_to": frame.filter(~lacks & (start > end)),
        "missing": frame.filter(lacks),
        "above_collar": usable.filter(start < -SAME_DEPTH),
        "beyond_final_depth": _beyond(usable, collars),
        "out_of_order": ordered.filter(start < pl.col("above") - SAME_DEPTH),
    }
    parts = [
        part.select(
            issue=pl.lit(kind), hole="hole", **{"from": start, "to": end}, length=end - start, row=pl.col("row") + 1
        )
        for kind, part in found.items()
    ]
    rank = {kind: place for place, kind in enumerate(KINDS)}
    return pl.concat(parts).sort(
        pl.col("issue").replace_strict(rank, return_dtype=pl.Int64), "hole", "from", "row", nulls_last=True
    )


def _beyond(usable: pl.DataFrame, collars: HoleDepths | None) -> pl.DataFrame:
    import polars as pl

    if collars is None:
        return usable.clear()
    return usable.join(collars.frame, on="hole", how="left").filter(pl.col("end") > pl.col("final") + SAME_DEPTH)
