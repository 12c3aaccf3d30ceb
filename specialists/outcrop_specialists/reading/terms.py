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
SPACED = r"^[<>]?\s*[+-]?[0-9]{1,3}(?:[ \u00a0\u2009\u202f'’][0-9]{3})+(?:[.,][0-9]+)?$"
WRITTEN = {
    SPACED: "CHECK: kept as text, though numbers with blanks or apostrophes at thousands (fix_decimals reads them)",
    r"^[0-9]{1,2}[-/. ]?(?i:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*[-/. ,]*[0-9]{2}$": (
        "CHECK: kept as text, though dates with years of two digits (convert_types reads them)"
    ),
}


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
    if not _note_written(bare, words, typed):
        _note_mixed(bare, words, typed)
    return column.set(bare.is_in(tokens).fill_null(False), None)


def _are_short_codes(words: pl.Series) -> bool:
    """Whether all words are one or two letters, and some two: country codes, element symbols."""
    return bool(all_match(words, r"^[A-Za-z]{1,2}$") and words.str.contains(r"^[A-Za-z]{2}$").any())


def _note_written(bare: pl.Series, words: pl.Series, typed: Typed) -> bool:
    """Say that a column is text only for the way its numbers or dates are written."""
    for pattern, text in WRITTEN.items():
        either = f"{pattern}|{NUMBER}" if pattern == SPACED else pattern
        if not all_match(words, either):
            continue
        is_so = bare.str.contains(pattern).fill_null(False)
        if is_so.any():
            typed.note(text, bare.name, f"({int(is_so.sum())} of {len(words)} values, {first_row(is_so)})")
            return True
    return False


def _note_mixed(bare: pl.Series, words: pl.Series, typed: Typed) -> None:
    # Comparing is several times as quick as a pattern, and tells of most texts that they are no number.
    begins_so = words.filter((words >= "+") & (words < ":"))
    numbers = int(begins_so.str.contains(NUMBER).sum())
    if numbers in (0, len(words)):
        return
    beyond = find_censored(words).count
    if numbers + beyond < MOSTLY * len(words):
        return
    where = first_row(~bare.is_in(NULL_EVERYWHERE) & ~bare.str.contains(NUMBER))
    what = f"{len(words) - numbers} of {len(words)} values are not numbers, {where}"
    hint = f"; {beyond} are beyond a detection limit" if beyond else ""
    typed.note("kept as text though mostly numbers", bare.name, f"({what}{hint})")
