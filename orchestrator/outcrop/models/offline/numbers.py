"""Binds the numbers of a clause to arguments by the words beside them: "into 3 groups", "top 10", "k = 4", "P95"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.schema import Property
from outcrop.models.offline.subject import NUMBER_WORDS
from outcrop.models.offline.vocabulary import MINOR
from outcrop.models.offline.words import Word, stem

NEAR_WORDS = 2
"""So many words before and after a number may say what it is for: "3 principal components"."""

_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)", re.IGNORECASE)
_JOINING = frozenset(("and", "or", "to", "&", ",", "-", "–"))
# min_samples is not meant where "178 samples" are spoken of.
_QUALIFIERS = frozenset(("min", "max"))
_GLUE = frozenset(("=", ":", "-", "–", "~", "≈"))


@dataclass
class Numbers:
    """Arguments bound from numbers, the places used, and the numbers that no argument takes."""

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    unbound: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def bind_numbers(words: Sequence[Word], properties: Sequence[Property], skip: set[int]) -> Numbers:
    """Bind every number outside `skip` (columns, conditions, options) or report it."""
    numeric = [prop for prop in properties if _is_numeric(prop)]
    numbers = Numbers()
    labels = _labels(words, skip)
    for place, word in enumerate(words):
        value = _value(word)
        if value is None or place in skip:
            continue
        prop = _best(numeric, labels[place])
        if prop is None:
            # "two maps" and "both of the three" are manners of speaking; a figure in digits is not.
            if word.kind == "number":
                numbers.unbound.append(word.text)
            continue
        numbers.used.add(place)
        _put(numbers, prop, value)
    return numbers


def _put(numbers: Numbers, prop: Property, value: float) -> None:
    plain: int | float = int(value) if value == int(value) and prop.kind != "number" else value
    if prop.is_list:
        known = numbers.arguments.get(prop.name) or (prop.default if isinstance(prop.default, list) else [])
        plain = int(value) if value == int(value) else value
        numbers.arguments[prop.name] = sorted({*known, plain})
    elif numbers.arguments.setdefault(prop.name, plain) != plain:
        numbers.conflicts.append(f"{numbers.arguments[prop.name]} and {plain} for {prop.name}")


def _is_numeric(prop: Property) -> bool:
    return not prop.choices and (
        prop.kind in ("integer", "number") or (prop.is_list and prop.item_kind in ("integer", "number"))
    )


def _value(word: Word) -> float | None:
    if word.kind == "word" and (found := _PERCENTILE.fullmatch(word.text)):
        return float(found[1])
    return word.number


def _labels(words: Sequence[Word], skip: set[int]) -> dict[int, tuple[list[str], list[str]]]:
    """For each number the stems after and before it; numbers in a list share those of its ends."""
    places = [place for place, word in enumerate(words) if place not in skip and _value(word) is not None]
    labels = {place: (_after(words, place, skip), _before(words, place, skip)) for place in places}
    for place, following in zip(reversed(places[:-1]), reversed(places[1:]), strict=True):
        if not labels[place][0] and _is_joined(words, place, following):
            labels[place] = (labels[following][0], labels[place][1])
    for place, following in zip(places[:-1], places[1:], strict=True):
        if not labels[following][1] and _is_joined(words, place, following):
            labels[following] = (labels[following][0], labels[place][1])
    for place in places:
        if words[place].kind == "word" and words[place].number is None:
            labels[place] = (["quantil"], [])
    return labels


def _after(words: Sequence[Word], place: int, skip: set[int]) -> list[str]:
    found: list[str] = []
    for word, at in zip(words[place + 1 :], range(place + 1, len(words)), strict=True):
        if word.text in _GLUE or word.text == "%":
            continue
        if (
            at in skip
            or word.kind != "word"
            or word.lower in MINOR
            or _value(word) is not None
            or len(found) == NEAR_WORDS
        ):
            break
        found.append(word.stem)
    return found


def _before(words: Sequence[Word], place: int, skip: set[int]) -> list[str]:
    found: list[str] = []
    for at in range(place - 1, -1, -1):
        word = words[at]
        if word.text in _GLUE or word.lower in ("of", "the", "is", "to", "at"):
            continue
        if (
            at in skip
            or word.kind != "word"
            or word.lower in MINOR
            or _value(word) is not None
            or len(found) == NEAR_WORDS
        ):
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
