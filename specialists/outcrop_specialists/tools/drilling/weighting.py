"""Length-weighted figures of intervals: blanks have no weight and are never zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def assayed_length(name: str, length: str = "length") -> pl.Expr:
    """Length of the intervals that have a value."""
    import polars as pl

    return pl.col(length).filter(pl.col(name).is_not_null()).sum()


def metal(name: str, length: str = "length") -> pl.Expr:
    """Sum of grade times length; null where no interval has a value."""
    import polars as pl

    return pl.when(pl.col(name).is_not_null().any()).then((pl.col(name) * pl.col(length)).sum())


def weighted_mean(name: str, length: str = "length") -> pl.Expr:
    """Length-weighted mean grade; null where no interval has a value."""
    return metal(name, length) / assayed_length(name, length)
