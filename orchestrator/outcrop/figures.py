"""The figures of an answer, each traced to a claim that was computed again: verified, refuted or unverifiable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from outcrop_schemas import limits
from outcrop_schemas.claims import CheckedClaim, Claim
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import Outcome, ReportedFigure, RunOutcome
from outcrop_specialists.citing import Cited, cites, claims_cited, figures_in
from outcrop_specialists.completion import first_fault
from outcrop_specialists.naming import distance, is_telling, last_named

VERIFY = "verify_claims"
_NO_CLAIM = "no claim says of what it was computed"
_PER_CALL = limits.CLAIMS_CHECKED // 2


def valid_claims(given: Sequence[Any]) -> tuple[list[Claim], list[str]]:
    """The claims of a completion, and a warning about those that are not of their form."""
    claims, faults = [], []
    for value in given:
        try:
            claims.append(Claim.model_validate(value))
        except ValidationError as error:
            faults.append(": ".join(first_fault(error)))
    if not faults:
        return claims, []
    return claims, [f"{len(faults)} of {len(given)} claims are not of their form and were passed over: {faults[0]}"]


def texts_of(answer: RunOutcome) -> dict[str, str]:
    """The texts of an answer in which figures count, by their names."""
    findings = {f"findings[{n}]": text for n, text in enumerate(answer.findings)}
    return {"summary": answer.summary, **findings, **evidence_of(answer.hypotheses)}


def evidence_of(hypotheses: Sequence[Hypothesis]) -> dict[str, str]:
    """The same of hypotheses: what speaks for and against them."""
    return {
        f"hypotheses[{held.id}].{side}[{n}]": entry.text
        for held in hypotheses
        for side in ("evidence_for", "evidence_against")
        for n, entry in enumerate(getattr(held, side))
    }


def claims_behind(texts: Mapping[str, str], own: Sequence[Claim], outcomes: Sequence[Outcome]) -> list[Claim]:
    """What is to be checked of an answer: its own claims, then those of the dispatches whose value it cites."""
    theirs = [claim for outcome in outcomes for claim in outcome.claims]
    wanted = dict.fromkeys(claim.model_dump_json() for claim in [*own, *claims_cited([*texts.values()], theirs)])
    return [Claim.model_validate_json(text) for text in wanted][: limits.CLAIMS_OF_A_RUN]


async def check_claims(
    claims: Sequence[Claim], call_tool: Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]
) -> list[CheckedClaim]:
    """Have each claim computed again in a specialist process; what that process cannot do stays unverifiable."""
    checked: list[CheckedClaim] = []
    for start in range(0, len(claims), _PER_CALL):
        batch = claims[start : start + _PER_CALL]
        outcome = await call_tool(VERIFY, {"claims": [claim.model_dump(exclude_defaults=True) for claim in batch]})
        verdicts = outcome.results.get("claims") if outcome.is_good else None
        if not isinstance(verdicts, list) or len(verdicts) != len(batch):
            reason = "; ".join(outcome.errors) or f"{VERIFY} gave no verdicts"
            verdicts = [{"verdict": "unverifiable", "reason": reason[: limits.ENTRY_CHARS]}] * len(batch)
        for claim, verdict in zip(batch, verdicts, strict=True):
            given = {name: verdict[name] for name in ("verdict", "actual", "reason") if name in verdict}
            checked.append(CheckedClaim(**claim.model_dump(), **given))
    return checked


def trace(texts: Mapping[str, str], checked: Sequence[CheckedClaim]) -> list[ReportedFigure]:
    """Every figure of the texts with its verdict, in order.

    Of the claims of its value the one that its words name comes first, then one of the column that was named last,
    then a verified one. A figure of few digits, such as 0 or 40, is the value of many things: where no words beside
    it name the claim it is not verified by it; a refuted claim that is named nowhere else still counts.
    """
    cited = [(where, text, figure) for where, text in texts.items() for figure in figures_in(text)]
    cited = cited[: limits.FIGURES_TRACED]
    ranked = [_ranked(text, figure, checked) for _, text, figure in cited]
    named = {number for found in ranked for is_named, number in found[:1] if is_named}
    return [
        _reported(where, figure, checked, _chosen(figure, found, checked, named))
        for (where, _, figure), found in zip(cited, ranked, strict=True)
    ]


def _ranked(text: str, figure: Cited, checked: Sequence[CheckedClaim]) -> list[tuple[bool, int]]:
    """The claims of this value, the likeliest first, and whether the words beside the figure name them."""
    order = {"verified": 0, "refuted": 1, "unverifiable": 2}
    found = []
    for number, claim in enumerate(checked):
        if cites(figure, claim):
            away = distance(figure, claim)
            column = -last_named(claim, text, figure.start)
            found.append((away is None, away or 0, column, order[claim.verdict], number))
    return [(not is_unnamed, number) for is_unnamed, _, _, _, number in sorted(found)]


def _chosen(
    figure: Cited, ranked: Sequence[tuple[bool, int]], checked: Sequence[CheckedClaim], named: set[int]
) -> int | None:
    for is_named, number in ranked:
        if is_named or is_telling(figure) or (checked[number].verdict == "refuted" and number not in named):
            return number
    return None


def _reported(where: str, figure: Cited, checked: Sequence[CheckedClaim], number: int | None) -> ReportedFigure:
    if number is None:
        return ReportedFigure(where=where, text=figure.text, verdict="unverifiable", reason=_NO_CLAIM)
    claim = checked[number]
    return ReportedFigure(where=where, text=figure.text, verdict=claim.verdict, claim=number, reason=claim.reason)


def told(figures: Sequence[ReportedFigure], checked: Sequence[CheckedClaim]) -> list[str]:
    """What a reader must be warned of: figures that their own table refutes."""
    refuted = [figure for figure in figures if figure.verdict == "refuted"]
    behind = {figure.claim for figure in refuted}
    others = [claim for number, claim in enumerate(checked) if claim.verdict == "refuted" and number not in behind]
    said = [f"{figure.text} ({figure.where}) is refuted: {figure.reason}" for figure in refuted]
    return said + [f"{claim.statistic} of {claim.column or claim.path} is refuted: {claim.reason}" for claim in others]
