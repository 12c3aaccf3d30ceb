"""Recognises results beyond a detection limit: what counts as one, its qualifier and its limit.

`<0.01`, `< 0.01 ppm`, `≤0.01`, `0.01<` and `<LOD` are below a limit, `>10` and `≥10` above one; `bdl`, `nd` and the
like are below a limit that is not given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NUMBER = r"\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?|[.,]\d+(?:[eE][+-]?\d+)?"
UNIT = r"(?:\s*(?:%|‰|[a-zA-Zµμ°][a-zA-Z0-9µμ°%/.·^-]*))?"
BEFORE = rf"^\s*(?P<sign><\s*=?|≤|⩽|>\s*=?|≥|⩾)\s*(?P<number>{NUMBER}){UNIT}\s*$"
AFTER = rf"^\s*(?P<number>{NUMBER})\s*(?P<sign><|>)\s*$"
WORDS_BELOW = (
    "b.?d.?l.?",
    "n.?d.?",
    "not detected",
    "non[- ]?detect",
    "below (?:the )?detection(?: limit)?",
    "below (?:dl|lod|loq|mdl|rl|limit)",
    "[<≤]\\s*(?:dl|lod|loq|mdl|lld|rl|l\\.?d\\.?)",
)
WORD = rf"(?i)^\s*(?:{'|'.join(word.replace('.?', '[.]?') for word in WORDS_BELOW)})\s*$"


def below_mask(column: pl.Series) -> pl.Series:
    """True where a text value is below a given limit; never null."""
    return _signed(column, "[<≤⩽]")


def above_mask(column: pl.Series) -> pl.Series:
    """True where a text value is above a given limit; never null."""
    return _signed(column, "[>≥⩾]")


def word_mask(column: pl.Series) -> pl.Series:
    """True where a text value is a word for "below the limit" without the limit; never null."""
    return column.str.contains(WORD).fill_null(False)


def censored_mask(column: pl.Series) -> pl.Series:
    """True where a text value is beyond a detection limit of whatever kind; never null."""
    return below_mask(column) | above_mask(column) | word_mask(column)


def limits_of(column: pl.Series) -> pl.Series:
    """The limit of each `<` or `>` value as Float64 (a decimal comma is accepted), null elsewhere."""
    import polars as pl

    number = column.str.extract(BEFORE, 2).fill_null(column.str.extract(AFTER, 1))
    return number.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def _signed(column: pl.Series, signs: str) -> pl.Series:
    sign = column.str.extract(BEFORE, 1).fill_null(column.str.extract(AFTER, 2))
    return sign.str.contains(signs).fill_null(False)
