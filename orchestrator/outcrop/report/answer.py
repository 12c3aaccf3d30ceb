"""The answer of a run with its figures in place: each number of its texts beside what came of checking it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.figures import texts_of
from outcrop_schemas import wire
from outcrop_schemas.claims import CheckedClaim
from outcrop_schemas.outcome import ReportedFigure, RunOutcome
from outcrop_specialists.citing import places_of_figures


@dataclass(frozen=True)
class ClaimFact:
    """One figure that was computed again."""

    number: int
    claim: CheckedClaim

    @property
    def anchor(self) -> str:
        return f"claim-{self.number}"

    @property
    def operation(self) -> str:
        """`mean of alcohol where hole = 'A1'`: what was computed."""
        claim = self.claim
        parts = [claim.statistic if claim.percent is None else f"{claim.statistic} {claim.percent:g}"]
        if claim.column:
            parts.append(f"of {claim.column}")
        if claim.with_column:
            parts.append(f"with {claim.with_column}")
        if claim.where:
            parts.append(f"where {claim.where}")
        parts += [f"where {name} = {figure_text(value)}" for name, value in claim.group.items()]
        return " ".join(parts)

    @property
    def claimed(self) -> str:
        return figure_text(self.claim.value)

    @property
    def actual(self) -> str:
        return "" if self.claim.actual is None else figure_text(self.claim.actual)


@dataclass(frozen=True)
class Piece:
    """A part of a text; one with a figure is that number."""

    text: str
    figure: ReportedFigure | None = None
    claim: ClaimFact | None = None


@dataclass(frozen=True)
class AnswerFact:
    """What the lead answered; texts in pieces."""

    summary: Sequence[Piece]
    findings: Sequence[Sequence[Piece]]
    recommendations: Sequence[str]
    claims: Sequence[ClaimFact]
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """How many figures of the texts there are of each verdict."""

    @property
    def has_remarks(self) -> bool:
        """Whether there is more to be said of a claim than its figures."""
        return any(fact.claim.reason or fact.claim.statement for fact in self.claims)


def answer_fact(outcome: RunOutcome) -> AnswerFact:
    """The answer, its figures traced as they were when it was given."""
    texts = {where: text for where, text in texts_of(outcome).items() if not where.startswith("hypotheses")}
    pieces = marked(texts, outcome)
    return AnswerFact(
        pieces["summary"],
        [pieces[f"findings[{number}]"] for number in range(len(outcome.findings))],
        outcome.recommendations,
        claim_facts(outcome),
        dict(Counter(figure.verdict for figure in outcome.figures if figure.where in texts)),
    )


def claim_facts(outcome: RunOutcome) -> list[ClaimFact]:
    """What was computed again for an answer."""
    return [ClaimFact(number, claim) for number, claim in enumerate(outcome.claims, 1)]


def marked(texts: Mapping[str, str], outcome: RunOutcome) -> dict[str, list[Piece]]:
    """These texts of an answer in pieces, by their names."""
    claims = claim_facts(outcome)
    return {
        where: pieces_of(text, [figure for figure in outcome.figures if figure.where == where], claims)
        for where, text in texts.items()
    }


def figure_text(value: Any) -> str:
    """A figure with all its digits."""
    return value if isinstance(value, str) else wire.dumps(value).decode()


def pieces_of(text: str, figures: Sequence[ReportedFigure], claims: Sequence[ClaimFact] = ()) -> list[Piece]:
    """The text cut at its figures. Those beyond what was traced, and of a text that was cut since, stay text."""
    found, place = [], 0
    for (start, end), figure in zip(places_of_figures(text), figures, strict=False):
        if text[start:end] != figure.text:
            break
        if start > place:
            found.append(Piece(text[place:start]))
        number = figure.claim
        claim = claims[number] if number is not None and 0 <= number < len(claims) else None
        found.append(Piece(figure.text, figure, claim))
        place = end
    if place < len(text):
        found.append(Piece(text[place:]))
    return found
