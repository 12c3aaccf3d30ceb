"""Figures of many values that are quickest from sorted ones, and the rows of each group of a large table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]

MOST_CODED = 65_536
LOOKED_FOR = 16
"""Rows of so few groups are looked for one group after the other, which is quicker than to sort all."""
SAMPLED_ROWS, FEW_VALUES = 10_000, 1_000
MANY_VALUES, BLOCK_VALUES = 100_000, 16_384


def ascending(values: Rows) -> Rows:
    """A sorted copy of floats, NaN last. Many are sorted by polars, which takes less time for it and all processors."""
    import numpy
    import polars as pl

    if len(values) < MANY_VALUES:
        return numpy.sort(values)
    return pl.Series(values).sort().to_numpy()


def deviation(values: Rows) -> float:
    """Standard deviation with n - 1 of two values at least, without NaN: the corrected two-pass algorithm (Chan, Golub
    & LeVeque 1983), block by block, since memory for all differences at once takes longer than to compute them."""
    import numpy

    mean = float(numpy.sum(values)) / len(values)
    squares, rest = [], []
    for start in range(0, len(values), BLOCK_VALUES):
        differences = values[start : start + BLOCK_VALUES] - mean
        rest.append(float(numpy.sum(differences)))
        differences *= differences
        squares.append(float(numpy.sum(differences)))
    variance = (math.fsum(squares) - math.fsum(rest) ** 2 / len(values)) / (len(values) - 1)
    return math.sqrt(max(variance, 0.0))


def percentiles_of(ordered: Rows, wanted: Sequence[float]) -> list[float]:
    """Percentiles (0 to 100) of ascending values without NaN, one at least: Hyndman & Fan (1996), type 7, to the last
    digit as `numpy.percentile` gives them, which would look for each again."""
    found = []
    for percent in wanted:
        at = (len(ordered) - 1) * (percent / 100)
        low = int(at)
        share = at - low
        below, above = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
        step = above - below
        found.append(above - step * (1 - share) if share >= 0.5 else below + step * share)
    return found


def rows_by_value(column: pl.Series) -> tuple[list[Any], list[Rows]]:
    """The values of a column in ascending order, None last, and for each the row numbers in ascending order."""
    import numpy

    values, codes = _coded(column)
    number = len(values) + bool(column.null_count())
    if number <= LOOKED_FOR:
        rows = [numpy.flatnonzero(codes == code) for code in range(number)]
    else:
        order = numpy.argsort(codes, kind="stable")
        rows = numpy.split(order, numpy.searchsorted(codes[order], numpy.arange(1, number, dtype=codes.dtype)))
    return [*values, *[None] * (number - len(values))], rows[:number]


def _coded(column: pl.Series) -> tuple[list[Any], Rows]:
    """The values in ascending order, and for each row the place of its value among them, their number where none."""
    import numpy
    import polars as pl

    if column.dtype == pl.String and _repeats(column):
        # One pass of hashing gives rows and values, in the order of polars' own numbers.
        hashed = column.cast(pl.Categorical)
        found = hashed.unique().drop_nulls()
        by_value = pl.DataFrame({"value": found.cast(pl.String), "number": found.to_physical()}).sort("value")
        values, own = by_value["value"], hashed.to_physical()
        numbers = by_value["number"].to_numpy()
        none = int(numbers.max()) + 1 if len(numbers) else 0
        place_of = numpy.full(none + 1, len(values), _narrow(len(values)))
        place_of[numbers] = numpy.arange(len(values))
        return values.to_list(), place_of[own.fill_null(none).to_numpy()]
    values = column.unique().drop_nulls().sort()
    if column.dtype == pl.String and len(values) < MOST_CODED:
        codes = column.cast(pl.Enum(values)).to_physical()
    else:
        codes = values.search_sorted(column)
    if column.null_count():
        codes = codes.cast(pl.UInt32).set(column.is_null(), None).fill_null(len(values))
    return values.to_list(), codes.to_numpy().astype(_narrow(len(values)))


def _narrow(most: int) -> type[Any]:
    """The narrowest type of codes up to `most`: sorting takes one pass over those of 8 and 16 bits."""
    import numpy

    return numpy.uint8 if most < 256 else numpy.uint16 if most < MOST_CODED else numpy.uint32


def _repeats(column: pl.Series) -> bool:
    """Whether a sample of the rows has few values: polars keeps each text that it numbers until the process ends."""
    return column.gather_every(max(1, len(column) // SAMPLED_ROWS)).n_unique() <= FEW_VALUES
