"""Length-weighted composites: intervals cut at regular lengths, or joined while a category stays the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH
from outcrop_specialists.tools.drilling.weighting import assayed_length, weighted_mean

if TYPE_CHECKING:
    import polars as pl

Residual = Literal["keep", "merge", "drop", "spread"]
# A composite takes some 100 bytes while it is made.
MOST_PIECES = 50_000_000


@dataclass(frozen=True)
class Composited:
    """`frame` has `hole`, `from`, `to`, the category where there is one, and for each grade its mean and
    `<grade>_coverage`. `lengths` has a row for each grade: assayed length before, in composites with a grade, of it
    lost, and length gained (composites' length with a grade that had no assay). `dropped` counts residuals."""

    frame: pl.DataFrame
    lengths: pl.DataFrame
    dropped: int


def composite(
    usable: pl.DataFrame, values: dict[str, str], length: float | None, residual: Residual, min_coverage: float
) -> Composited:
    """`usable` are intervals by hole and depth (`hole`, `start`, `end`, `length`), without overlaps, with the columns
    `values` names (name in the result: column) and, where composites end at a change of category, `category`.

    Raises ArgumentError where the length would make more pieces than fit into memory.
    """
    import polars as pl

    has_category = "category" in usable.columns
    runs = _runs(usable, length, residual)
    pieces = _pieces(usable, runs)
    keys = ["run", "bin"]
    place = runs.select("run", "hole", "run_start", "run_end", "step", "bins", *(["category"] if has_category else []))
    figures = [
        expression
        for name, column in values.items()
        for expression in (
            weighted_mean(column, "piece").alias(name),
            assayed_length(column, "piece").alias(f"{name}_coverage"),
        )
    ]
    frame = pieces.group_by(keys).agg(*figures).join(place, on="run").sort(keys)
    start = pl.col("run_start") + pl.col("bin") * pl.col("step")
    is_last = pl.col("bin") == pl.col("bins") - 1
    frame = frame.with_columns(start=start, end=pl.when(is_last).then("run_end").otherwise(start + pl.col("step")))
    width = pl.col("end") - pl.col("start")
    dropped = 0
    if residual == "drop" and length is not None:
        whole = frame.filter(width >= length - SAME_DEPTH)
        dropped, frame = frame.height - whole.height, whole
    frame = frame.with_columns(pl.col(f"{name}_coverage") / width for name in values)
    has_grade = {name: pl.col(f"{name}_coverage") >= min_coverage - 1e-9 for name in values}
    frame = frame.with_columns(
        pl.when(has_grade[name] & (pl.col(f"{name}_coverage") > 0)).then(pl.col(name)).alias(name) for name in values
    )
    return Composited(
        frame.select(
            "hole", pl.col("start").alias("from"), pl.col("end").alias("to"),
            *(["category"] if has_category else []),
            *(column for name in values for column in (name, f"{name}_coverage")),
        ),
        _lengths(usable, frame, values),
        dropped,
    )  # fmt: skip


def _runs(usable: pl.DataFrame, length: float | None, residual: Residual) -> pl.DataFrame:
    """Stretches that are composited by themselves: holes, or contiguous intervals of one category in a hole.

    With `step`, the length of a composite, and `bins`, their number.
    """
    import polars as pl

    by_category = "category" in usable.columns
    numbered = _numbered(usable)
    runs = numbered.group_by("run").agg(
        pl.col("hole").first(),
        pl.col("start").min().alias("run_start"),
        pl.col("end").max().alias("run_end"),
        *([pl.col("category").first()] if by_category else []),
    )
    span = pl.col("run_end") - pl.col("run_start")
    if length is None:
        return runs.with_columns(step=span, bins=pl.lit(1, pl.Int64)).sort("run")
    parts = span / length
    if residual == "spread":
        bins = parts.round().clip(lower_bound=1)
        return _bounded(runs.with_columns(bins=bins.cast(pl.Int64)).with_columns(step=span / pl.col("bins")))
    # A residual of less than SAME_DEPTH is rounding of the depths.
    over = parts - (parts + SAME_DEPTH / length).floor()
    count = (parts + SAME_DEPTH / length).floor() + (over * length > SAME_DEPTH).cast(pl.Float64)
    if residual == "merge":
        count = (parts + SAME_DEPTH / length).floor()
    return _bounded(runs.with_columns(bins=count.clip(lower_bound=1).cast(pl.Int64), step=pl.lit(length, pl.Float64)))


def _numbered(usable: pl.DataFrame) -> pl.DataFrame:
    """With the number of the run that each interval belongs to."""
    import polars as pl

    begins = pl.col("hole") != pl.col("hole").shift(1)
    if "category" in usable.columns:
        changes = pl.col("category").ne_missing(pl.col("category").shift(1))
        begins = begins | changes | (pl.col("start") > pl.col("end").shift(1) + SAME_DEPTH)
    return usable.with_columns(run=begins.fill_null(True).cast(pl.Int64).cum_sum())


def _bounded(runs: pl.DataFrame) -> pl.DataFrame:
    pieces = int(runs["bins"].sum())
    if pieces > MOST_PIECES:
        raise ArgumentError(
            "length", f"it makes {pieces:,} composites, {MOST_PIECES:,} at most are made; give a longer one"
        )
    return runs.sort("run")


def _pieces(usable: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The intervals cut at the ends of composites: `run`, `bin` and `piece`, the length of the part."""
    import polars as pl

    placed = _numbered(usable).join(runs.select("run", "run_start", "run_end", "step", "bins"), on="run")
    tiny = SAME_DEPTH / 2
    last = pl.col("bins") - 1
    first_bin = ((pl.col("start") - pl.col("run_start") + tiny) / pl.col("step")).floor().cast(pl.Int64)
    end_bin = ((pl.col("end") - pl.col("run_start") - tiny) / pl.col("step")).floor().cast(pl.Int64)
    cut = placed.with_columns(
        bin=pl.int_ranges(
            pl.min_horizontal(first_bin, last), pl.min_horizontal(pl.max_horizontal(end_bin, first_bin), last) + 1
        )
    ).explode("bin")
    top = pl.col("run_start") + pl.col("bin") * pl.col("step")
    bottom = pl.when(pl.col("bin") == last).then("run_end").otherwise(top + pl.col("step"))
    piece = pl.min_horizontal(pl.col("end"), bottom) - pl.max_horizontal(pl.col("start"), top)
    return cut.with_columns(piece=piece.clip(lower_bound=0.0))


def _lengths(usable: pl.DataFrame, frame: pl.DataFrame, values: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    width = pl.col("end") - pl.col("start")
    rows = []
    for name, column in values.items():
        before = float(usable.select(assayed_length(column)).item())
        graded = frame.filter(pl.col(name).is_not_null())
        inside = float(graded.select((pl.col(f"{name}_coverage") * width).sum()).item())
        spanned = float(graded.select(width.sum()).item())
        rows.append(
            {
                "column": name,
                "assayed_length": before,
                "composited_length": spanned,
                "lost_length": before - inside,
                "gained_length": spanned - inside,
            }
        )
    return pl.DataFrame(rows)
