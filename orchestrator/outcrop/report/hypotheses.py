"""The hypotheses of a run as a page shows them: evidence on each side, its figures marked like the answer's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from outcrop.figures import evidence_of
from outcrop.report.answer import Piece, marked
from outcrop.report.dispatches import DispatchFact
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import RunOutcome


@dataclass(frozen=True)
class EvidenceFact:
    """One thing that speaks for or against a claim. `is_shown`: whether the page has the dispatch that found it."""

    pieces: Sequence[Piece]
    dispatch_id: str
    by: str
    is_shown: bool

    @property
    def short(self) -> str:
        return self.dispatch_id.partition("-")[0]


@dataclass(frozen=True)
class HypothesisFact:
    """One claim with what speaks for and against it."""

    one: Hypothesis
    evidence_for: Sequence[EvidenceFact]
    evidence_against: Sequence[EvidenceFact]


@dataclass(frozen=True)
class HypothesesFact:
    """All claims of a run, and how many figures of their evidence there are of each verdict."""

    held: Sequence[HypothesisFact]
    verdicts: Mapping[str, int] = field(default_factory=dict)


def hypotheses_fact(
    held: Sequence[Hypothesis], outcome: RunOutcome | None, dispatches: Sequence[DispatchFact]
) -> HypothesesFact | None:
    """None where the run supposes nothing. Figures are traced when a run is answered; until then they are text."""
    if not held:
        return None
    texts = evidence_of(held)
    pieces = marked(texts, outcome) if outcome else {where: [Piece(text)] for where, text in texts.items()}
    shown = {fact.id for fact in dispatches}

    def side(one: Hypothesis, name: str) -> list[EvidenceFact]:
        return [
            EvidenceFact(
                pieces[f"hypotheses[{one.id}].{name}[{n}]"], each.dispatch_id, each.by, each.dispatch_id in shown
            )
            for n, each in enumerate(getattr(one, name))
        ]

    facts = [HypothesisFact(one, side(one, "evidence_for"), side(one, "evidence_against")) for one in held]
    figures = outcome.figures if outcome else []
    return HypothesesFact(facts, dict(Counter(figure.verdict for figure in figures if figure.where in texts)))
