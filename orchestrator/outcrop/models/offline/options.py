"""Binds choices and switches: a value, or a phrase that people use for it, mentioned in the clause selects it.

A method that no property of the tool offers is reported, never replaced by another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.cards import Card, phrase_stems
from outcrop.models.offline.schema import Property
from outcrop.models.offline.subject import METHODS, VALUES
from outcrop.models.offline.vocabulary import GENERIC, NEGATIONS, STOP, word_set
from outcrop.models.offline.words import Word, squeeze

LOG10 = "log10"
LOG_STEMS = frozenset(("log", "logarithm"))
WEIGHTED, WEIGHTS = "weighted", frozenset(("weight", "weights"))
AXES = frozenset("xy")
LINKING = frozenset(("by", "use", "of", "the", "with"))
TRUE = frozenset(("true", "yes", "on", "1"))
STANDARDIZE = "standardize"
SCALING = ("scale", "normal")
BRACKET_WORDS = 4
"""Longer remarks in the brackets of a description are explanations, not names of a value."""
# A value that is an everyday word is meant only beside the name of its property: "keep first", "lower case".
NOT_SELECTED_BY_WORD = STOP | GENERIC | word_set("none auto keep default yes title from_vertical")


@dataclass
class Chosen:
    """What the options of a clause come to."""

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    unsupported: list[str] = field(default_factory=list)
    log_of: list[int] = field(default_factory=list)
    """Places of columns right after "log" where a tool has an axis for each: which axis is known later."""
    notes: list[str] = field(default_factory=list)

    def take(self, prop: Property, value: Any, places: Sequence[int]) -> None:
        """Bind a value; a second one for the same property is a contradiction, unless it takes several."""
        self.used.update(places)
        if prop.is_list:
            several = self.arguments.setdefault(prop.name, [])
            several += [value] if value not in several else []
        elif self.arguments.setdefault(prop.name, value) != value:
            self.unsupported.append(f"{self.arguments[prop.name]} together with {value}")


def choose(
    words: Sequence[Word], properties: Sequence[Property], card: Card, skip: set[int], bound: Collection[str] = ()
) -> Chosen:
    """Bind enums and booleans but those in `bound`; the places in `skip` are columns and say nothing of options."""
    return _Chooser(words, [prop for prop in properties if prop.name not in bound], card, skip).choose()


class _Chooser:
    def __init__(self, words: Sequence[Word], properties: Sequence[Property], card: Card, skip: set[int]) -> None:
        self._words, self._properties, self._card, self._skip = words, properties, card, skip
        switches = [prop for prop in properties if prop.kind == "boolean"]
        self._axes = {prop.name[-1]: prop for prop in switches if re.fullmatch(r"log_?[xy]", prop.name)}
        self._log = next((prop for prop in switches if prop.name in ("log", "log10", "is_log")), None)
        self._log_choice = next((prop for prop in properties if LOG10 in prop.choices), None)
        self._chosen = Chosen()

    def choose(self) -> Chosen:
        self._choose_values()
        for place, word in enumerate(self._words):
            if word.stem in LOG_STEMS and self._is_free(place) and not self._is_well_log(place):
                self._choose_logarithm([place])
        self._choose_switches()
        return self._chosen

    def _choose_values(self) -> None:
        """Longest phrases first, so that "modified z-score" is not read as "z-score"."""
        candidates: list[tuple[tuple[str, ...], Property | None, Any]] = [
            (phrase, prop, value)
            for prop in self._properties
            for value in prop.choices
            for phrase in _phrases(prop, value)
        ]
        candidates += [(phrase_stems(phrase), None, method) for method in METHODS for phrase in METHODS[method]]
        # Sorting is stable: of equally long phrases those that the tool offers come first.
        for phrase, prop, value in sorted(candidates, key=lambda candidate: -len(candidate[0])):
            for places in self._occurrences(phrase):
                self._take_value(phrase, prop, value, places)

    def _take_value(self, phrase: tuple[str, ...], prop: Property | None, value: Any, places: list[int]) -> None:
        if prop is not None:
            if not self._is_negated(places[0]):
                self._chosen.take(prop, value, places)
        elif value == LOG10 and (self._axes or self._log):
            self._choose_logarithm(places)
        elif value == WEIGHTED and self._names_weights(places[-1]):
            # The column of weights is bound by its name.
            self._chosen.used.update(places)
        elif not any(set(phrase) - LINKING <= set(asked) for asked in self._card.asked_for):
            # The name of a method can be what the tool itself is asked for with: "principal components" of a PCA.
            self._chosen.unsupported.append(" ".join(self._words[place].text for place in places))
            self._chosen.used.update(places)

    def _names_weights(self, place: int) -> bool:
        """ "Weighted by length", where the tool takes a column of weights."""
        following = [word.lower for word in self._words[place + 1 : place + 2]]
        return following in (["by"], ["with"]) and any(prop.name in WEIGHTS for prop in self._properties)

    def _choose_logarithm(self, places: list[int]) -> None:
        """Logarithmic axes of a plot, else log10 of the columns; "log" alone is said to have been taken as log10."""
        said = self._words[places[0]]
        if self._is_negated(places[0]):
            return
        self._chosen.used.update(places)
        column = self._column_after(places[-1])
        if self._axes and column is not None:
            self._chosen.log_of.append(column)
        elif self._axes:
            for axis in self._axes_named(places[-1]) or self._axes:
                self._chosen.arguments[self._axes[axis].name] = True
        elif self._log and {"y", "count", "frequenc", "vertic"} & {word.stem for word in self._words[places[-1] :]}:
            self._chosen.unsupported.append("log y axis")
        elif self._log:
            self._chosen.arguments[self._log.name] = True
        elif self._log_choice:
            self._chosen.take(self._log_choice, LOG10, places)
            self._chosen.notes.append(f'"{said.text}" was taken as log10')
        else:
            self._chosen.unsupported.append(said.text)

    def _column_after(self, place: int) -> int | None:
        """The place of a column that follows a logarithm: "log Zn", "log10 of Zn", "log10(Zn)"."""
        at = place + 1
        while at < len(self._words) and self._words[at].lower in ("of", "(", "the", "base", "10", "-"):
            at += 1
        return at if at < len(self._words) and at in self._skip else None

    def _axes_named(self, place: int) -> list[str]:
        """The axis in "log x axis", "log-y" or "logarithmic axis for x"."""
        near = range(place + 1, min(place + 6, len(self._words)))
        named = [at for at in near if self._words[at].lower in AXES & self._axes.keys() and self._is_free(at)]
        self._chosen.used.update(named[:1])
        return [self._words[at].lower for at in named[:1]]

    def _choose_switches(self) -> None:
        """A boolean is set where all words of its name stand in the clause; "without" before them unsets it."""
        for prop in self._properties:
            if prop.kind != "boolean" or prop.name in self._chosen.arguments:
                continue
            if prop.name == STANDARDIZE and self._choose_scaling(prop):
                continue
            said = self._assigned(prop)
            if said:
                self._chosen.take(prop, self._words[said[-1]].lower in TRUE, said)
                continue
            places = [self._place_of(stem) for stem in prop.stems]
            found = [place for place in places if place is not None]
            if found and len(found) == len(places):
                is_off = any(self._is_negated(at) or self._words[at].lower.startswith("un") for at in found)
                self._chosen.take(prop, not is_off, found)

    def _choose_scaling(self, prop: Property) -> bool:
        """ "Without scaling", "unscaled", "not normalised" and "covariance" switch standardising off."""
        for at, word in enumerate(self._words):
            if not self._is_free(at) or (at and self._words[at - 1].stem in LOG_STEMS):
                continue
            is_scaling = any(_answers(word, said) for said in SCALING)
            is_off = word.stem == "covari" or (is_scaling and (self._is_negated(at) or word.lower.startswith("un")))
            if is_off or (is_scaling and word.lower.endswith(("ed", "ing"))):
                self._chosen.take(prop, not is_off, [at])
                return True
        return False

    def _assigned(self, prop: Property) -> list[int]:
        """The places of `log_x = true`."""
        for at in range(len(self._words) - 2):
            if self._words[at].text == prop.name and self._words[at + 1].text == "=":
                return [at, at + 1, at + 2]
        return []

    def _place_of(self, stem: str) -> int | None:
        return next((at for at, word in enumerate(self._words) if at not in self._skip and _answers(word, stem)), None)

    def _occurrences(self, phrase: tuple[str, ...]) -> Iterator[list[int]]:
        """Where the phrase stands, its words in order with nothing but marks, numbers and small words between them."""
        spoken = [at for at, word in enumerate(self._words) if _is_spoken(word, phrase)]
        for start in range(len(spoken) - len(phrase) + 1):
            places = spoken[start : start + len(phrase)]
            if all(map(self._is_free, places)) and tuple(_stem(self._words[at]) for at in places) == phrase:
                yield places

    def _is_free(self, place: int) -> bool:
        return place not in self._skip and place not in self._chosen.used

    def _is_negated(self, place: int) -> bool:
        return any(word.lower in NEGATIONS for word in self._words[max(0, place - 3) : place])

    def _is_well_log(self, place: int) -> bool:
        before = self._words[place - 1].lower if place else ""
        said = {word.stem for word in self._words}
        is_asked = any(self._words[place].stem in asked and set(asked) <= said for asked in self._card.asked_for)
        if is_asked and not (self._axes or self._log or self._log_choice):
            # A "strip log" is what is asked for; no logarithm is.
            return True
        return (self._words[place].lower == "logs" and not self._log_choice) or before in (
            "well",
            "wireline",
            "drill",
            "lithology",
            "the",
        )


def _phrases(prop: Property, value: Any) -> Iterator[tuple[str, ...]]:
    """The ways to ask for a value: itself, what people call it, what the property's description adds in brackets."""
    if not isinstance(value, str) or not squeeze(value):
        return
    own, named = phrase_stems(value.replace("_", " ")), phrase_stems(prop.name.replace("_", " "))
    yield (*named, *own)
    yield (*own, *named)
    if value.casefold() not in NOT_SELECTED_BY_WORD:
        yield own
    for phrase in (*METHODS.get(squeeze(value), ()), *VALUES.get(squeeze(value), ())):
        yield phrase_stems(phrase)
    bracket = re.search(rf"(?<!\w){re.escape(value)} \(([^)]*)\)", prop.description)
    for said in re.split(r"[,;]", bracket[1]) if bracket else ():
        stems = phrase_stems(said)
        if stems and len(stems) <= BRACKET_WORDS:
            yield stems


def _answers(word: Word, stem: str) -> bool:
    """Whether a word is the one, also with "un" before it: "unscaled"."""
    is_undone = word.lower.startswith("un") and phrase_stems(word.lower[2:]) == (stem,)
    return word.kind == "word" and (word.stem == stem or is_undone)


def _is_spoken(word: Word, phrase: tuple[str, ...]) -> bool:
    if word.kind == "mark":
        return False
    is_passed_over = word.lower in STOP or word.kind == "number"
    return not is_passed_over or _stem(word) in phrase


def _stem(word: Word) -> str:
    return word.stem if word.kind == "word" else word.text
