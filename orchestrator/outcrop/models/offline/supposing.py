"""What the offline model supposes where a step asks after a relation, and what the test of its tool says of it.

The lead states a claim about two columns before the dispatch that tests it; the specialist is told the claim, and says
by the figures of its tool what they are evidence of. A claim is of more than chance, at `SIGNIFICANT`; no figure is
made here but Pearson's r of a line, which its R² and slope give.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from outcrop.models.offline.answers import cut
from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.figures import number_text
from outcrop.models.offline.profile import Profile
from outcrop_schemas import limits

HYPOTHESIS, HYPOTHESES = "hypothesis", "hypotheses"
CORRELATE, COMPARE, REGRESS = "correlate", "compare_groups", "regression"
SIGNIFICANT = 0.05
"""Of a two-sided test, as the tools take it."""

GROUPS_TOLD = 4
_STRICT, _STRICTER = 0.01, 0.001
_INTERCEPT = "(intercept)"
_COEFFICIENTS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}
_DEPTH = re.compile(r"\bdepth\b", re.IGNORECASE)
Side = Literal["supports", "contradicts"]


@dataclass(frozen=True)
class Tested:
    """The claim that a tool's results speak of, what they say, and by which p-value; None where an interval says it."""

    claim: str
    side: Side
    said: str
    p_value: float | None

    @property
    def confidence(self) -> str:
        if self.side == "contradicts" or self.p_value is None or self.p_value >= _STRICT:
            return "low"
        return "high" if self.p_value < _STRICTER else "medium"


def supposed(tool: str, columns: Sequence[str], profile: Profile | None, path: str) -> str | None:
    """The claim that a step with this tool puts to the test; None where it names other than two columns."""
    if len(columns) != 2 or profile is None or tool not in _CLAIMS:
        return None
    first, second = columns
    kinds = [column.is_numeric for name in columns if (column := profile.column(name))]
    if tool == COMPARE and kinds == [False, True]:
        # "In which rock is copper highest": the groups stand first.
        first, second = second, first
    return _claim(tool, first, second, path)


def judged(tool: str, results: Mapping[str, Any], path: str) -> Tested | None:
    """What the results of one tool say of the one claim that they test; None where they test none, or several."""
    read = {CORRELATE: _correlated, COMPARE: _compared, REGRESS: _fitted}.get(tool)
    return read(results, path) if read else None


def with_interval_tops(tool: str, clause: str, profile: Profile) -> tuple[str, list[str]]:
    """A clause about a trend with depth, where depths are those of intervals, and what is to be noted of it: their tops
    stand for the depth. Elsewhere the clause as it is."""
    tops = profile.with_role("depth_from")
    if tool != REGRESS or len(tops) != 1 or profile.with_role("depth") or "depth" in profile.folded_names:
        return clause, []
    told, count = _DEPTH.subn(lambda _: tops[0].name, clause)
    return told, [f"depth is taken as {tops[0].name}, the top of each interval"] if count else []


def entries_of(told: Mapping[str, str], found: Sequence[Tested]) -> dict[str, list[str]]:
    """The evidence of a completion: what was tested, by the ids of the hypotheses that a specialist was `told`."""
    evidence: dict[str, list[str]] = {}
    for name, claim in told.items():
        for one in found:
            if one.claim == claim:
                evidence.setdefault(one.side, []).append(cut(f"{name}: {one.said}", limits.ENTRY_CHARS))
    return evidence


def told_to(conversation: Conversation) -> dict[str, str]:
    """The hypotheses that a specialist is told, their claims by their ids."""
    found = conversation.context.get(HYPOTHESES)
    return {name: claim for name, claim in found.items() if isinstance(claim, str)} if isinstance(found, dict) else {}


class Supposition:
    """A claim of the lead's from its statement to its verdict, worked out anew from the conversation each turn."""

    def __init__(self, conversation: Conversation, claim: str | None) -> None:
        self._conversation, self._claim = conversation, claim
        self._statement = Call(HYPOTHESIS, {"claim": claim}) if claim else None
        answer = conversation.answer(self._statement) if self._statement else None
        self.name = "" if answer is None or answer.is_error else string_of(answer.data, HYPOTHESIS)
        """Its id, once it is stated."""

        self._is_open = bool(self._statement) and answer is None

    @property
    def statement(self) -> Call | None:
        """The call that states it; None where that is done, or nothing is supposed."""
        return self._statement if self._is_open else None

    def verdict(self, tool: str, answer: Answer) -> Call | None:
        """The call that is due now that its dispatch was answered; None where none is."""
        calls = self._verdicts(tool, answer)
        return next((call for call in calls if self._conversation.answer(call) is None), None)

    def _verdicts(self, tool: str, answer: Answer) -> list[Call]:
        sides = [side for side in _STATUSES if self._has_evidence(answer, side)]
        found = judged(tool, answer.results, "")
        if self.name and len(sides) == 1:
            confidence = found.confidence if found and not answer.texts("blockers") else "low"
            given = {"id": self.name, "status": _STATUSES[sides[0]], "confidence": confidence}
            return [Call(HYPOTHESIS, given)]
        # It failed, or tested something else than what was supposed.
        return [Call(HYPOTHESIS, {"id": self.name, "status": "dropped"})] if self.name else []

    def _has_evidence(self, answer: Answer, side: str) -> bool:
        evidence = answer.data.get("evidence")
        entries = evidence.get(side) if isinstance(evidence, dict) else None
        return any(str(entry).startswith(f"{self.name}:") for entry in entries or ())


_STATUSES: dict[str, str] = {"supports": "supported", "contradicts": "refuted"}
_CLAIMS = {
    CORRELATE: "{first} and {second} are correlated beyond chance",
    COMPARE: "{first} differs beyond chance between the groups of {second}",
    REGRESS: "{first} changes with {second} beyond chance",
}


def _claim(tool: str, first: str, second: str, path: str) -> str:
    if tool == CORRELATE:
        # Whichever was named first.
        first, second = sorted((first, second))
    said = _CLAIMS[tool].format(first=first, second=second)
    return cut(f"{said}, in {PurePosixPath(path).name}", limits.HYPOTHESIS_CHARS)


def _tested(claim: str, p_value: Any, said: str) -> Tested | None:
    if isinstance(p_value, bool) or not isinstance(p_value, int | float) or not math.isfinite(p_value):
        return None
    is_found = p_value < SIGNIFICANT
    verdict = "more than chance gives" if is_found else "no more than chance gives"
    # Of many rows it may be too small for a number.
    told = f"p {p_value:.3g}" if p_value > 0 else "p below 1e-300"
    return Tested(claim, "supports" if is_found else "contradicts", f"{said}, {verdict} ({told})", p_value)


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
    return _tested(_claim(CORRELATE, first, second, path), pair.get("p_value"), said)


def _compared(results: Mapping[str, Any], path: str) -> Tested | None:
    column, by, test = string_of(results, "column"), string_of(results, "by"), results.get("test")
    if not column or not by or not isinstance(test, dict):
        return None
    claim = _claim(COMPARE, column, by, path)
    if "cramers_v" in test:
        p = test.get("p_value") if test.get("fisher_p") is None else test["fisher_p"]
        return _tested(claim, p, f"{column} by {by}: Cramér's V {number_text(test['cramers_v'])}")
    groups = results.get("by_group")
    medians = [
        f"{number_text(figures['median'])} of {name}"
        for name, figures in (groups.items() if isinstance(groups, dict) else ())
        if isinstance(figures, dict) and isinstance(figures.get("median"), int | float)
    ]
    more = len(medians) - GROUPS_TOLD
    told = ", ".join(medians[:GROUPS_TOLD]) + (f" and of {more} more" if more > 0 else "")
    name, p = ("Mann-Whitney", test["mann_whitney_p"]) if "mann_whitney_p" in test else ("", test.get("kruskal_p"))
    return _tested(claim, p, f"medians of {column}: {told}; by the {name or 'Kruskal-Wallis'} test")


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
    claim, said = _claim(REGRESS, y, x, path), f"slope {number_text(float(estimate))} of {y} on {x}"
    if isinstance(slope.get("p"), int | float):
        if isinstance(r_squared, int | float) and r_squared >= 0 and _INTERCEPT in terms:
            r = math.copysign(math.sqrt(r_squared), estimate)
            said = f"Pearson's r of {y} and {x} is {number_text(r)}, {said}"
        return _tested(claim, slope["p"], said)
    if isinstance(interval, list) and len(interval) == 2 and all(isinstance(end, int | float) for end in interval):
        is_found = interval[0] > 0 or interval[1] < 0
        told = f"{said}, interval {number_text(interval[0])} to {number_text(interval[1])}"
        return Tested(claim, "supports" if is_found else "contradicts", told, None)
    return None
