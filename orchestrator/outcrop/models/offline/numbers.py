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

AFTER, BEFORE = (4, 3, 3, 3), (2, 1, 1, 1)
"""How much the words after a number and before it count, nearest first."""
LENGTHS = frozenset(("m", "metre", "metres", "meter", "meters", "ft", "feet", "km"))

_JOINING = frozenset(("and", "or", "to", "&", ",", "-", "–"))
# min_samples is not meant where "178 samples" are spoken of.
_QUALIFIERS = frozenset(("min", "max"))
_BOUNDS = {("up", "to"): "max", ("at", "most"): "max", ("at", "least"): "min", ("more", "than"): "min"}
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
    labels = _labels(words, columns, taken)
    for place, word in enumerate(words):
        value = _value(word)
        if value is None or place in taken or place in columns:
            continue
        prop = _best(numeric, labels[place]) or _of_length(numeric, numbers, words, place)
        prop = prop or _of_bound(numeric, numbers, words, place)
        if prop is None:
            (numbers.unbound if word.kind == "number" else numbers.idle).append(word.text)
            continue
        numbers.used.add(place)
        _put(numbers, prop, value)
    return numbers


def _of_length(properties: Sequence[Property], numbers: Numbers, words: Sequence[Word], place: int) -> Property | None:
    """The argument that a bare length is for: "composite to 2 m", "over at least 4 m"."""
    if place + 1 >= len(words) or words[place + 1].lower not in LENGTHS:
        return None
    free = [prop for prop in properties if prop.name not in numbers.arguments]
    near = {word.lower for word in words[max(0, place - 3) : place]}
    if near & {"within", "farther", "further"}:
        return next((prop for prop in free if prop.name == "max_distance"), None)
    if near & {"least", "over", "minimum", "min", "than", "longer"}:
        return next((prop for prop in free if prop.name == "min_length"), None)
    kinds = [prop for prop in free if prop.name in ("length", "cell_size")]
    numbers.used.update({place + 1} if len(kinds) == 1 else set())
    return kinds[0] if len(kinds) == 1 else None


def _of_bound(properties: Sequence[Property], numbers: Numbers, words: Sequence[Word], place: int) -> Property | None:
    """The argument that a figure after "at" is for: "threshold Cu at 50", "intercepts of Cu at 0.3"."""
    is_at = place > 0 and words[place - 1].lower in ("at", "=", "of")
    names = {"cutoff", "value"} - numbers.arguments.keys()
    return next((prop for prop in properties if is_at and prop.name in names), None)


def _put(numbers: Numbers, prop: Property, value: float) -> None:
    plain: int | float = int(value) if value.is_integer() and (prop.is_list or prop.kind != "number") else value
    if prop.is_list:
        known = numbers.arguments.get(prop.name) or (prop.default if isinstance(prop.default, list) else [])
        is_added = isinstance(prop.default, list)
        # Percentiles join those that are given anyway; bands and breaks stay as they are said.
        numbers.arguments[prop.name] = sorted({*known, plain}) if is_added else [*known, plain]
    elif numbers.arguments.setdefault(prop.name, plain) != plain:
        numbers.conflicts.append(f"{numbers.arguments[prop.name]} and {plain} for {prop.name}")


def _is_numeric(prop: Property) -> bool:
    kind = prop.item_kind if prop.is_list else prop.kind
    return not prop.choices and kind in ("integer", "number")


def _value(word: Word) -> float | None:
    if word.kind == "word" and (found := PERCENTILE.fullmatch(word.text)):
        return float(found[1])
    return word.number


def _labels(
    words: Sequence[Word], columns: Collection[int], taken: Collection[int]
) -> dict[int, tuple[list[str], list[str]]]:
    """For each number the stems after and before it; numbers in a list share those of its ends."""
    places = [place for place, word in enumerate(words) if place not in columns and _value(word) is not None]
    labels = {
        place: (
            _beside(words, range(place + 1, len(words)), columns, taken),
            _beside(words, range(place - 1, -1, -1), columns, taken),
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


def _beside(
    words: Sequence[Word], places: Iterable[int], columns: Collection[int], taken: Collection[int]
) -> list[str]:
    """The stems next to a number on one side, up to a column, another number or a small word."""
    found: list[str] = []
    free = 0
    for at in places:
        word = words[at]
        if word.text in _GLUE or word.lower in _PASSED_OVER:
            continue
        # "5 equal-width classes": a word that is an option already does not stand between.
        free += at not in taken
        if qualifier := _BOUNDS.get((words[at - 1].lower if at else "", word.lower)):
            # "Waste up to 3 m" speaks of a largest one.
            found.append(qualifier)
            free -= at not in taken
            continue
        if found and found[-1] in _QUALIFIERS and word.lower in ("up", "at", "no", "not", "more", "less"):
            continue
        is_end = at in columns or word.kind != "word" or word.lower in MINOR or _value(word) is not None
        if is_end or free > NEAR_WORDS:
            break
        found.append(word.stem)
    return found


def _is_joined(words: Sequence[Word], place: int, following: int) -> bool:
    between = words[place + 1 : following]
    return bool(between) and all(word.lower in _JOINING for word in between)


def _best(properties: Sequence[Property], labels: tuple[list[str], list[str]]) -> Property | None:
    """The argument whose words stand nearest to the number; what follows it counts more than what precedes."""
    after, before = labels
    plain = [[said for said in side if said not in _QUALIFIERS] for side in (after, before)]
    weights = [*zip(plain[0], AFTER, strict=False), *zip(plain[1], BEFORE, strict=False)]
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
