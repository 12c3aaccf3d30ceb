"""Reads numbers written with decimal commas or separators of thousands. Pure functions over text columns.

A number with one comma and three digits behind it (1,234) can be read in two ways and is never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

Convention = Literal["decimal_comma", "decimal_point"]

SIGN = r"^([<>≤≥~]?\s*[+-]?)"
END = r"((?:[eE][+-]?[0-9]+)?)$"
# Thin, narrow and no-break spaces and apostrophes separate thousands, whatever marks decimals.
SPACE = r"[ \u00a0\u2009\u202f'’]"
SPACED = rf"{SIGN}([0-9]{{1,3}}(?:{SPACE}[0-9]{{3}})+)((?:[.,][0-9]+)?){END}"

PLAIN = rf"{SIGN}(?:[0-9]+\.?[0-9]*|\.[0-9]+){END}"
AMBIGUOUS = rf"{SIGN}[1-9][0-9]{{0,2}}([.,])[0-9]{{3}}{END}"
COMMA = {
    "decimal": rf"{SIGN}([0-9]*),([0-9]+){END}",
    "thousands": rf"{SIGN}([1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+)((?:,[0-9]+)?){END}",
}
POINT = {
    "decimal": rf"{SIGN}([0-9]*)\.([0-9]+){END}",
    "thousands": rf"{SIGN}([1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+)((?:\.[0-9]+)?){END}",
}


@dataclass(frozen=True)
class Repaired:
    """A column with its repairs (text throughout), and masks: repaired, ambiguous, and neither number nor missing."""

    text: pl.Series
    changed: pl.Series
    ambiguous: pl.Series
    other: pl.Series


def repair(column: pl.Series, convention: Convention | None) -> Repaired:
    """Write the numbers of a text column with decimal points and no separators of thousands.

    Without a convention only what can be read in one way is changed; 1,234 and, in a column where a comma marks
    decimals for certain, 1.234 are ambiguous. With one, these are read by it, and what contradicts it is left as it is.
    """
    bare = _without_spaces(column.str.strip_chars())
    comma = _certain(bare, COMMA, ",")
    point = _certain(bare, POINT, ".")
    ambiguous = bare.str.contains(AMBIGUOUS).fill_null(False)
    with_point = ambiguous & bare.str.contains(".", literal=True).fill_null(False)
    if convention is None:
        if not (comma & ~point).any() and not _are_all_ambiguous(bare):
            # Where no comma marks decimals, a point does, as everywhere.
            ambiguous &= ~with_point
        read_comma, read_point = comma & ~ambiguous, point & ~ambiguous
    else:
        read_comma = (comma | ambiguous) if convention == "decimal_comma" else comma & False
        read_point = (point | ambiguous) if convention == "decimal_point" else point & False
        ambiguous = ambiguous & False
    text = bare.zip_with(~read_comma, _from_comma(bare)).zip_with(~read_point, _from_point(bare))
    is_number = text.str.contains(PLAIN).fill_null(False)
    changed = ((text != column.str.strip_chars()) & is_number & ~ambiguous).fill_null(False)
    text = column.zip_with(~changed, text)
    other = column.is_not_null() & ~is_number
    return Repaired(text.alias(column.name), changed, ambiguous, other & ~ambiguous)


def _are_all_ambiguous(bare: pl.Series) -> bool:
    """Whether a column is text though all its values are plain numbers, and every point may separate thousands: only
    for these does the reader keep such a column as text, because commas mark decimals elsewhere in the file."""
    known = bare.drop_nulls()
    points = known.filter(known.str.contains(".", literal=True))
    is_plain = known.str.contains(PLAIN) & ~known.str.contains(r"^[<>≤≥~]|^[+-]?0[0-9]|[eE]")
    return len(points) > 0 and bool(is_plain.all() and points.str.contains(AMBIGUOUS).all())


def is_mostly_numbers(column: pl.Series) -> bool:
    """Whether most values are numbers in any way of writing, and some have a comma or a separator."""
    bare = _without_spaces(column.drop_nulls().str.strip_chars())
    written = bare.str.contains(PLAIN)
    for patterns in (COMMA, POINT):
        for pattern in patterns.values():
            written |= bare.str.contains(pattern)
    return len(bare) > 0 and 2 * int(written.sum()) > len(bare)


def _without_spaces(bare: pl.Series) -> pl.Series:
    spaced = bare.str.contains(SPACED).fill_null(False)
    return bare.zip_with(~spaced, bare.str.replace_all(rf"([0-9]){SPACE}", "${1}"))


def _certain(bare: pl.Series, patterns: dict[str, str], mark: str) -> pl.Series:
    """Numbers that can only be read by these patterns, and need to be: with a comma, or points between thousands."""
    found = bare.str.contains(patterns["thousands"]) | bare.str.contains(patterns["decimal"])
    only = ~bare.str.contains(AMBIGUOUS) & ~bare.str.contains(PLAIN)
    return (found & only).fill_null(False)


def _from_comma(bare: pl.Series) -> pl.Series:
    return bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)


def _from_point(bare: pl.Series) -> pl.Series:
    return bare.str.replace_all(",", "", literal=True)
