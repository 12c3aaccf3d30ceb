"""Binds the numbers of a clause to arguments by the words beside them: "into 3 groups", "top 10", "k = 4", "P95"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from outcrop.models.offline.schema import Property
from outcrop.models.offline.subject import NUMBER_WORDS
from outcrop.models.offline.vocabulary import MINOR
from outcrop.models.offline.words import PERCENTILE, Word, stem

NEAR_WORDS = 2
"""So many words before and after a number may say what it is for: "3 principal components"."""

_JOINING = frozenset(("and", "or", "to", "&", ",", "-", "–"))
# min_samples is not meant where "178 samples" are spoken of.
_QUALIFIERS = frozenset(("min", "max"))
_GLUE = frozenset(("=", ":", "-", "–", "~", "≈", "%"))
_PASSED_OVER = frozenset(("of", "the", "is", "at"))


@dataclass
class Numbers:
    """Arguments bound from numbers, the places used, and the numbers that no argument takes.

    `unbound` are figures; `idle` are numbers in words, which often are a manner of speaking ("the two elements").
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    unbound: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def bind_numbers(
    words: Sequence[Word], properties: Sequence[Property], columns: Collection[int], taken: Collection[int]
) -> Numbers:
    """Bind every number or report it. `columns` are places of column names and conditions, `taken` of options too."""
    numeric = [prop for prop in properties if _is_numeric(prop)]
    numbers = Numbers()
    labels = _labels(words, columns)
    for place, word in enumerate(words):
        value = _value(word)
        if value is None or place in taken or place in columns:
            continue
        prop = _best(numeric, labels[place])
        if prop is None:
            (numbers.unbound if word.kind == "number" else numbers.idle).append(word.text)
            continue
        numbers.used.add(place)
        _put(numbers, prop, value)
    return numbers


def _put(numbers: Numbers, prop: Property, value: float) -> None:
    plain: int | float = int(value) if value.is_integer() and (prop.is_list or prop.kind != "number") else value
    if prop.is_list:
        known = numbers.arguments.get(prop.name) or (prop.default if isinstance(prop.default, list) else [])
        numbers.arguments[prop.name] = sorted({*known, plain})
    elif numbers.arguments.setdefault(prop.name, plain) != plain:
        numbers.conflicts.append(f"{numbers.arguments[prop.name]} and {plain} for {prop.name}")


def _is_numeric(prop: Property) -> bool:
    kind = prop.item_kind if prop.is_list else prop.kind
    return not prop.choices and kind in ("integer", "number")


def _value(word: Word) -> float | None:
    if word.kind == "word" and (found := PERCENTILE.fullmatch(word.text)):
        return float(found[1])
    return word.number


def _labels(words: Sequence[Word], columns: Collection[int]) -> dict[int, tuple[list[str], list[str]]]:
    """For each number the stems after and before it; numbers in a list share those of its ends."""
    places = [place for place, word in enumerate(words) if place not in columns and _value(word) is not None]
    labels = {
        place: (
            _beside(words, range(place + 1, len(words)), columns),
            _beside(words, range(place - 1, -1, -1), columns),
        )
        for place in places
    }
    for following, place in pairwise(reversed(places)):
        if not labels[place][0] and _is_joined(words, place, following):
            labels[place] = (labels[following][0], labels[place][1])
    for place, following in pairwise(places):
        if not labels[following][1] and _is_joined(words, place, following):
            labels[following] = (labels[following][0], labels[place][1])
    for place in places:
        if not labels[place][0] and place and words[place - 1].lower == "into":
            labels[place] = (["group"], labels[place][1])
        if PERCENTILE.fullmatch(words[place].text):
            labels[place] = ([words[place].stem], [])
    return labels


def _beside(words: Sequence[Word], places: Iterable[int], columns: Collection[int]) -> list[str]:
    """The stems next to a number on one side, up to a column, another number or a small word."""
    found: list[str] = []
    for at in places:
        word = words[at]
        if word.text in _GLUE or word.lower in _PASSED_OVER:
            continue
        is_end = at in columns or word.kind != "word" or word.lower in MINOR or _value(word) is not None
        if is_end or len(found) == NEAR_WORDS:
            break
        found.append(word.stem)
    return found


def _is_joined(words: Sequence[Word], place: int, following: int) -> bool:
    between = words[place + 1 : following]
    return bool(between) and all(word.lower in _JOINING for word in between)


def _best(properties: Sequence[Property], labels: tuple[list[str], list[str]]) -> Property | None:
    """The argument whose words stand nearest to the number; what follows it counts more than what precedes."""
    after, before = labels
    weights = [*zip(after, (4, 3), strict=False), *zip(before, (2, 1), strict=False)]
    best, best_score = None, 0
    for prop in properties:
        known = _known_by(prop)
        if not {*after, *before} >= _QUALIFIERS & set(prop.stems):
            continue
        score = max((weight for said, weight in weights if said in known), default=0)
        if score > best_score:
            best, best_score = prop, score
    return best


def _known_by(prop: Property) -> set[str]:
    own = {found for found in prop.stems if found != "n"} - _QUALIFIERS
    # An argument called n, k or size alone has only that to go by.
    own = own or set(prop.stems)
    return own.union(*(NUMBER_WORDS[word] for word in own if word in NUMBER_WORDS)) | {stem(prop.name)}
