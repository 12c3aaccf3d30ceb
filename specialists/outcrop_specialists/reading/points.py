"""Points that were read as decimals and may mark thousands: told, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.types import Comma, Typed

LIKELY_THOUSANDS = r"^\s*[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+\s*$"
SMALL = r"^\s*[+-]?[0-9]{1,3}\s*$"
TRIED_VALUES = 1_000


def note_two_readings(column: pl.Series, typed: Typed, comma: Comma) -> None:
    """Say where a file that may have decimal commas writes points only as thousands are written, beside numbers of
    less than a thousand without one: decimals of three digits would as a rule end with fewer, or with zeros."""
    if comma != "possible" or not _may_be_thousands(column.head(TRIED_VALUES)) or not _may_be_thousands(column):
        return
    points = column.str.contains(".", literal=True).fill_null(False)
    small = int((~points & column.str.contains(SMALL)).fill_null(False).sum())
    if int(points.sum()) >= 2 and small:
        text = "CHECK: points read as decimals may mark thousands (all have three digits behind them)"
        first = f"first in data row {points.arg_true()[0] + 1}"
        told = f"({int(points.sum())} values with a point, {small} whole numbers below 1000, {first})"
        typed.note(text, column.name, told)


def _may_be_thousands(column: pl.Series) -> bool:
    known = column.drop_nulls()
    return bool((known.str.contains(LIKELY_THOUSANDS) | known.str.contains(SMALL) | (known == "")).all())
