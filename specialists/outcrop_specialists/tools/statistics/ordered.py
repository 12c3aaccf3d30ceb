"""Figures of many values that are quickest from sorted ones, and the rows of each group of a large table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]

MOST_CODED = 65_536
"""Up to so many groups rows are sorted by 16-bit codes, which takes one pass over them."""
SAMPLED_ROWS, FEW_VALUES = 10_000, 1_000


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
    import polars as pl

    values, codes = _coded(column)
    narrow = pl.UInt8 if len(values) < 256 else pl.UInt16 if len(values) < MOST_CODED else pl.UInt32
    numbers = codes.cast(narrow).to_numpy()
    order = numpy.argsort(numbers, kind="stable")
    bounds = numpy.searchsorted(numbers[order], numpy.arange(1, len(values) + 1))
    rows = numpy.split(order, bounds)
    found = values.to_list()
    return ([*found, None], rows) if len(rows[-1]) else (found, rows[:-1])


def _coded(column: pl.Series) -> tuple[pl.Series, pl.Series]:
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
        place_of = numpy.zeros(int(numbers.max(initial=0)) + 1, numpy.uint32)
        place_of[numbers] = numpy.arange(len(values), dtype=numpy.uint32)
        codes = pl.Series(place_of).gather(own)
    else:
        values = column.unique().drop_nulls().sort()
        if column.dtype == pl.String and len(values) < MOST_CODED:
            codes = column.cast(pl.Enum(values)).to_physical()
        else:
            codes = values.search_sorted(column)
    if column.null_count():
        codes = codes.cast(pl.UInt32).set(column.is_null(), None).fill_null(len(values))
    return values, codes


def _repeats(column: pl.Series) -> bool:
    """Whether a sample of the rows has few values: polars keeps each text that it numbers until the process ends."""
    return column.gather_every(max(1, len(column) // SAMPLED_ROWS)).n_unique() <= FEW_VALUES
