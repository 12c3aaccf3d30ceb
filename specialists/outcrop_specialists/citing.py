"""Which figures stand in a text, and whether they agree with a value that was computed. No table, no library."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from outcrop_schemas.claims import Claim

RELATIVE_TOLERANCE = 1e-6
# A figure given with few digits agrees when the true one rounds to it, if that rounding is no coarser than this.
ROUNDING_TOLERANCE = 5e-3
COUNTS = ("rows", "count", "missing", "below_limit", "distinct")
# Not amid a word, a path, a version or a date: `p95`, `results/t_1.csv`, `2024-05-01` and `1:50` are no figures.
_NUMBER = re.compile(
    r"(?<![\w./:\-–\\#])[-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:[eE][-+]?\d+)?(?![\w/:\\]|[.\-–]\w)"
    r"(?P<percent>\s?%)?"
)


# Where what is said of a figure begins, and where it ends.
_BEGINS = re.compile(r".*(?:[;\n]|[.!?]\s)", re.S)
_COUNTED = re.compile(r"\s*(?:rows?|records?|samples?|values?|results?|points?|entries|holes?)\b", re.I)
_ENDS = re.compile(r"[,;:(\n]|[.!?](?:\s|$)")
# Figures in a row are of the same thing: `67, 65 and 46`.
_IN_A_ROW = re.compile(r"\s*(?:[,/]|and|or|to|of|±)*\s*", re.I)


@dataclass(frozen=True)
class Cited:
    """A number as it stands in a text; `values` are what it may mean: 86.2 % is 86.2 and 0.862.

    `before` and `after` are the words that belong to it: to the next figure, and of its own sentence."""

    text: str
    values: tuple[str, ...]
    before: str = ""
    after: str = ""
    start: int = 0


def figures_in(text: str) -> list[Cited]:
    """Every number of a text that can be a figure, in order."""
    found: list[Cited] = []
    matches = list(_NUMBER.finditer(text))
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(text)]
    for place, match in enumerate(matches):
        between = text[ends[place] : match.start()]
        before = found[-1].before if found and _IN_A_ROW.fullmatch(between) else _said_before(between, bool(found))
        after = _ENDS.split(text[match.end() : starts[place + 1]], maxsplit=1)[0]
        percent = match["percent"] or ""
        plain = match[0].removesuffix(percent).replace(",", "").replace("−", "-")
        share = (str(Decimal(plain) / 100),) if percent else ()
        found.append(Cited(match[0], (plain, *share), before, after, match.start()))
    return found


def _said_before(between: str, is_after_another: bool) -> str:
    """What was counted by the figure before this one is not said of it: `40 rows with a minimum of 3`."""
    own = _BEGINS.sub("", between)
    return _COUNTED.sub("", own, count=1) if is_after_another and own == between and _COUNTED.match(own) else own


def places_of_figures(text: str) -> list[tuple[int, int]]:
    """Where each of them begins and ends."""
    return [match.span() for match in _NUMBER.finditer(text)]


def agrees(claimed: str | float, actual: float, *, is_count: bool = False) -> bool:
    """Whether a figure agrees with the true one: within 1e-6, or by rounding to the digits given; counts exactly."""
    number = float(claimed)
    if is_count:
        return number == actual
    if number == actual or math.isclose(number, actual, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0):
        return True
    half = half_a_unit(claimed)
    return half <= ROUNDING_TOLERANCE * abs(actual) and abs(number - actual) <= half * (1 + 1e-9)


def half_a_unit(claimed: str | float) -> float:
    """Half a unit of the last digit that was given: 0.05 for 1.5, 0.5 for 15, 50 for 1.5e3."""
    exponent = Decimal(str(claimed)).as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.5


def cites(figure: Cited, claim: Claim) -> bool:
    """Whether a number in a text may be the value of this claim."""
    value = claim.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return any(agrees(each, value, is_count=claim.statistic in COUNTS) for each in figure.values)


def claims_cited(texts: Sequence[str], claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose value stands in one of the texts, in their order."""
    figures = [figure for text in texts for figure in figures_in(text)]
    return [claim for claim in claims if any(cites(figure, claim) for figure in figures)]
