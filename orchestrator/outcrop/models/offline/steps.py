"""An objective as steps: each clause with the tool that it asks for, or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from outcrop.models.offline.cards import Card
from outcrop.models.offline.clauses import Clause, Splitter
from outcrop.models.offline.retrieval import Match, Retrieval
from outcrop.models.offline.routing import (
    FILTER,
    QUERY,
    is_aside,
    is_loading,
    is_restriction,
    is_scope,
    parted,
    reroute,
)
from outcrop.models.offline.vocabulary import MODIFIERS, POLITE, PRONOUNS, word_set
from outcrop.models.offline.words import Word, words_of

MOST_STEPS = 40
"""An objective with more clauses than this is a document; what is over is named as not done."""
QUOTED_CHARS = 200
DUPLICATES = "remove_duplicates"

HOW = frozenset(("standard", "scale", "normal", "log", "log10", "transform", "center"))
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

    @property
    def is_cleaning(self) -> bool:
        return self.card.specialist == "cleaning"


@dataclass
class Plan:
    """The steps in order; `blockers` quote what was not understood, `notes` what was left out on request."""

    steps: list[Step] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make_plan(objective: str, cards: Sequence[Card], columns: Collection[str] = ()) -> Plan:
    """Split the objective and choose a tool for every clause. `columns` are folded column names: they are no verbs."""
    planner = _Planner(cards, columns)
    for clause in Splitter(cards, columns).split(objective):
        planner.take(clause)
    return planner.end()


class _Planner:
    def __init__(self, cards: Sequence[Card], columns: Collection[str]) -> None:
        self._cards, self._columns, self._retrieval, self.plan = cards, columns, Retrieval(cards), Plan()
        self._lost = ""
        self._unfiltered = ""
        self._scope: Clause | None = None
        self._each: Clause | None = None
        self._late = ""
        self._tasks = False

    def take(self, clause: Clause) -> None:
        """Plan one clause."""
        words = words_of(clause.text)
        if is_loading(words):
            self.plan.notes.append(f'Needs no step of its own: "{quoted(clause.text)}"')
            return
        if _is_for_each(words) and self._retrieval.best(clause.text, self._columns) is None:
            self._each = clause
            return
        if self._each:
            clause, self._each = replace(clause, text=f"{clause.text} {self._each.text}"), None
        match = self._match(clause)
        before, self._lost = self._lost, clause.text
        if reason := self._reason(clause, match, before):
            self._block(f'Not done: "{quoted(clause.text)}" ({reason})')
            if match and match.card.name == FILTER and not self._unfiltered:
                self._unfiltered = clause.text
        elif clause.is_negated and (match or _is_nothing(words)):
            self.plan.notes.append(f'Left out, as asked: "{quoted(clause.text)}"')
        elif self._goes_on(clause, match):
            self._lost = ""
            last = self.plan.steps[-1]
            self.plan.steps[-1] = replace(last, clause=f"{last.clause}. {clause.text}")
        elif match is None:
            self._block(
                f'Not understood: "{quoted(clause.text)}" (no tool is asked for with these words){_hint(words)}'
            )
            if is_restriction(words, None) or is_aside(words):
                self._unfiltered = self._unfiltered or clause.text
        else:
            self._lost = ""
            self.plan.steps.append(Step(clause.text, match.card))
            if match.card.name == FILTER:
                self._scope = clause if is_scope(clause.text) else None
                self._late = "" if clause.is_sequel or not self._tasks else clause.text
            else:
                self._late, self._tasks = "", self._tasks or not self.plan.steps[-1].is_cleaning

    def end(self) -> Plan:
        """The plan, with what was said to hold for each group of nothing."""
        if self._each:
            self._block(f'Not understood: "{quoted(self._each.text)}" (no tool is asked for with these words)')
        if self._late:
            self._block(f'"{quoted(self._late)}" comes last, so the steps before it are about all rows; say it first')
        self._part_last()
        return self.plan

    def _part_last(self) -> None:
        """ "Mean Zn of samples with Pb above 50" as a filter and the task; only in the end, as nothing else may follow
        on the rows kept."""
        cards = [card for card in self._cards if card.name == FILTER]
        last = self.plan.steps[-1] if self.plan.steps else None
        if not cards or last is None or last.card.name in (FILTER, QUERY) or len(self.plan.steps) >= MOST_STEPS:
            return
        if parts := parted(last.clause):
            self.plan.steps[-1:] = [Step(parts[1], cards[0]), replace(last, clause=parts[0])]

    def _match(self, clause: Clause) -> Match | None:
        return reroute(clause.text, self._retrieval.best(clause.text, self._columns), self._cards)

    def _reason(self, clause: Clause, match: Match | None, before: str) -> str:
        """Why a clause cannot be planned though a tool may be known for it."""
        if clause.is_conditional:
            return "a condition, which the offline model cannot weigh"
        is_asked = match is not None and not clause.is_negated
        if clause.is_negated and match and match.card.name == FILTER:
            return "it is not clear which rows are to be kept"
        if is_asked and self._unfiltered:
            return f'it would be about all rows, because "{quoted(self._unfiltered)}" was not understood'
        if is_asked and self._scope and self._scope.sentence != clause.sentence:
            return (
                f'it is not clear whether "{quoted(self._scope.text)}" holds here too; say it again or in its own run'
            )
        if is_asked and before and _points_back(clause.text):
            # "Find rich samples and map them": without the first, the second would be about all samples.
            return f'it points back to "{quoted(before)}"'
        if is_asked and len(self.plan.steps) == MOST_STEPS:
            return f"{MOST_STEPS} steps are planned at most"
        return ""

    def _goes_on(self, clause: Clause, match: Match | None) -> bool:
        """Whether a clause only says how the one before it is to be done: "Use log10.", "do not standardise"."""
        if not self.plan.steps:
            return False
        last = self.plan.steps[-1].card
        if match is not None and match.card != last and not (match.card.name == FILTER and last.name == DUPLICATES):
            return False
        words = words_of(clause.text)
        first = next((word.lower for word in words if word.lower not in POLITE), "")
        if first == "keep" and self.plan.steps[-1].card.name == DUPLICATES:
            # "Remove duplicates but keep the last": no filter of rows.
            return bool({"first", "last", "none"} & {word.lower for word in words})
        if match and match.card.name == FILTER:
            return False
        return first in MODIFIERS or (clause.is_negated and any(word.stem in HOW for word in words))

    def _block(self, blocker: str) -> None:
        self.plan.blockers.append(blocker)


def quoted(text: str) -> str:
    """A clause as it is quoted: on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED_CHARS else f"{flat[: QUOTED_CHARS - 1]}…"


def _points_back(clause: str) -> bool:
    return any(word.lower in PRONOUNS for word in words_of(clause))


def _is_for_each(words: Sequence[Word]) -> bool:
    said = [word.lower for word in words]
    return said[:2] in (["for", "each"], ["for", "every"], ["group", "by"]) or (
        said[:1] in (["per"], ["by"]) and len(said) < 4
    )


def _hint(words: Sequence[Word]) -> str:
    """What to say instead of a bare "plot Zn"."""
    is_plot = any(word.stem == "plot" for word in words)
    return "; say a histogram of A, a plot of A against B, or a map of A" if is_plot else ""


def _is_nothing(words: Sequence[Word]) -> bool:
    """ "Don't plot anything"."""
    said = [word.lower for word in words]
    return bool(said) and said[-1] in ("anything", "else", "plots", "figures", "maps", "charts")
