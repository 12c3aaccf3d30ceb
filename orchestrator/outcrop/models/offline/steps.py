"""An objective as steps: each clause with the tool that it asks for, or with the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from outcrop.models.offline.cards import Card
from outcrop.models.offline.clauses import Clause, Splitter
from outcrop.models.offline.ranking import RANK
from outcrop.models.offline.retrieval import Match, Retrieval
from outcrop.models.offline.routing import (
    FILTER,
    QUERY,
    is_about_groups,
    is_aside,
    is_loading,
    is_restriction,
    is_scope,
    is_way,
    parted,
    reroute,
)
from outcrop.models.offline.vocabulary import DETERMINERS, MODIFIERS, POLITE, PRONOUNS, word_set
from outcrop.models.offline.words import Word, words_of

MOST_STEPS = 40
"""An objective with more clauses than this is a document; what is over is named as not done."""
MOST_CLAUSES = 400
CLAUSE_WORDS = 300
"""A clause of more words is no request in plain words."""
QUOTED_CHARS = 200
DUPLICATES = "remove_duplicates"
HISTOGRAM = "plot_histogram"

CLUSTER = "cluster"
TAKES_HOW = frozenset((CLUSTER, "choose_clusters", "reduce_dimensions", "compute_anomaly", "detect_outliers"))
"""What takes logarithms, log-ratios and scaling as a way of doing it."""
CLEAN_HINT = (
    "; cleaning is many things, so say which: keep only routine samples, remove duplicates, parse detection limits, "
    "replace -9 by nothing, convert units, standardise terms. What reading repaired is among the findings"
)
KEPT_TABLE = word_set("i need want save keep write export give me us the a cleaned table data file of samples")
HOW = frozenset(("standard", "scale", "normal", "log", "log10", "transform", "center"))
HOW_TOOLS = frozenset(("standardize", "normalize", "log_transform", "logratio_transform"))
"""What these do is also a way of doing another thing: "PCA of Zn and Pb, do not standardise"."""
CLEANING = "cleaning"
WRITES_TABLE = re.compile(r"\bwrites (?:them as a|the)(?: \w+)? table\b", re.IGNORECASE)
CHANGING = word_set(
    "convert fix replace parse remove standardize filter threshold pivot melt composite join reproject merge"
)
"""Cleaning tools of which the card says what they do to the table, not that they write it."""
_LOG_AXIS = re.compile(r"\s+(?:on|with)\s+(?:an?\s+)?log(?:arithmic)?\s+(?:axis|scale)$", re.IGNORECASE)
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

    def changes_table(self, specialist: str) -> bool:
        """Whether the tool writes a table that later steps work on, going by what its card says of it."""
        is_changing = specialist == CLEANING and self.card.name.partition("_")[0] in CHANGING
        return (is_changing or bool(WRITES_TABLE.search(self.card.description))) and not self.is_reporting

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
    clauses = Splitter(cards, columns).split(objective)
    for clause in clauses[:MOST_CLAUSES]:
        planner.take(clause)
    if len(clauses) > MOST_CLAUSES:
        planner.plan.blockers.append(f"{len(clauses) - MOST_CLAUSES} more clauses were not read; {MOST_CLAUSES} were")
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
        self._mixed = ""

    def take(self, clause: Clause) -> None:
        """Plan one clause."""
        words = words_of(clause.text)
        if len(words) > CLAUSE_WORDS:
            self._block(f'Not understood: "{quoted(clause.text)}" (it has {len(words)} words; {CLAUSE_WORDS} are read)')
            return
        if is_loading(words):
            self.plan.notes.append(f'Needs no step of its own: "{quoted(clause.text)}"')
            return
        if _is_for_each(words) and self._retrieval.best(clause.text, self._columns) is None:
            self._each = clause
            return
        if self._each:
            clause, self._each = replace(clause, text=f"{clause.text} {self._each.text}"), None
        match = self._match(clause) or self._pointing(clause)
        if self._is_said_already(clause, match):
            return
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
            if any(word.stem == "unit" for word in words):
                self._mixed = self._mixed or clause.text
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
        match = reroute(clause.text, self._retrieval.best(clause.text, self._columns), self._cards)
        match = match or self._plain_plot(clause)
        if clause.is_negated and match and match.card.name in HOW_TOOLS and self.plan.steps:
            return None
        return match

    @property
    def _lost_between(self) -> bool:
        return bool(self._scope)

    def _pointing(self, clause: Clause) -> Match | None:
        """ "Check them" after "put the drill tables together": the verb with the object of the step before."""
        said = [word.lower for word in words_of(clause.text) if word.lower not in POLITE]
        if len(said) != 2 or said[1] not in PRONOUNS or not self.plan.steps or clause.is_negated:
            return None
        before = words_of(self.plan.steps[-1].clause)
        rest = " ".join(word.text for word in before[1:] if word.lower not in ("together", "into"))
        return self._retrieval.best(f"{said[0]} {rest}", self._columns)

    def _is_said_already(self, clause: Clause, match: Match | None) -> bool:
        """ "Save the cleaned table": every step writes its table; "tell me what gold looks like: ..." begins a list."""
        words = [word for word in words_of(clause.text) if word.kind != "mark"]
        lower = [word.lower for word in words]
        if set(lower) <= KEPT_TABLE and lower and lower[-1] in ("table", "data", "file") and "cleaned" in lower:
            cleaning = [step for step in self.plan.steps if step.changes_table(step.card.specialist)]
            if cleaning:
                self.plan.notes.append(f'"{quoted(clause.text)}": it is the table of "{quoted(cleaning[-1].clause)}"')
            else:
                self._block(
                    f'Not done: "{quoted(clause.text)}": no cleaning step was understood, so there is no such table'
                )
            return True
        if match is None and clause.opens_list and {"look", "looks"} & set(lower[-2:]) | {"like"} & set(lower[-1:]):
            self.plan.notes.append(f'"{quoted(clause.text)}" was taken to announce what follows')
            return True
        return False

    def _plain_plot(self, clause: Clause) -> Match | None:
        """ "Plot Zn" is a histogram: a column alone has nothing else to be drawn against."""
        bare = _LOG_AXIS.sub("", clause.text)
        said = [word for word in words_of(bare) if word.lower not in POLITE | DETERMINERS]
        card = next((card for card in self._cards if card.name == HISTOGRAM), None)
        if card is None or len(said) < 2 or said[0].stem != "plot" or clause.is_negated:
            return None
        named = clause.text[said[1].start : said[-1].end].casefold()
        if named not in self._columns:
            return None
        self.plan.notes.append(f'"{quoted(clause.text)}" names one column, so its histogram is drawn')
        return Match(card, 0.0, frozenset())

    def _reason(self, clause: Clause, match: Match | None, before: str) -> str:
        """Why a clause cannot be planned though a tool may be known for it."""
        if clause.is_conditional:
            return "a condition, which the offline model cannot weigh"
        is_asked = match is not None and not clause.is_negated
        if clause.is_negated and match and match.card.name == FILTER:
            return "it is not clear which rows are to be kept"
        if is_asked and self._mixed and match and match.card.specialist != "cleaning":
            return f'it would be in units that are not consistent, because "{quoted(self._mixed)}" was not done'
        if is_asked and self._unfiltered:
            return f'it would be about all rows, because "{quoted(self._unfiltered)}" was not understood'
        if is_asked and self._scope and self._scope.sentence != clause.sentence:
            return (
                f'it is not clear whether "{quoted(self._scope.text)}" holds here too; say it again or in its own run'
            )
        if is_asked and before and _points_back(clause.text):
            # "Find rich samples and map them": without the first, the second would be about all samples.
            return f'it points back to "{quoted(before)}"'
        ranked = self.plan.steps[-1] if self.plan.steps and self.plan.steps[-1].card.name == RANK else None
        if is_asked and ranked and _points_back(clause.text):
            # The rows that were ranked are in a table of their own; the next step would be about all rows.
            return f'it points back to "{quoted(ranked.clause)}", whose rows are a file of their own; ask for that'
        if is_asked and len(self.plan.steps) == MOST_STEPS:
            return f"{MOST_STEPS} steps are planned at most"
        return ""

    def _goes_on(self, clause: Clause, match: Match | None) -> bool:
        """Whether a clause only says how the one before it is to be done: "Use log10.", "do not standardise"."""
        if not self.plan.steps:
            return False
        last = self.plan.steps[-1].card
        if (
            last.name in TAKES_HOW
            and not self._lost_between
            and (
                is_way(words_of(clause.text), match, self._columns)
                or (last.name == CLUSTER and is_about_groups(clause.text, match))
            )
        ):
            return True
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
    if words and words[0].stem == "clean":
        return CLEAN_HINT
    return "; say a histogram of A, a plot of A against B, or a map of A" if is_plot else ""


def _is_nothing(words: Sequence[Word]) -> bool:
    """ "Don't plot anything"."""
    said = [word.lower for word in words]
    return bool(said) and said[-1] in ("anything", "else", "plots", "figures", "maps", "charts")
