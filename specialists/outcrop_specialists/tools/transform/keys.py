"""Keys by which two tables are joined: made comparable, and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl

Matching = Literal["exact", "ignore_case_and_blanks"]
EXACT_FLOAT = 2**53


@dataclass(frozen=True)
class Keys:
    """The keys of both tables, as frames with columns `k0`, `k1`, …, in the order of the tables' rows.

    A key with a missing part is null in all of its parts: it joins nothing.
    """

    left: pl.DataFrame
    right: pl.DataFrame
    notes: list[str]

    @property
    def names(self) -> list[str]:
        return self.left.columns


def comparable(left: Table, right: Table, pairs: list[tuple[str, str]], matching: Matching) -> Keys:
    """Keys of one type each. Where types differ both are compared as text, and it is said.

    Raises ArgumentError for types that cannot be compared.
    """
    import polars as pl

    notes: list[str] = []
    one, other = [], []
    for number, (a, b) in enumerate(pairs):
        first, second = left.frame.get_column(a), right.frame.get_column(b)
        first, second = _same_type(first, second, notes)
        if first.dtype == pl.String and matching != "exact":
            first, second = folded(first), folded(second)
        one.append(first.alias(f"k{number}"))
        other.append(second.alias(f"k{number}"))
    return Keys(_whole(pl.DataFrame(one)), _whole(pl.DataFrame(other)), notes)


def folded(column: pl.Series) -> pl.Series:
    """Text without outer blanks, runs of blanks as one, in lower case."""
    return column.str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()


def as_text(column: pl.Series) -> pl.Series:
    """How a key stands in text: 34873 also where it is held as 34873.0."""
    import polars as pl

    if column.dtype.is_float():
        values = column.drop_nulls()
        if ((values % 1 == 0) & (values.abs() < EXACT_FLOAT)).all():
            column = column.cast(pl.Int64)
    return column.cast(pl.String)


def _same_type(first: pl.Series, second: pl.Series, notes: list[str]) -> tuple[pl.Series, pl.Series]:
    import polars as pl

    kinds = first.dtype, second.dtype
    if kinds[0] == kinds[1]:
        return first, second
    if kinds[0].is_integer() and kinds[1].is_integer():
        return first.cast(pl.Int128), second.cast(pl.Int128)
    if kinds[0].is_numeric() and kinds[1].is_numeric():
        return first.cast(pl.Float64), second.cast(pl.Float64)
    if pl.String not in kinds:
        raise ArgumentError("on", f"{first.name!r} holds {kinds[0]} values, {second.name!r} {kinds[1]}: not comparable")
    said = f"{bounded.named([first.name])} is {_said(kinds[0])} on the left and {_said(kinds[1])} on the right"
    notes.append(f"{said}: compared as text")
    return as_text(first), as_text(second)


def _said(kind: pl.DataType) -> str:
    import polars as pl

    return "text" if kind == pl.String else "a number" if kind.is_numeric() else str(kind)


def _whole(keys: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    is_whole = pl.all_horizontal(pl.col(keys.columns).is_not_null())
    return keys.select(pl.when(is_whole).then(pl.col(name)).alias(name) for name in keys.columns)
