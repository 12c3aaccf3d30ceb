"""Counts of one category within the groups of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_GROUPS = 500


@dataclass(frozen=True)
class Crossed:
    """(groups, levels) counts, none of whose rows and columns is empty; rows of the groups without a value."""

    counts: Array
    groups: list[str]
    levels: list[str]
    missing: int


def cross(table: Table, column: str, by: str, groups: Mapping[str, Array]) -> Crossed:
    """Count the values of `column` in each group of rows (`by` names what made them).

    Raises ArgumentError for more values than a category has, and where there are fewer than two of either.
    """
    import numpy
    import polars as pl

    number = numpy.full(table.height, -1)
    for index, rows in enumerate(groups.values()):
        number[rows] = index
    values = table.column(column).cast(pl.String)
    pairs = pl.DataFrame({"group": number, "value": values}).filter(pl.col("group") >= 0).drop_nulls()
    levels = pairs["value"].unique().sort().to_list()
    if len(levels) > MOST_GROUPS:
        raise ArgumentError("column", f"{column!r} has {len(levels):,} different values; a category or numbers needed")
    names = list(groups)
    kept = sorted(pairs["group"].unique().to_list())
    if len(levels) < 2 or len(kept) < 2:
        raise ArgumentError("column", f"{column!r} and {by!r} need two categories each, among rows that have both")
    counts = numpy.zeros((len(kept), len(levels)), dtype=int)
    for group, value, count in pairs.group_by("group", "value").len().iter_rows():
        counts[kept.index(group), levels.index(value)] = count
    missing = sum(len(rows) for rows in groups.values()) - pairs.height
    return Crossed(counts, [names[index] for index in kept], levels, missing)
