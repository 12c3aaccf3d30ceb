"""Finds rows whose values stand one field too far left, because an empty field was left out in the middle.

Such rows have the right number of fields, so only their values give them away: the last column is empty in them, a
column further left is filled in them alone, and between the two each column looks like its right neighbour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcrop_schemas.errors import DataError

if TYPE_CHECKING:
    import polars as pl

FEWEST_ROWS = 5
FEWEST_COLUMNS = 4
STRAY_SHARE = 0.05
"""Up to this share of the normal rows may fill the suspected column too."""
BETTER_FIT = 0.5
NUMBER_INSIDE = r"^\s*[<>≤≥]?\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$"


def refuse_shifted_rows(file: str, columns: list[pl.Series]) -> None:
    """Raise DataError if a group of rows fits the header much better one field further right."""
    if len(columns) < FEWEST_COLUMNS:
        return
    filled = [(column.str.strip_chars() != "").fill_null(False) for column in columns]
    suspects = ~filled[-1]
    count = int(suspects.sum())
    if not FEWEST_ROWS <= count <= len(suspects) - FEWEST_ROWS:
        return
    allowed = STRAY_SHARE * (len(suspects) - count)
    for index in range(1, len(columns) - FEWEST_COLUMNS + 1):
        only_there = (
            bool(filled[index].filter(suspects).all()) and int(filled[index].filter(~suspects).sum()) <= allowed
        )
        if only_there and _fits_shifted(columns[index:], suspects):
            raise DataError(
                f"{file}: {count} of {len(suspects)} rows are shifted one field to the left from column "
                f"{columns[index].name!r} on (first: data row "
                f"{suspects.arg_true()[0] + 1}): an empty field was left out there; insert it in these rows"
            )


def _fits_shifted(columns: list[pl.Series], suspects: pl.Series) -> bool:
    """Whether the suspects' typical magnitudes agree better with the next column's than with their own column's."""
    normal = [_magnitude(column.filter(~suspects)) for column in columns]
    odd = [_magnitude(column.filter(suspects)) for column in columns]
    as_is, shifted = [], []
    for index in range(1, len(columns) - 1):
        found, own, following = odd[index], normal[index], normal[index + 1]
        if found is not None and own is not None and following is not None:
            as_is.append(abs(found - own))
            shifted.append(abs(found - following))
    return len(as_is) >= FEWEST_COLUMNS - 2 and sum(shifted) < BETTER_FIT * sum(as_is)


def _magnitude(column: pl.Series) -> float | None:
    """Median of log10 of the positive numbers in a text column, a limit counting as its number; None without any."""
    import polars as pl

    numbers = column.str.extract(NUMBER_INSIDE).cast(pl.Float64, strict=False)
    middle = numbers.filter(numbers > 0).log10().median()
    return float(middle) if isinstance(middle, float) else None
