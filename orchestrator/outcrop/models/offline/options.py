"""Binds choices and switches: a value, or a phrase that people use for it, mentioned in the clause selects it.

A method that no property of the tool offers is reported, never replaced by another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.cards import Card, phrase_stems
from outcrop.models.offline.schema import Property
from outcrop.models.offline.subject import METHODS
from outcrop.models.offline.vocabulary import word_set, GENERIC, NEGATIONS, STOP
from outcrop.models.offline.words import Word, squeeze

LOG = frozenset(("log", "logarithm"))
AXES = frozenset("xy")
NOT_SELECTED_BY_WORD = STOP | GENERIC | word_set("none auto keep default yes title")


@dataclass
class Chosen:
    """What the options of a clause come to."""

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    unsupported: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, prop: Property, value: Any, places: Sequence[int]) -> None:
        if prop.name in self.arguments and self.arguments[prop.name] != value:
            self.unsupported.append(f"both {self.arguments[prop.name]} and {value} for {prop.name}")
        self.arguments.setdefault(prop.name, value)
        self.used.update(places)


def choose(words: Sequence[Word], properties: Sequence[Property], card: Card, skip: set[int]) -> Chosen:
    """Bind enums and booleans; the places in `skip` are columns and say nothing of options."""
    chosen = Chosen()
    _choose_values(words, properties, card, skip, chosen)
    _choose_logarithm(words, properties, card, skip, chosen)
    _choose_switches(words, properties, skip, chosen)
    return chosen


def _choose_values(
    words: Sequence[Word], properties: Sequence[Property], card: Card, skip: set[int], chosen: Chosen
) -> None:
    """Longest phrases first, so that "modified z-score" is not read as "z-score"."""
    offered = [
        (phrase, prop, value) for prop in properties for value in prop.choices for phrase in _phrases(prop, value)
    ]
    known = [(phrase_stems(phrase), None, method) for method, phrases in METHODS.items() for phrase in phrases]
    candidates: list[tuple[tuple[str, ...], Property | None, Any]] = [
        *((phrase, prop, value) for phrase, prop, value in offered),
        *known,
    ]
    # Sorting is stable: of equally long phrases those that the tool offers come first.
    for phrase, prop, value in sorted(candidates, key=lambda candidate: -len(candidate[0])):
        for places in _occurrences(words, phrase, skip | chosen.used):
            if prop is not None:
                if not _is_negated(words, places[0]):
                    chosen.take(prop, value, places)
            elif _is_own_work(card, phrase):
                continue
            else:
                chosen.unsupported.append(" ".join(words[place].text for place in places))
                chosen.used.update(places)


def _phrases(prop: Property, value: Any) -> Iterator[tuple[str, ...]]:
    """The ways to ask for a value: itself, what people call it, and what the property's description adds in brackets."""
    if not isinstance(value, str) or not squeeze(value):
        return
    own = phrase_stems(value.replace("_", " "))
    named = phrase_stems(prop.name.replace("_", " "))
    yield (*named, *own)
    yield (*own, *named)
    if value.casefold() not in NOT_SELECTED_BY_WORD:
        yield own
    for phrase in METHODS.get(squeeze(value), ()):
        yield phrase_stems(phrase)
    bracket = re.search(rf"(?<!\w){re.escape(value)} \(([^)]*)\)", prop.description)
    if bracket:
        for said in re.split(r"[,;]", bracket[1]):
            stems = phrase_stems(said)
            if stems and len(stems) <= 4:
                yield stems


def _is_own_work(card: Card, phrase: tuple[str, ...]) -> bool:
    """Whether a method's name is what the tool itself is asked for with: "principal components" of a PCA."""
    return any(set(phrase) <= set(asked) for asked in card.asked_for)


def _choose_logarithm(
    words: Sequence[Word], properties: Sequence[Property], card: Card, skip: set[int], chosen: Chosen
) -> None:
    """ "log" alone: logarithmic axes of a plot, else log10 of the columns, and it is said which."""
    axes = {
        prop.name[-1]: prop for prop in properties if prop.kind == "boolean" and re.fullmatch(r"log_?[xy]", prop.name)
    }
    log10 = next((prop for prop in properties if "log10" in prop.choices), None)
    single = next((prop for prop in properties if prop.kind == "boolean" and prop.name in ("log", "log10")), None)
    for place, word in enumerate(words):
        free = place not in skip and place not in chosen.used
        is_log10 = word.lower == "log10" and bool(axes or single)
        if not free or not (word.stem in LOG or is_log10) or _is_well_log(words, place) or _is_negated(words, place):
            continue
        named = [words[near].lower for near in (place + 1, place - 1, place + 2) if 0 <= near < len(words)]
        wanted = [axis for axis in named[:1] if axis in AXES and axis in axes] or [
            axis for axis in ("x", "y") if axis in named and axis in axes and "axis" in named
        ]
        chosen.used.add(place)
        if axes and not (log10 and "axes" not in named and "axis" not in named):
            for axis in wanted or list(axes):
                chosen.arguments[axes[axis].name] = True
                chosen.used.update(
                    near for near in (place - 1, place + 1) if 0 <= near < len(words) and words[near].lower in AXES
                )
        elif single:
            chosen.arguments[single.name] = True
        elif log10:
            chosen.take(log10, "log10", [place])
            chosen.notes.append(f'"{word.text}" was taken as log10')
        else:
            chosen.unsupported.append(word.text)


def _choose_switches(words: Sequence[Word], properties: Sequence[Property], skip: set[int], chosen: Chosen) -> None:
    """A boolean is set where all words of its name stand in the clause; "without" and "not" before them unset it."""
    for prop in properties:
        if prop.kind != "boolean" or prop.name in chosen.arguments:
            continue
        places = [
            next((at for at, word in enumerate(words) if at not in skip and _answers(word, stem)), None)
            for stem in prop.stems
        ]
        found = [place for place in places if place is not None]
        if found and len(found) == len(places):
            is_off = any(_is_negated(words, place) or words[place].lower.startswith("un") for place in found)
            chosen.take(prop, not is_off, found)


def _answers(word: Word, stem: str) -> bool:
    return word.kind == "word" and (
        word.stem == stem or (word.lower.startswith("un") and phrase_stems(word.lower[2:]) == (stem,))
    )


def _occurrences(words: Sequence[Word], phrase: tuple[str, ...], taken: set[int]) -> list[list[int]]:
    """The places where the phrase stands, its words in order with nothing but marks and small words between them."""
    spoken = [
        at for at, word in enumerate(words) if word.kind != "mark" and (word.lower not in STOP or word.stem in phrase)
    ]
    size = len(phrase)
    found = []
    for start in range(len(spoken) - size + 1):
        places = spoken[start : start + size]
        if tuple(_stem(words[at]) for at in places) == phrase and taken.isdisjoint(places):
            found.append(places)
    return found


def _stem(word: Word) -> str:
    return word.stem if word.kind == "word" else word.text


def _is_negated(words: Sequence[Word], place: int) -> bool:
    near = [word.lower for word in words[max(0, place - 3) : place]]
    return any(word in NEGATIONS for word in near)


def _is_well_log(words: Sequence[Word], place: int) -> bool:
    before = words[place - 1].lower if place else ""
    return words[place].lower == "logs" or before in ("well", "wireline", "drill", "lithology", "the")
