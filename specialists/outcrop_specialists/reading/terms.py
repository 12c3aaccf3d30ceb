"""Columns of text: which of their words mean missing, and what stays a term."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcrop_specialists.columns.censored import find_censored
from outcrop_specialists.reading.plain import all_match
from outcrop_specialists.reading.types import NULL_EVERYWHERE, NUMBER, Typed, counted, first_row

if TYPE_CHECKING:
    import polars as pl

NOT_APPLICABLE = ("N/A", "n/a")
MOSTLY = 0.5


def text_column(column: pl.Series, bare: pl.Series, typed: Typed) -> pl.Series:
    """A text column: values as written, null words removed unless they may be codes."""
    filled = bare.drop_nulls()
    words = filled.filter(~filled.is_in(NULL_EVERYWHERE))
    tokens = [token for token in NULL_EVERYWHERE if not (token == "NA" and _are_short_codes(words))]
    if (filled == "NA").any() and (several := filled.filter(filled.is_in(NOT_APPLICABLE)).unique().sort().to_list()):
        tokens = [token for token in tokens if token != "NA" and token not in NOT_APPLICABLE]
        text = "CHECK: kept as terms, because one may mean not known and the other not applicable"
        typed.note(text, column.name, f"({' and '.join(['NA', *several])})")
    elif "NA" not in tokens and (filled == "NA").any():
        count = int((filled == "NA").sum())
        typed.note("'NA' kept as a code beside other two-letter codes (it could also mean missing)", column.name, count)
    if filled.is_in(tokens).any():
        typed.note("read as missing", column.name, counted(filled, tokens))
    _note_mixed(column, words, typed)
    return column.set(bare.is_in(tokens).fill_null(False), None)


def _are_short_codes(words: pl.Series) -> bool:
    """Whether all words are one or two letters, and some two: country codes, element symbols."""
    return bool(all_match(words, r"^[A-Za-z]{1,2}$") and words.str.contains(r"^[A-Za-z]{2}$").any())


def _note_mixed(column: pl.Series, words: pl.Series, typed: Typed) -> None:
    numbers = words.str.contains(NUMBER)
    others = words.filter(~numbers)
    if others.is_empty() or not numbers.any():
        return
    beyond = find_censored(words).count
    if len(words) - len(others) + beyond < MOSTLY * len(words):
        return
    bare = column.str.strip_chars()
    where = first_row(~bare.is_in(NULL_EVERYWHERE) & ~bare.str.contains(NUMBER))
    what = f"{len(others)} of {len(words)} values are not numbers, {where}"
    hint = f"; {beyond} are beyond a detection limit" if beyond else ""
    typed.note("kept as text though mostly numbers", column.name, f"({what}{hint})")
