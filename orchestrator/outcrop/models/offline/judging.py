"""What the test of a tool says of a claim about two columns: for it, against it, or neither.

What is not found speaks against a claim only where there were rows enough to find it. No figure is made here but
Pearson's r of a line, which its R² and slope give.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import harmonic_mean
from typing import Any, Literal

from outcrop.models.offline.conversation import string_of
from outcrop.models.offline.figures import number_text
from outcrop.models.offline.relations import COMPARE, CORRELATE, REGRESS, claim_of, directed_claims
from outcrop_specialists.columns.censoring import RULE_DECIDES

SIGNIFICANT = 0.05
"""Of a two-sided test, as the tools take it."""
GROUPS_TOLD = 4
_STRICT, _STRICTER = 0.01, 0.001
_ROWS_OF_PAIR, _ROWS_OF_TABLE = 28, 54
_ROWS_OF_TWO_GROUPS, _ROWS_OF_GROUPS = 26, 21
"""From so many rows on (of groups in each, by their harmonic mean) a large effect (r 0.5, d 0.8, f 0.4, w 0.5) is found
in four of five samples at `SIGNIFICANT` (Cohen 1992; a table of six degrees of freedom): below, not to have found
one says nothing."""
_INTERCEPT = "(intercept)"
_COEFFICIENTS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}
_BELOW = re.compile(r"(?:^|: )((?:(?!: ).)+: \d+ below .+? of \d+ results)")
Side = Literal["supports", "contradicts"]
_VERDICTS: dict[Side | None, str] = {
    "supports": "more than chance gives",
    "contradicts": "no more than chance gives",
    None: "no more than chance gives, of too few rows to speak against it",
}


@dataclass(frozen=True)
class Tested:
    """The claim that a tool's results speak of, what they say, and by which p-value; None where an interval says it.

    `side` is None where too few rows say nothing; `directed` are the claims of a direction, each with whether the
    estimate has it; `is_doubtful` where the figures hang on what stands for results below a limit.
    """

    claim: str
    side: Side | None
    said: str
    p_value: float | None
    directed: Mapping[str, bool] = field(default_factory=dict)
    is_doubtful: bool = False

    @property
    def confidence(self) -> str:
        if self.side != "supports" or self.is_doubtful or self.p_value is None or self.p_value >= _STRICT:
            return "low"
        return "high" if self.p_value < _STRICTER else "medium"

    def is_of(self, claim: str) -> bool:
        return claim == self.claim or claim in self.directed

    def side_for(self, claim: str) -> Side | None:
        """What it is of a claim: a difference of the other direction speaks against one of this."""
        is_other = not self.directed.get(claim, True)
        return ("contradicts" if is_other and self.side else self.side) if self.is_of(claim) else None


def judged(tool: str, results: Mapping[str, Any], path: str, notes: Sequence[str] = ()) -> Tested | None:
    """What the results of one tool say of the one claim that they test; None where they test none, or several. Its
    `notes` say where most results are below a limit."""
    read = {CORRELATE: _correlated, COMPARE: _compared, REGRESS: _fitted}.get(tool)
    found = read(results, path) if read else None
    mostly = {match[1]: None for note in notes if RULE_DECIDES in note and (match := _BELOW.search(note))}
    if found is None or not mostly:
        return found
    return replace(found, said=f"{found.said}; {', '.join(mostly)}: what stands for these decides", is_doubtful=True)


def _correlated(results: Mapping[str, Any], path: str) -> Tested | None:
    pairs, method = results.get("strongest"), string_of(results, "method")
    if results.get("pairs") != 1 or not isinstance(pairs, list) or len(pairs) != 1 or not isinstance(pairs[0], dict):
        return None
    pair = pairs[0]
    first, second, r = string_of(pair, "x"), string_of(pair, "y"), pair.get("r")
    if not isinstance(r, int | float) or method not in _COEFFICIENTS:
        return None
    way = f" of their {results['transform']}" if results.get("transform") not in (None, "none") else ""
    said = f"{_COEFFICIENTS[method]}{way} of {first} and {second} is {number_text(float(r))}"
    return _tested(
        claim_of(CORRELATE, first, second, path),
        pair.get("p_value"),
        said,
        is_enough=_is_at_least(pair.get("n"), _ROWS_OF_PAIR),
        directed=directed_claims(CORRELATE, first, second, path, float(r)),
    )


def _compared(results: Mapping[str, Any], path: str) -> Tested | None:
    column, by, test = string_of(results, "column"), string_of(results, "by"), results.get("test")
    if not column or not by or not isinstance(test, dict):
        return None
    claim = claim_of(COMPARE, column, by, path)
    if "cramers_v" in test:
        p = test.get("p_value") if test.get("fisher_p") is None else test["fisher_p"]
        is_enough = _is_at_least(results.get("tested_n"), _ROWS_OF_TABLE)
        return _tested(claim, p, f"{column} by {by}: Cramér's V {number_text(test['cramers_v'])}", is_enough=is_enough)
    shown = results.get("by_group")
    groups = {
        name: figures
        for name, figures in (shown.items() if isinstance(shown, dict) else ())
        if isinstance(figures, dict) and isinstance(figures.get("median"), int | float)
    }
    medians = [f"{number_text(figures['median'])} of {name}" for name, figures in groups.items()]
    more = len(medians) - GROUPS_TOLD
    told = ", ".join(medians[:GROUPS_TOLD]) + (f" and of {more} more" if more > 0 else "")
    name, p = ("Mann-Whitney", test["mann_whitney_p"]) if "mann_whitney_p" in test else ("", test.get("kruskal_p"))
    said = f"medians of {column}: {told}; by the {name or 'Kruskal-Wallis'} test"
    return _tested(claim, p, said, is_enough=_are_filled([figures.get("n") for figures in groups.values()]))


def _are_filled(counts: Sequence[Any]) -> bool:
    """Whether groups of so many rows show a large difference."""
    known = [count for count in counts if isinstance(count, int) and count > 0]
    least = _ROWS_OF_TWO_GROUPS if len(known) == 2 else _ROWS_OF_GROUPS
    return len(known) == len(counts) > 1 and harmonic_mean(known) >= least


def _fitted(results: Mapping[str, Any], path: str) -> Tested | None:
    """A line on one column, of all rows together."""
    y, terms = string_of(results, "y"), results.get("coefficients")
    slopes = [name for name in terms if name != _INTERCEPT] if isinstance(terms, dict) else []
    if not y or len(slopes) != 1 or not isinstance(terms, dict) or not isinstance(terms[slopes[0]], dict):
        return None
    x, slope = slopes[0], terms[slopes[0]]
    estimate, r_squared, interval = slope.get("estimate"), results.get("r_squared"), slope.get("ci")
    if not isinstance(estimate, int | float):
        return None
    claim, said = claim_of(REGRESS, y, x, path), f"slope {number_text(float(estimate))} of {y} on {x}"
    is_enough = _is_at_least(results.get("n"), _ROWS_OF_PAIR)
    directed = directed_claims(REGRESS, y, x, path, float(estimate))
    if isinstance(slope.get("p"), int | float):
        if isinstance(r_squared, int | float) and r_squared >= 0 and _INTERCEPT in terms:
            r = math.copysign(math.sqrt(r_squared), estimate)
            said = f"Pearson's r of {y} and {x} is {number_text(r)}, {said}"
        return _tested(claim, slope["p"], said, is_enough=is_enough, directed=directed)
    if isinstance(interval, list) and len(interval) == 2 and all(isinstance(end, int | float) for end in interval):
        is_found = interval[0] > 0 or interval[1] < 0
        told = f"interval {number_text(interval[0])} to {number_text(interval[1])}"
        return _sided(claim, is_found, said, told, None, is_enough=is_enough, directed=directed)
    return None


def _tested(
    claim: str, p_value: Any, said: str, *, is_enough: bool, directed: Mapping[str, bool] | None = None
) -> Tested | None:
    """`is_enough`: there are rows enough for a large effect to be found."""
    if isinstance(p_value, bool) or not isinstance(p_value, int | float) or not math.isfinite(p_value):
        return None
    # Of many rows it may be too small for a number.
    told = f"p {p_value:.3g}" if p_value > 0 else "p below 1e-300"
    return _sided(claim, p_value < SIGNIFICANT, said, told, p_value, is_enough=is_enough, directed=directed)


def _sided(
    claim: str,
    is_found: bool,
    said: str,
    told: str,
    p_value: float | None,
    *,
    is_enough: bool,
    directed: Mapping[str, bool] | None,
) -> Tested:
    side: Side | None = "supports" if is_found else "contradicts" if is_enough else None
    verdict = _VERDICTS[side]
    return Tested(claim, side, f"{said}, {verdict} ({told})", p_value, directed or {})


def _is_at_least(count: Any, most: int) -> bool:
    return isinstance(count, int) and count >= most
