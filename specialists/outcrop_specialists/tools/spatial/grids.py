"""Regular grids of point values: cells, block statistics and interpolation at cell centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MOST_CELLS = 4_000_000
Block = Literal["block_mean", "block_median", "block_count"]
Interpolation = Literal["idw", "linear", "nearest"]


@dataclass(frozen=True)
class Grid:
    """Cells of one size whose edges are multiples of it; `column` and `line` number them from the lower left."""

    size: float
    first_column: int
    first_line: int
    columns: int
    lines: int

    def centres(self) -> tuple[Vector, Vector]:
        """x and y of all cell centres, line by line from the south."""
        import numpy

        x = (self.first_column + numpy.arange(self.columns) + 0.5) * self.size
        y = (self.first_line + numpy.arange(self.lines) + 0.5) * self.size
        across, up = numpy.meshgrid(x, y)
        return across.ravel(), up.ravel()


def grid_over(x: Vector, y: Vector, size: float) -> Grid:
    """The cells that hold all points. Raises ArgumentError where there would be too many."""
    import numpy

    columns, lines = numpy.floor(x / size), numpy.floor(y / size)
    wide, high = (float(values.max() - values.min()) + 1 for values in (columns, lines))
    if wide * high > MOST_CELLS:
        raise ArgumentError(
            "cell_size",
            f"it makes {wide:,.0f} by {high:,.0f} cells, {MOST_CELLS:,} at most are made; give a larger one",
        )
    return Grid(size, int(columns.min()), int(lines.min()), int(wide), int(high))


def blocks(frame: pl.DataFrame, grid: Grid, values: list[str], method: Block) -> pl.DataFrame:
    """Cells with at least one row of `frame` (`x`, `y`, values): `x`, `y` of the centre, `count` and each value's
    statistic over the rows that have it."""
    import polars as pl

    how = {"block_mean": pl.Expr.mean, "block_median": pl.Expr.median, "block_count": pl.Expr.count}[method]
    cells = frame.with_columns(
        (pl.col(axis) / grid.size).floor().cast(pl.Int64).alias(f"{axis}_cell") for axis in ("x", "y")
    )
    figures = [how(pl.col(name)).alias(name) for name in values]
    found = cells.group_by("y_cell", "x_cell").agg(pl.len().cast(pl.Int64).alias("count"), *figures)
    centre = [((pl.col(f"{axis}_cell") + 0.5) * grid.size).alias(axis) for axis in ("x", "y")]
    return found.sort("y_cell", "x_cell").with_columns(centre).select("x", "y", "count", *values)


def interpolated(
    points: Vector,
    values: Vector,
    at: Vector,
    method: Interpolation,
    *,
    power: float,
    neighbours: int,
    reach: float | None,
) -> Vector:
    """Values at places (n, 2), NaN where there is none: outside the hull (linear) or beyond `reach`.

    idw after D. Shepard, A two-dimensional interpolation function for irregularly-spaced data, Proc. 23rd ACM National
    Conference, 1968, 517-524: weights 1 / distance ** power over the nearest `neighbours`.
    """
    import numpy
    from scipy.spatial import QhullError, cKDTree

    points, values = _one_value_a_place(points, values)
    tree = cKDTree(points)
    limit = numpy.inf if reach is None else reach
    if method == "linear":
        from scipy.interpolate import LinearNDInterpolator

        try:
            centre = points.mean(axis=0)
            found: Vector = LinearNDInterpolator(points - centre, values)(at - centre)
        except QhullError as error:
            raise ArgumentError("method", "linear needs three places that are not on one line; use nearest") from error
        return numpy.asarray(numpy.where(tree.query(at)[0] <= limit, found, numpy.nan))
    if method == "nearest":
        distance, index = tree.query(at)
        return numpy.asarray(numpy.where(distance <= limit, values[index], numpy.nan))
    count = min(neighbours, len(points))
    distance, index = tree.query(at, k=[*range(1, count + 1)], distance_upper_bound=limit)
    has = numpy.isfinite(distance)
    index = numpy.where(has, index, 0)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        weights = numpy.where(has, 1.0 / distance**power, 0.0)
    # At a data place the value itself: its weight would be infinite.
    hits = has & (distance == 0)
    weights = numpy.where(hits.any(axis=1, keepdims=True), hits.astype(float), weights)
    total = weights.sum(axis=1)
    summed = (weights * values[index]).sum(axis=1)
    mean: Vector = numpy.divide(summed, total, out=numpy.full(len(at), numpy.nan), where=total > 0)
    return mean


def _one_value_a_place(points: Vector, values: Vector) -> tuple[Vector, Vector]:
    """Rows at the same place as one, with their mean."""
    import numpy

    places, which = numpy.unique(points, axis=0, return_inverse=True)
    which = which.ravel()
    return places, numpy.bincount(which, weights=values) / numpy.bincount(which)
