"""Gives the curves of a LAS section their types: numbers, and in LAS 3.0 text and dates as their format says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from outcrop_specialists.reading.las_header import Item
from outcrop_specialists.reading.types import (
    EXACT_FLOAT,
    INTEGER,
    LEADING_ZERO,
    NULL_AMONG_NUMBERS,
    Typed,
    type_columns,
)

if TYPE_CHECKING:
    import polars as pl

DATE_WORDS = {"YYYY": "%Y", "MMM": "%b", "MM": "%m", "DD": "%d", "HH": "%H", "NN": "%M", "SS": "%S", "YY": "%y"}
DATE_FORMAT = re.compile(r"(?=.*YY)(?=.*[MD]).+")
SHOWN = 8


def typed_columns(
    curves: Sequence[Item], texts: Sequence[Sequence[str]], null: float | None, *, is_strict: bool
) -> tuple[Typed, dict[str, int]]:
    """The columns with types, and how many values of each were the declared null.

    The index, the first column, has no nulls: a depth may well be 999.25. `is_strict` (LAS 3.0) keeps texts with
    leading zeros as texts; before, every curve is of numbers.
    """
    import polars as pl

    typed = Typed()
    nulls: dict[str, int] = {}
    for position, (curve, values) in enumerate(zip(curves, texts, strict=True)):
        column = pl.Series(curve.mnemonic, values, dtype=pl.String).str.strip_chars()
        column = column.set((column == "").fill_null(False), None)
        if position and null is not None:
            is_null = (column.cast(pl.Float64, strict=False) == null).fill_null(False)
            if is_null.any():
                nulls[curve.mnemonic] = int(is_null.sum())
                column = column.set(is_null, None)
        # A log by time often gives the format where the unit stands: TIME.DD/MM/YYYY-HH:MM:SS.
        form = curve.unit if not curve.format and is_date_format(curve.unit) else curve.format
        _add(column, form.upper(), typed, is_strict)
    return typed, nulls


def is_date_format(text: str) -> bool:
    """Whether a format or a unit is a date: DD/MM/YYYY, YYYY-MM-DD hh:mm."""
    return DATE_FORMAT.fullmatch(text.upper()) is not None


def null_note(null: float, nulls: Mapping[str, int]) -> str:
    """How many declared nulls were read as missing, in which curves."""
    named = ", ".join(f"{name!r} {count}" for name, count in list(nulls.items())[:SHOWN])
    more = f" and {len(nulls) - SHOWN} more curves" if len(nulls) > SHOWN else ""
    return f"the declared null {null:g} read as missing, {sum(nulls.values())} values: {named}{more}"


def _add(column: pl.Series, form: str, typed: Typed, is_strict: bool) -> None:
    if form.startswith("S"):
        typed.columns.append(column)
        return
    if is_date_format(form):
        typed.columns.append(_dates(column, form, typed))
        return
    number = None if is_strict and not form and column.str.contains(LEADING_ZERO).any() else _numbers(column, typed)
    if number is not None:
        typed.columns.append(number)
        return
    other = type_columns([column], comma_decimals=True)
    typed.columns += other.columns
    typed.qualifiers |= other.qualifiers
    typed.take_notes_of(other)


def _numbers(column: pl.Series, typed: Typed) -> pl.Series | None:
    import polars as pl

    words = column.is_in(NULL_AMONG_NUMBERS).fill_null(False)
    known = column.set(words, None)
    floats = known.cast(pl.Float64, strict=False)
    if floats.null_count() > known.null_count() or not floats.is_finite().all():
        return None
    if words.any():
        typed.note("words for missing values read as missing", column.name, int(words.sum()))
    whole = known.drop_nulls()
    if len(whole) and whole.str.contains(INTEGER).all() and (floats.drop_nulls().abs() < EXACT_FLOAT).all():
        return floats.cast(pl.Int64)
    return floats


def _dates(column: pl.Series, form: str, typed: Typed) -> pl.Series:
    """Dates or times as the format of LAS 3.0 says ({YYYY/MM/DD hh:mm:ss}); as text where one does not fit."""
    pattern = re.sub(r"(H+):MM", r"\1:NN", form)
    pattern = re.sub(r"YYYY|MMM|MM|DD|HH|NN|SS|YY", lambda match: DATE_WORDS[match[0]], pattern)
    has_date, has_time = "%d" in pattern, "%H" in pattern
    if has_date:
        found = (
            column.str.to_datetime(pattern, strict=False, time_unit="us")
            if has_time
            else column.str.to_date(pattern, strict=False)
        )
        if found.null_count() == column.null_count():
            return found
    typed.note("kept as text, as not every value is of the format that is declared", column.name)
    return column
