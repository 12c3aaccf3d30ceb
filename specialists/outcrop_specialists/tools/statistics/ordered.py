"""Figures of many values that are quickest from sorted ones, and the rows of each group of a large table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.plain import ahead

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]

MOST_CODED = 65_536
LOOKED_FOR = 16
"""Rows of so few groups are looked for one group after the other, which is quicker than to sort all."""
SAMPLED_ROWS, FEW_VALUES = 10_000, 1_000
MANY_VALUES, BLOCK_VALUES = 100_000, 16_384


def ascending(values: Rows | pl.Series) -> Rows:
    """The finite values in ascending order. A series of many is sorted by polars on all processors."""
    import numpy

    if isinstance(values, numpy.ndarray):
        ordered = numpy.sort(values)
    else:
        # Nulls come first, NaN last.
        ordered = values.sort().slice(values.null_count()).to_numpy()
    if len(ordered) and not (numpy.isfinite(ordered[0]) and numpy.isfinite(ordered[-1])):
        ordered = ordered[numpy.isfinite(ordered)]
    return ordered


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


def masks_by_value(column: pl.Series) -> tuple[list[Any], list[pl.Series]] | None:
    """The values of a column in ascending order, None last, and for each a mask of its rows; None where they are many.
    To filter by a few masks is quicker than to find rows and gather them."""
    import polars as pl

    if column.dtype != pl.String or not _repeats(column):
        return None
    values, codes = _coded(column)
    number = len(values) + bool(column.null_count())
    if number > LOOKED_FOR:
        return None
    coded = pl.Series(codes)
    return [*values, *[None] * (number - len(values))], [coded == code for code in range(number)]


def _coded(column: pl.Series) -> tuple[list[Any], Rows]:
    """The values in ascending order, and for each row the place of its value among them, their number where none."""
    import numpy
    import polars as pl

    if column.dtype == pl.String and _repeats(column):
        # One pass of hashing gives rows and values, in the order of polars' own numbers, the same in all parts.
        parts = list(ahead(_hashed, _halves(column)))
        by_value = pl.concat([values for values, _ in parts]).unique().sort("value")
        numbers = by_value["number"].to_numpy()
        none = int(numbers.max()) + 1 if len(numbers) else 0
        place_of = numpy.full(none + 1, len(numbers), _narrow(len(numbers)))
        place_of[numbers] = numpy.arange(len(numbers))
        codes = numpy.concatenate([place_of[own.fill_null(none).to_numpy()] for _, own in parts])
        return by_value["value"].to_list(), codes
    values = column.unique().drop_nulls().sort()
    if column.dtype == pl.String and len(values) < MOST_CODED:
        found = column.cast(pl.Enum(values)).to_physical()
    else:
        found = values.search_sorted(column)
    if column.null_count():
        found = found.cast(pl.UInt32).set(column.is_null(), None).fill_null(len(values))
    return values.to_list(), found.to_numpy().astype(_narrow(len(values)))


def _halves(column: pl.Series) -> list[pl.Series]:
    half = len(column) // 2
    return [column] if half < MANY_VALUES else [column[:half], column[half:]]


def _hashed(column: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """The different texts with their numbers, and for each row the number of its text, null where it has none."""
    import polars as pl

    hashed = column.cast(pl.Categorical)
    found = hashed.unique().drop_nulls()
    return pl.DataFrame({"value": found.cast(pl.String), "number": found.to_physical()}), hashed.to_physical()


def _narrow(most: int) -> type[Any]:
    """The narrowest type of codes up to `most`: sorting takes one pass over those of 8 and 16 bits."""
    import numpy

    return numpy.uint8 if most < 256 else numpy.uint16 if most < MOST_CODED else numpy.uint32


def _repeats(column: pl.Series) -> bool:
    """Whether a sample of the rows has few values: polars keeps each text that it numbers until the process ends."""
    return column.gather_every(max(1, len(column) // SAMPLED_ROWS)).n_unique() <= FEW_VALUES
