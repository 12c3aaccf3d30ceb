"""An objective as steps: each clause with the tool that it asks for, or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from outcrop.models.offline.cards import Card
from outcrop.models.offline.clauses import Splitter
from outcrop.models.offline.retrieval import Retrieval
from outcrop.models.offline.vocabulary import MODIFIERS, POLITE, PRONOUNS, word_set
from outcrop.models.offline.words import words_of

MOST_STEPS = 40
"""An objective with more clauses than this is a document; what is over is named as not done."""
QUOTED_CHARS = 200

REPORTING = word_set("check detect find inspect list look query report show")


@dataclass(frozen=True)
class Step:
    """A clause and its tool."""

    clause: str
    card: Card

    @property
    def is_reporting(self) -> bool:
        """Whether the tool only looks, going by the verb of its name."""
        return self.card.name.partition("_")[0] in REPORTING


@dataclass
class Plan:
    """The steps in order; `blockers` quote what was not understood, `notes` what was left out on request."""

    steps: list[Step] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make_plan(objective: str, cards: Sequence[Card], columns: Collection[str] = ()) -> Plan:
    """Split the objective and choose a tool for every clause. `columns` are folded column names: they are no verbs."""
    retrieval, plan = Retrieval(cards), Plan()
    lost = ""
    for clause in Splitter(cards, columns).split(objective):
        match = retrieval.best(clause.text, columns)
        last = plan.steps[-1] if plan.steps else None
        before, lost = lost, clause.text
        if clause.is_conditional:
            plan.blockers.append(
                f'Not done: "{quoted(clause.text)}" (a condition, which the offline model cannot weigh)'
            )
        elif clause.is_negated and match:
            plan.notes.append(f'Left out, as asked: "{quoted(clause.text)}"')
        elif last and _goes_on(clause.text) and (match is None or match.card == last.card):
            lost = ""
            plan.steps[-1] = replace(last, clause=f"{last.clause}. {clause.text}")
        elif match is None:
            plan.blockers.append(f'Not understood: "{quoted(clause.text)}" (no tool is asked for with these words)')
        elif before and _points_back(clause.text):
            # "Find rich samples and map them": without the first, the second would be about all samples.
            plan.blockers.append(f'Not done: "{quoted(clause.text)}" (it points back to "{quoted(before)}")')
        elif len(plan.steps) == MOST_STEPS:
            plan.blockers.append(f'Not done: "{quoted(clause.text)}" ({MOST_STEPS} steps are planned at most)')
        else:
            lost = ""
            plan.steps.append(Step(clause.text, match.card))
    return plan


def quoted(text: str) -> str:
    """A clause as it is quoted: on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED_CHARS else f"{flat[: QUOTED_CHARS - 1]}…"


def _points_back(clause: str) -> bool:
    return any(word.lower in PRONOUNS for word in words_of(clause))


def _goes_on(clause: str) -> bool:
    """Whether a clause only says how the one before it is to be done: "Use log10." """
    first = next((word.lower for word in words_of(clause) if word.lower not in POLITE), "")
    return first in MODIFIERS
