"""Whether the words beside a figure name what a claim of the same value is of: a 0 is the value of many things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from outcrop_schemas.claims import Claim
from outcrop_specialists.citing import Cited, cites, figures_in

# With so many digits that count, two figures that agree are hardly ever of different things.
_TELLING_DIGITS = 3
_COUNTED = r"rows?|records?|samples?|values?|results?|points?|entries|n"
_MEANS = r"means?|averag\w+"
_CORRELATED = r"r|rho|correlat\w+|coefficient"
_WORDS = {
    "rows": rf"{_COUNTED}|counts?",
    "count": rf"{_COUNTED}|counts?",
    "missing": r"missing|empty|blanks?|nulls?|without|absent|no values?",
    "below_limit": r"below|under|censored|non-?detects?|limits?",
    "distinct": r"distinct|unique|different|kinds?|types?|categories",
    "share": r"shares?|fractions?|percent\w*|proportions?",
    "mean": _MEANS,
    "weighted_mean": _MEANS,
    "median": r"medians?|p50|middle",
    "percentile": r"p\d[\d.]*|percentiles?|quantiles?|quartiles?|deciles?",
    "sd": r"sd|std|stdev|deviations?",
    "min": r"min|minim\w+|lowest|least|smallest|ranges?",
    "max": r"max|maxim\w+|highest|largest|greatest|most|peaks?|ranges?",
    "sum": r"sums?|totals?",
    "pearson": _CORRELATED,
    "spearman": _CORRELATED,
}


def is_telling(figure: Cited) -> bool:
    """Whether a figure has digits enough to be known by its value alone."""
    digits = re.sub(r"[eE].*|\D", "", figure.text).lstrip("0")
    return len(digits) >= _TELLING_DIGITS


def distance(figure: Cited, claim: Claim) -> int | None:
    """How many characters from the figure its words name the statistic of the claim; None where none of them does.

    Next to it (0) where the claimant's own sentence has the figure.
    """
    if claim.statement and f"{figure.before}{figure.text}{figure.after}".strip() in claim.statement:
        return 0
    if claim.statistic == "share" and "%" in figure.text:
        return 0
    pattern = _pattern(_words(claim))
    ends = [len(figure.before) - found.end() for found in pattern.finditer(figure.before)]
    ends += [found.start() for found in pattern.finditer(figure.after)]
    return min(ends, default=None)


def claims_of(texts: Sequence[str], claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose value stands in one of the texts: first, for each figure, the one that its words name.

    A 0.005 is a minimum, a median and two percentiles: where there is room for some only, each figure has one.
    """
    first, others = [], []
    for text in texts:
        for figure in figures_in(text):
            fitting = [number for number, claim in enumerate(claims) if cites(figure, claim)]
            ranked = sorted(fitting, key=lambda number: _likelihood(text, figure, claims[number]))
            first += ranked[:1]
            others += ranked[1:]
    return [claims[number] for number in dict.fromkeys([*first, *others])]


def _likelihood(text: str, figure: Cited, claim: Claim) -> tuple[bool, int, bool, int]:
    """The likelier the lower: named close by, rather before than after, of the column that was named last."""
    away = distance(figure, claim)
    is_after = not _pattern(_words(claim)).search(figure.before)
    return away is None, away or 0, is_after, -last_named(claim, text, figure.start)


def _words(claim: Claim) -> str:
    """`60 in a.csv` can only be its rows; `value` is of its column, whatever it is called."""
    if claim.statistic == "rows":
        return rf"{_WORDS['rows']}|{re.escape(PurePosixPath(claim.path).name)}"
    return _WORDS.get(claim.statistic) or re.escape(claim.column or "") or "(?!)"


def last_named(claim: Claim, text: str, end: int) -> int:
    """Where the column of the claim was last named in a text before this place; -1 where it was not."""
    if not claim.column:
        return -1
    return max((found.start() for found in _pattern(re.escape(claim.column)).finditer(text, 0, end)), default=-1)


@lru_cache(256)
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.I)
