"""Intercepts: stretches of a hole at or above a cut-off, with limited waste inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH

if TYPE_CHECKING:
    import polars as pl

FIGURES = ("start", "end", "length", "metal", "metal_uncut", "max", "intervals", "waste")


def find(usable: pl.DataFrame, cutoff: float, max_waste: float) -> pl.DataFrame:
    """Intercepts of intervals by hole and depth: `hole`, `start`, `end`, `length`, `grade` (of `grade`, the values that
    count), `grade_uncut` (of `uncut`), `metal`, `max` (uncut), `intervals`, `waste` (length below the cut-off inside).

    An interval without a grade, or a gap, ends an intercept. Waste between two stretches of ore joins them when it is
    no longer than `max_waste` and the whole still has the cut-off.
    """
    import polars as pl

    runs = _ore_and_waste(usable, cutoff)
    ore = runs.filter("is_ore").with_columns(
        waste_before=pl.when(pl.col("part") == pl.col("part").shift(1)).then(
            pl.col("start") - pl.col("end").shift(1)
        ),
        waste_metal=pl.col("waste_metal_before"), waste_uncut=pl.col("waste_uncut_before"),
    )  # fmt: skip
    joins = (ore["waste_before"] <= max_waste + SAME_DEPTH).fill_null(False)
    ore = ore.with_columns(group=(~joins).cast(pl.Int64).cum_sum())
    ore = ore.with_columns(pl.Series("group", _divided(ore, cutoff), dtype=pl.Int64))
    inside = pl.col("group") == pl.col("group").shift(1)
    found = (
        ore.with_columns(
            pl.when(inside).then(pl.col(name)).otherwise(0.0).alias(name)
            for name in ("waste_before", "waste_metal", "waste_uncut")
        )
        .with_columns(waste_intervals=pl.when(inside).then("waste_intervals_before").otherwise(0))
        .group_by("group")
        .agg(
            pl.col("hole").first(),
            pl.col("start").min(),
            pl.col("end").max(),
            metal=pl.col("metal").sum() + pl.col("waste_metal").sum(),
            metal_uncut=pl.col("metal_uncut").sum() + pl.col("waste_uncut").sum(),
            max=pl.col("max").max(),
            intervals=pl.col("intervals").sum() + pl.col("waste_intervals").sum(),
            waste=pl.col("waste_before").sum(),
        )
        .sort("group")
    )
    length = pl.col("end") - pl.col("start")
    return found.select(
        "hole", "start", "end", length.alias("length"), (pl.col("metal") / length).alias("grade"),
        (pl.col("metal_uncut") / length).alias("grade_uncut"), "metal", "max", "intervals", "waste",
    )  # fmt: skip


def _ore_and_waste(usable: pl.DataFrame, cutoff: float) -> pl.DataFrame:
    """Runs of contiguous assayed intervals on one side of the cut-off; `part` tells stretches without a break."""
    import polars as pl

    has_grade = pl.col("grade").is_not_null()
    starts_part = (
        (pl.col("hole") != pl.col("hole").shift(1))
        | (pl.col("start") > pl.col("end").shift(1) + SAME_DEPTH)
        | ~has_grade.shift(1)
    ).fill_null(True)
    parts = usable.with_columns(part=starts_part.cast(pl.Int64).cum_sum(), is_ore=pl.col("grade") >= cutoff)
    parts = parts.filter(has_grade)
    changes = (pl.col("part") != pl.col("part").shift(1)) | (pl.col("is_ore") != pl.col("is_ore").shift(1))
    runs = (
        parts.with_columns(run=changes.fill_null(True).cast(pl.Int64).cum_sum())
        .group_by("run")
        .agg(
            pl.col("hole", "part", "is_ore").first(),
            pl.col("start").min(),
            pl.col("end").max(),
            metal=(pl.col("grade") * pl.col("length")).sum(),
            metal_uncut=(pl.col("uncut") * pl.col("length")).sum(),
            max=pl.col("uncut").max(),
            intervals=pl.len().cast(pl.Int64),
        )
        .sort("run")
    )
    return runs.with_columns(
        waste_metal_before=pl.col("metal").shift(1),
        waste_uncut_before=pl.col("metal_uncut").shift(1),
        waste_intervals_before=pl.col("intervals").shift(1),
    )


def _divided(ore: pl.DataFrame, cutoff: float) -> list[int]:
    """Group numbers, where a group whose whole is below the cut-off is divided: from the top, a stretch is joined only
    while the whole keeps the cut-off."""
    groups: list[int] = ore["group"].to_list()
    import polars as pl

    inside = pl.col("group") == pl.col("group").shift(1)
    whole = ore.group_by("group").agg(
        grade=(pl.col("metal").sum() + pl.when(inside).then("waste_metal").otherwise(0.0).sum())
        / (pl.col("end").max() - pl.col("start").min())
    )
    poor = set(whole.filter(pl.col("grade") < cutoff)["group"])
    if not poor:
        return groups
    columns: list[list[Any]] = [ore[name].to_list() for name in ("start", "end", "metal", "waste_metal")]
    shift = 0
    metal = top = 0.0
    last = -1
    # Over the rows of few groups only: each step depends on what was joined before.
    for place, group in enumerate(groups):
        start, end, own, waste = (column[place] for column in columns)
        if group != last:
            metal, top, last = own, start, group
        elif group in poor:
            joined = metal + waste + own
            if joined >= cutoff * (end - top) - 1e-12 * abs(joined):
                metal = joined
            else:
                shift += 1
                metal, top = own, start
        groups[place] = group + shift
    return groups
