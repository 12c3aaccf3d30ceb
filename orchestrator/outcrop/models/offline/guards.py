"""Refuses what would change the meaning of the work and was not understood, instead of doing the rest of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from outcrop.models.offline.conditions import is_ordering
from outcrop.models.offline.mentions import Mentions
from outcrop.models.offline.polarity import EXCEPTING, EXCEPTING_PAIRS, PARTICLES
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.vocabulary import DETERMINERS, STOP, TASK_VERBS, word_set
from outcrop.models.offline.words import Word
from outcrop_specialists.columns.units import is_unit

NEGATING = EXCEPTING - {"but", "save", "minus"} | word_set("not no neither nor never unless ignoring ignore apart")
NEGATED_WORDS = 6
"""So many words after a negation may be what it negates."""
VAGUE = word_set("dozen dozens couple several few handful hundred hundreds thousand one single various some")
COUNTED = frozenset(("group", "cluster", "class", "bin", "compon", "bucket", "factor"))
ARITHMETIC = word_set("ratio ratios quotient divided product difference times multiplied squared plus minus")
UNTRANSFORMED = word_set("raw untransformed unlogged untransform nonlog linear")
KINDS = word_set("elements element columns column variables variable features feature analytes metals metal oxides")
ROWS = word_set("rows row samples sample records record observations specimens plants animals sites points data")
# What may stand before "elements" or "samples" without choosing among them.
HARMLESS = word_set(
    """numeric numerical measured chemical geochemical assay assayed available soil rock core drill drilled wine water
    stream sediment chip collected till whole entire full original same remaining other cleaned given of new analysed
    analyzed listed named data element elements table file multi plant geological field individual similar iris"""
)
PLAIN = (STOP - {"most", "least", "few"}) | DETERMINERS | HARMLESS | EXCEPTING | PARTICLES
PLAIN |= word_set("excluding exclude min max")
CHOOSING = word_set(
    """high low higher lower highest lowest top best worst strong strongest first last major minor trace key main most
    least important unusual rich poor richest left right bottom upper real different"""
)
MISSING = word_set("missing null empty blank nan na")
LEAVING = word_set("ignoring ignore excluding without")
NEVER_MEASURED = word_set("coordinates coordinate coords ids identifiers locations positions dates")
UNIT_CUES = frozenset(("in", "as", "to", "into"))


@dataclass(frozen=True)
class Clause:
    """A clause as it was bound: `used` are the places that became arguments, `asked` those that asked for the tool."""

    words: Sequence[Word]
    used: Collection[int]
    asked: Collection[int]
    verb: Word | None
    mentions: Mentions
    excepted: Collection[int]
    options: Collection[int]
    conditions: Collection[int]
    takes_measures: bool = False


def refusals_of(clause: Clause, profile: Profile) -> list[str]:
    """Why the clause must not be done as bound; each with the words that stand against it."""
    found = [
        *_negations(clause),
        *_bounds(clause),
        *_quantities(clause),
        *_choices(clause),
        *_arithmetic(clause),
        *_units(clause, profile),
        *_tasks(clause),
        *_values(clause, profile),
    ]
    return list(dict.fromkeys(found))


def _negations(clause: Clause) -> list[str]:
    """ "Excluding outliers", "with no Pb": a negation that became neither a condition, an option nor a left-out
    column."""
    words, accounted = clause.words, {*clause.excepted, *clause.options, *clause.conditions}
    # Coordinates and identifiers are never among the measured columns that a step takes by itself.
    accounted |= {at for at, word in enumerate(words) if clause.takes_measures and word.lower in NEVER_MEASURED}
    # Missing values never enter a figure.
    accounted |= {
        at for at, word in enumerate(words) if at and word.lower in MISSING and words[at - 1].lower in LEAVING
    }
    found = []
    for at, word in enumerate(words):
        pair = (word.lower, words[at + 1].lower) if at + 1 < len(words) else ("", "")
        if at in accounted or (word.lower not in NEGATING and pair not in EXCEPTING_PAIRS):
            continue
        after = range(at + 1, min(len(words), at + 1 + NEGATED_WORDS))
        if not any(place in accounted for place in after) and not _is_asked(clause, at):
            found.append(f'"{_said(words, at, 4)}" was not understood, and without it the result would be another')
    return found


def _is_asked(clause: Clause, at: int) -> bool:
    """Whether a negation belongs to the words that ask for the tool: "classify without labels", "has no Cu assay"."""
    following = at + 2 if clause.mentions.at(at + 1) else at + 1
    is_inside = bool({at + 1, following} & set(clause.asked))
    return is_inside and bool(at) and any(place in clause.asked for place in range(at))


def _bounds(clause: Clause) -> list[str]:
    """ "Above 1000" that no condition took would be a restriction lost."""
    words = clause.words
    return [
        f'the bound "{_said(words, max(0, at - 2), 3)}" belongs to no column that is named right beside it'
        for at, word in enumerate(words)
        if word.kind == "number"
        and at not in clause.used
        and (is_ordering(words[max(0, at - 3) : at]) or is_ordering(words[at + 1 : at + 2]))
    ]


def _quantities(clause: Clause) -> list[str]:
    """ "Two dozen groups" must not fall back to the default number of groups."""
    found = []
    for at, word in enumerate(clause.words):
        if at in clause.used or at in clause.asked:
            continue
        near = clause.words[at + 1 : at + 4]
        counted = next((other.text for other in near if other.stem in COUNTED and other.kind == "word"), None)
        is_one = word.lower in ("one", "single", "some", "various")
        is_vague = word.lower in VAGUE or (word.kind == "word" and word.number is not None)
        if is_vague and counted and (not is_one or near[0].text == counted):
            found.append(f'"{word.text}" before "{counted}" is no number that can be used; write it in figures')
    return found


def _choices(clause: Clause) -> list[str]:
    """ "The five most variable elements", "rich samples": a choice that cannot be made."""
    found = []
    for at, word in enumerate(clause.words):
        if word.lower not in KINDS | ROWS or at in clause.mentions.used or not at:
            continue
        place = at - 1
        while place and clause.words[place].text == "-":
            place -= 1
        before = clause.words[place]
        is_free = before.kind == "word" and place not in clause.used and place not in clause.asked
        is_plain = before.lower in PLAIN | TASK_VERBS
        is_verb = before is clause.verb or before.number is not None
        is_listed = clause.mentions.at(at + 1) is not None
        if (
            is_free
            and not is_listed
            and (before.lower in CHOOSING or not (is_plain or is_verb or before.lower in VAGUE))
        ):
            found.append(f'"{before.text} {word.text}" is a choice that cannot be made; name them')
    return found


def _arithmetic(clause: Clause) -> list[str]:
    words, found = clause.words, []
    for at, word in enumerate(words):
        if word.lower in ARITHMETIC and at not in clause.used and at not in clause.asked:
            found.append(f'"{word.text}" is a calculation between columns, to be made in a step of its own')
        is_between = 0 < at < len(words) - 1 and clause.mentions.at(at - 1) and clause.mentions.at(at + 1)
        is_close = is_between and words[at - 1].end == word.start and word.end == words[at + 1].start
        if word.text in ("/", "*", "+") and is_close and at not in clause.mentions.used:
            found.append(
                f'"{_said(words, at - 1, 3)}" is a calculation between columns, to be made in a step of its own'
            )
        if word.lower in UNTRANSFORMED and at + 1 < len(words) and clause.mentions.at(at + 1):
            found.append(f'"{word.text} {words[at + 1].text}": one transform holds for all columns of a step')
    return found


def _units(clause: Clause, profile: Profile) -> list[str]:
    """Converting is a step of its own: a unit that is asked for must be the one that the columns have."""
    found = []
    for at in range(1, len(clause.words)):
        word = clause.words[at]
        is_said = clause.words[at - 1].lower in UNIT_CUES and (word.text == "%" or is_unit(word.text))
        if not is_said or at in clause.used or word.lower in STOP or clause.mentions.at(at):
            continue
        for name in clause.mentions.columns:
            column = profile.column(name)
            if column and column.is_numeric and column.unit.strip().casefold() != word.lower:
                has = f"is in {column.unit}" if column.unit else "has no known unit"
                found.append(f'"in {word.text}": {name} {has}; convert its unit first')
    return found


def _tasks(clause: Clause) -> list[str]:
    """A second verb of work that nothing took: "..., and plot"."""
    return [
        f'"{word.text}" asks for something more, which is not said; give it a sentence of its own'
        for at, word in enumerate(clause.words)
        if at
        and word.lower in TASK_VERBS - {"work", "report", "output", "split", "change", "say", "score", "list", "group"}
        and clause.words[at - 1].lower in ("and", ",", "then")
        and at == len(clause.words) - 1
        and at not in clause.used
        and at not in clause.asked
    ]


def _values(clause: Clause, profile: Profile) -> list[str]:
    """ "Mean Zn in Island Dream": a name beside a column of texts is one of its values, so a condition."""
    found = []
    for mention in clause.mentions.found:
        column = profile.column(mention.column)
        for at in (mention.first - 1, mention.end):
            is_free = 0 < at < len(clause.words) and at not in clause.used and at not in clause.asked
            word = clause.words[at] if is_free else None
            if column and not column.is_numeric and word and word.kind == "word" and word.text[:1].isupper():
                found.append(f'"{word.text}" beside {mention.column} was not understood; say {mention.column} = ...')
    return found


def _said(words: Sequence[Word], at: int, count: int) -> str:
    return " ".join(word.text for word in words[at : at + count])
