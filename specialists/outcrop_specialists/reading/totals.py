"""Rows that are sums or means of other rows: left out where that is proven, suspected where only a word says so."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.types import Typed

TOTAL = re.compile(r"^\s*(?:grand |sub-?)?(?:totals?|sum|mean|average|gesamt|summe|mittelwert)\b", re.IGNORECASE)
MEAN = re.compile(r"mean|average|mittel", re.IGNORECASE)
EVERYTHING = re.compile(
    r"^(?:(?:grand |sub-?)?totals?|all|overall|all [a-z ]{1,30}|sum|gesamt|alle|summe|totaal|toutes?|tous)$",
    re.IGNORECASE,
)
MOST_TOTALS = 3
MOST_CATEGORIES = 1_000
MOST_SHARE = 0.5
ROUNDING = 1e-9


def suspected_total(fields: Sequence[str]) -> str | None:
    """The word (total, sum, mean) with which the first or second field of a row begins."""
    found = next(filter(None, map(TOTAL.match, fields[:2])), None)
    return found[0].strip() if found else None


def total_note(row: int, fields: Sequence[str]) -> list[str]:
    """A note where the last row of a table, number `row`, looks like a sum or a mean of the others."""
    total = suspected_total(fields)
    return [f"SUSPECTED total, kept as a row: data row {row}, the last, begins {total!r}"] if total else []


def without_totals(typed: Typed, notes: list[str]) -> None:
    """Take rows off the end that are called a total or mean and whose numbers are those of the rows above.

    Rows that are called so and of which one has other numbers are kept and suspected.
    """
    height = len(typed.columns[0])
    words: list[str] = []
    while len(words) < min(MOST_TOTALS, height - 1):
        row = height - 1 - len(words)
        word = suspected_total([str(column[row]) for column in typed.columns[:2]])
        if word is None:
            break
        words.insert(0, word)
    if not words:
        return
    rest = height - len(words)
    told, proven = [], True
    for row, word in enumerate(words, start=rest):
        agreeing, numbers = _agreement(typed.columns, rest, row, is_mean=MEAN.search(word) is not None)
        proven &= agreeing == numbers > 0
        told.append(f"{word!r} (of its {numbers} numbers {agreeing} are the {_kind(word)} of the {rest} rows above)")
    where = "the last row" if len(words) == 1 else f"the last {len(words)} rows"
    if proven:
        notes.append(f"{where} left out, being no rows but totals: {', '.join(told)}")
        typed.columns = [column.head(rest) for column in typed.columns]
    else:
        notes.append(f"SUSPECTED totals, kept as rows: {where}, {', '.join(told)}")


def note_aggregates(typed: Typed) -> None:
    """Suspect rows amid the others that hold a sum: a category called all or total beside other categories."""
    import polars as pl

    for column in typed.columns:
        if column.dtype != pl.String or column.name in typed.qualifiers.values():
            continue
        if column.head(20 * MOST_CATEGORIES).n_unique() > MOST_CATEGORIES + 1:
            continue  # so have all of them: quicker than counting millions
        distinct = column.drop_nulls().unique()
        if not 1 < len(distinct) <= MOST_CATEGORIES:
            continue
        words = [word for word in distinct if EVERYTHING.match(word.strip())]
        rows = int(column.is_in(words).sum()) if words else 0
        if words and rows <= MOST_SHARE * len(column):
            called = ", ".join(repr(word) for word in sorted(words))
            text = "SUSPECTED aggregate rows among the rows that they sum up, kept (filter them out before adding up)"
            typed.note(text, column.name, f"is {called} in {rows} rows")


def _kind(word: str) -> str:
    return "mean" if MEAN.search(word) else "sum"


def _agreement(columns: Sequence[pl.Series], rest: int, row: int, *, is_mean: bool) -> tuple[int, int]:
    """How many numbers of a row are the sum (mean) of the first `rest` rows, and how many it has."""
    agreeing = numbers = 0
    for column in columns:
        if not column.dtype.is_numeric() or column[row] is None:
            continue
        above = column.head(rest).drop_nulls()
        if above.is_empty():
            continue
        numbers += 1
        found = float(column[row])
        expected = float(above.mean() if is_mean else above.sum())  # type: ignore[arg-type]
        decimals = len(repr(found).partition(".")[2]) if math.isfinite(found) and "e" not in repr(found) else 0
        tolerance = 0.5 * 10.0**-decimals if is_mean and not found.is_integer() else 0.0
        agreeing += abs(found - expected) <= max(tolerance * (1 + ROUNDING), ROUNDING * abs(expected))
    return agreeing, numbers
