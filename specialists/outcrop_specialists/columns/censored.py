"""Recognises results beyond a detection limit: what counts as one, its qualifier and its limit.

`<0.01`, `< 0.01 ppm`, `≤0.01`, `0.01<` and `<LOD` are below a limit, `>10` and `≥10` above one; `bdl`, `nd` and the
like are below a limit that is not given. `~5` and `ca. 5` are approximate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NUMBER = r"[0-9]+(?:,[0-9]{3})*(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?|[.,][0-9]+(?:[eE][+-]?[0-9]+)?"
UNIT = r"(?:\s*(?P<unit>%|‰|[a-zA-Zµμ°][a-zA-Z0-9µμ°%/.·^-]*))?"
BEFORE = rf"^\s*(?P<sign><\s*=?|≤|⩽|>\s*=?|≥|⩾)\s*(?P<number>{NUMBER}){UNIT}\s*$"
AFTER = rf"^\s*(?P<number>{NUMBER})\s*(?P<sign><|>)\s*$"
ABOUT = rf"^\s*(?:~|≈|(?i:c(?:irc)?a\.?)\s)\s*(?P<number>{NUMBER})\s*$"
WORDS_BELOW = (
    "b.?d.?l.?",
    "n.?d.?",
    "not detected",
    "non[- ]?detect",
    "below (?:the )?detection(?: limit)?",
    "below (?:the )?(?:dl|lod|loq|lor|mdl|lld|mrl|pql|rl|(?:reporting )?limit)",
    "[<≤]\\s*(?:l?lo[dqr]|[lm]?dl|lld|[lm]?rl|[pm]ql|nwg|l.?o?.?[dqr].?)",
    "l.?o.?r.?",
)
PLAIN_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?(?:0|[0-9]{4,})?,[0-9]|^[+-]?[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})(?:\D|$)"
ANY_COMMA_NUMBER = r"^[+-]?[0-9][0-9.]*(?:,[0-9]+)+(?:\.[0-9]+)?$"
RESULTS_SHARE = 0.5
WORD = rf"^(?i:\s*(?:{'|'.join(word.replace('.?', '[.]?') for word in WORDS_BELOW)})\s*)$"


@dataclass(frozen=True)
class Censored:
    """Where a text column is beyond a detection limit: three masks without nulls, the limits as Float64 and
    the unit written behind a limit. `about` marks approximate numbers; `texts` holds the digits of all of these."""

    below: pl.Series
    above: pl.Series
    words: pl.Series
    limits: pl.Series
    units: pl.Series
    about: pl.Series
    texts: pl.Series

    @property
    def any(self) -> pl.Series:
        return self.below | self.above | self.words

    @property
    def count(self) -> int:
        return int(self.any.sum())


def find_censored(column: pl.Series, plain_numbers: int = 0) -> Censored:
    """The censored values of a text column. So many `plain_numbers` stand beside them in cells that are not given.

    Words (`nd`) count only in a column of results, or North Dakota would be below a limit. A comma in a limit marks
    decimals only if that is the one way to read the column; else the limit is null.
    """
    import polars as pl

    bare = column.str.strip_chars().alias("bare")
    text = pl.col("bare")
    # In two queries: a call on a column costs as much as hundreds of its rows, and tables may have thousands of them.
    parts = pl.DataFrame({"bare": bare}).select(
        sign=text.str.extract(BEFORE, 1).fill_null(text.str.extract(AFTER, 2)),
        digits=text.str.extract(BEFORE, 2).fill_null(text.str.extract(AFTER, 1)),
        unit=text.str.extract(BEFORE, 3),
        about=text.str.extract(ABOUT, 1),
        word=text.str.contains(WORD).fill_null(False),
        is_plain=text.str.contains(PLAIN_NUMBER) | text.str.contains(ANY_COMMA_NUMBER),
        has_comma=text.str.contains(",", literal=True),
    )
    number = pl.col("digits")
    if parts["has_comma"].any() and has_decimal_commas(bare):
        number = number.str.replace(",", ".", literal=True)
    found = parts.select(
        "unit",
        "word",
        below=pl.col("sign").str.contains("[<≤⩽]").fill_null(False),
        above=pl.col("sign").str.contains("[>≥⩾]").fill_null(False),
        limit=number.cast(pl.Float64, strict=False),
        about=pl.col("about").is_not_null(),
        text=pl.col("digits").fill_null(pl.col("about")),
    )
    below, above, words = found["below"], found["above"], found["word"]
    results = plain_numbers + sum(int(each.sum()) for each in (parts["is_plain"], below, above))
    if not results or results + int(words.sum()) < RESULTS_SHARE * (plain_numbers + len(bare) - bare.null_count()):
        words = words & False
    return Censored(below, above, words, found["limit"], found["unit"], found["about"], found["text"])


def looks_like_result(column: pl.Series) -> pl.Series:
    """True where a text without outer blanks is a number, with or without commas, or a result beyond a limit."""
    pattern = f"{PLAIN_NUMBER}|{ANY_COMMA_NUMBER}|{BEFORE}|{AFTER}|{ABOUT}|{WORD}"
    for name in ("sign", "number", "unit"):
        pattern = pattern.replace(f"?P<{name}>", "?:")
    return column.str.contains(pattern)


def has_decimal_commas(column: pl.Series) -> bool:
    """Whether commas in the numbers of a text column can only mark decimals: no points, and one comma out of place
    for thousands."""
    digits = column.str.strip_chars("<>=≤≥⩽⩾ ")
    numbers = digits.filter(digits.str.contains(rf"^[+-]?(?:{NUMBER})").fill_null(False))
    return bool(numbers.str.contains(DECIMAL_COMMA).any()) and not numbers.str.contains(r"[0-9]\.[0-9]").any()
