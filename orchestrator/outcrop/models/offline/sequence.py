"""Works through steps in the order that their tables allow, for lead and specialist alike.

A step that makes a new table holds up every later step on that table; a step that points back ("plot the groups") waits
for what it points to. What depends on nothing goes out in the same turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outcrop.models.offline.conversation import Call
from outcrop.models.offline.references import (
    Previous,
    back_references,
    speaks_of_best,
    speaks_of_hole_grade,
)
from outcrop.models.offline.steps import Step, quoted
from outcrop.models.offline.tables import is_named, takes_several
from outcrop.models.offline.vocabulary import BACK_REFERENCES
from outcrop.models.offline.words import stems_of, words_of

CALLS_AT_ONCE = 8
DRAWING = frozenset(("plot", "draw", "map"))
CLEANING = "cleaning"
HOLES, CORRELATE = "profile_intervals", "correlate"

_COMPONENT = re.compile(r"\bPC\d+\b")
_REDUCES = re.compile("reduc")


@dataclass
class Done:
    """What a step found. `columns` are those it worked on, as far as known."""

    summary: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ()

    @property
    def table(self) -> str | None:
        """The first table written."""
        paths = [record.get("path") for record in self.artifacts if record.get("kind") == "table"]
        return next((path for path in paths if isinstance(path, str) and path), None)


@dataclass
class Attempt:
    """One look at a step: the calls to be made for it now, or what it came to, or why it failed."""

    calls: list[Call] = field(default_factory=list)
    done: Done | None = None
    failure: str = ""


@dataclass
class Record:
    """A step on one table, with what became of it; neither `done` nor `failure` while it waits."""

    step: Step
    table: str
    done: Done | None = None
    failure: str = ""
    previous: Previous | None = None
    replaces: bool = False

    @property
    def is_open(self) -> bool:
        return self.done is None and not self.failure


@dataclass
class _Table:
    """The table that a data file has become; `held_by` is the step that is making the next one, or failed to."""

    path: str
    held_by: Record | None = None


@dataclass(frozen=True)
class Place:
    """Where a step works: the table as it is now, the data file it comes from, and what other files have become."""

    path: str
    origin: str
    now: Mapping[str, str]

    def others(self, paths: Sequence[str]) -> list[str]:
        """The other data files, as they are now."""
        return [self.now.get(path, path) for path in paths if path not in (self.origin, self.path)]


Try = Callable[[Step, Place, Previous | None], Attempt]
Targets = Callable[[Step], Sequence[str]]


@dataclass
class Progress:
    """The records of all steps, and the calls that can be made now."""

    records: list[Record] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


def work_through(steps: Sequence[Step], targets: Targets, attempt: Try, replaces: Callable[[Step], bool]) -> Progress:
    """See how far the steps are. `targets` gives a step's data files, `replaces` says whether it makes a new table."""
    progress = Progress()
    tables: dict[str, _Table] = {}
    for step in steps:
        for path in targets(step):
            table = tables.setdefault(path, _Table(path))
            record = Record(step, path, replaces=replaces(step))
            _look(record, table, tables, progress, attempt)
            progress.records.append(record)
            if record.replaces and table.held_by is None:
                _hand_on(table, record)
    return progress


def _look(record: Record, table: _Table, tables: Mapping[str, _Table], progress: Progress, attempt: Try) -> None:
    """Try the step unless it has to wait, or what it needs has failed."""
    words = words_of(record.step.clause)
    # What an earlier step found is known by its words, whatever table it was found in.
    is_anywhere = speaks_of_hole_grade(words) or speaks_of_best(words)
    earlier = [other for other in progress.records if is_anywhere or other.table == record.table]
    source = referent(record.step, earlier)
    if source:
        record.failure = _lost(source, earlier)
        if source.is_open or record.failure:
            return
    made = source.done if source else None
    if source and made:
        record.previous = Previous.of_results(source.step.card.name, made.results, made.columns)
    is_labelled = bool(record.previous and record.previous.labels) or _names_component(record.step)
    if made and speaks_of_hole_grade(words_of(record.step.clause)):
        is_labelled = True
        record.previous = replace(record.previous or Previous(), is_about_holes=True)
    labelled = made.table if made and is_labelled else None
    holders = [] if labelled is not None else [table.held_by]
    if takes_several(record.step.card):
        holders += [other.held_by for other in tables.values() if other is not table]
    for holder in filter(None, holders):
        if holder.failure and (holder is table.held_by or is_named(holder.table, record.step.clause)):
            record.failure = f'it needs the table of "{quoted(holder.step.clause)}", which failed'
            return
        if not holder.failure:
            return
    place = Place(labelled or table.path, record.table, {origin: other.path for origin, other in tables.items()})
    found = attempt(record.step, place, record.previous)
    record.done, record.failure = found.done, found.failure
    known = {call.key for call in progress.calls}
    new = [call for call in found.calls if call.key not in known]
    progress.calls += new[: CALLS_AT_ONCE - len(progress.calls)]


def _lost(source: Record, earlier: Sequence[Record]) -> str:
    """Why what a step points back to cannot be used."""
    said = quoted(source.step.clause)
    if source.failure:
        return f'it needs the result of "{said}", which failed'
    later = earlier[earlier.index(source) + 1 :]
    if _has_labels(source) and any(record.replaces for record in later):
        return f'the result of "{said}" is about the table as it was before a later step changed it'
    return ""


def _hand_on(table: _Table, record: Record) -> None:
    """Later steps work on the new table; while it is not there, they wait, and without it they cannot be done."""
    if record.done is None:
        table.held_by = record
    elif record.done.table:
        table.path = record.done.table


def replaces_table(step: Step, specialist: str) -> bool:
    """Whether the step makes a table that takes the place of the data; one of figures about it does not."""
    return step.changes_table(specialist)


def referent(step: Step, earlier: Sequence[Record]) -> Record | None:
    """The earlier step that a clause points back to, the latest that fits; None where it stands for itself."""
    references = back_references(words_of(step.clause))
    named = {words_of(step.clause)[at].stem for at in (*references.groups, *references.grouping)}
    makers = {stem for word in named for stem in BACK_REFERENCES[word]}
    others = [record for record in reversed(earlier) if _makes_something(record.step) and record.step.card != step.card]
    if makers and not _is_named(step, makers):
        by_name = next((record for record in others if _is_named(record.step, makers)), None)
        # A tool that is not named for groups may make them all the same; its results will tell.
        return by_name or next((record for record in others if record.is_open or _has_labels(record)), None)
    if speaks_of_hole_grade(words_of(step.clause)):
        # The first such step is the one that was asked for grades; later ones may be about anything.
        return next((record for record in reversed(others) if record.step.card.name == HOLES), None)
    if speaks_of_best(words_of(step.clause)):
        return next((record for record in reversed(earlier) if record.step.card.name == CORRELATE), None)
    if _names_component(step):
        # "Plot PC1 against PC2" is about the scores of a PCA.
        return next((record for record in others if _REDUCES.search(record.step.card.name)), None)
    return others[0] if references.pronouns and others else None


def _names_component(step: Step) -> bool:
    return bool(_COMPONENT.search(step.clause))


def _is_named(step: Step, makers: set[str]) -> bool:
    """Whether the tool is named for what it makes: `cluster`, `compute_anomaly`."""
    return _makes_something(step) and bool(makers & set(stems_of(step.card.name.replace("_", " "))))


def _has_labels(record: Record) -> bool:
    return record.done is not None and bool(Previous.of_results("", record.done.results).labels)


def _makes_something(step: Step) -> bool:
    return not step.is_reporting and step.card.name.partition("_")[0] not in DRAWING
