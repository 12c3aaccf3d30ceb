"""Which tool a clause asks for: whole asked-for phrases, weighed by BM25 (Robertson & Zaragoza 2009) over tool cards.

A tool is only ever chosen when one of its asked-for phrases, or its name, stands in the clause as a whole. The score
decides between those; likeness of description alone chooses nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log

from outcrop.models.offline.cards import CARDS_KEPT, Card, content_stems
from outcrop.models.offline.vocabulary import DETERMINERS, GENERIC, MINOR, NEUTRAL, POLITE, QUESTIONS, STOP, TASK_VERBS
from outcrop.models.offline.words import Word, stem, words_of

SATURATION, LENGTH_WEIGHT = 1.2, 0.5
ASKED_WEIGHT, DESCRIPTION_WEIGHT = 3.0, 0.4
PHRASE_WEIGHT, LEAD_WEIGHT = 2.0, 1.5
NAMED = 10.0
"""A tool called by its very name is meant, whatever else is said."""
LOOSENESS = 3
"""How many other content words may stand among those of a phrase: "remove all the obviously duplicated rows"."""

OBJECT_STARTS = frozenset(("on", "by", "rows", "samples", "data", "into", "all", "only"))
WORDS_WITHOUT_VERB = 2
"""A phrase with more words than this is known by them, whatever neutral verb it begins with."""


@dataclass(frozen=True)
class Match:
    """The tool a clause asks for, and the places of the words that asked for it."""

    card: Card
    score: float
    words: frozenset[int]


@dataclass(frozen=True)
class Term:
    """A word that carries something, as a stem with its place among the words of a clause."""

    text: str
    stem: str
    place: int


class Retrieval:
    """Ranks cards for clauses. Ties go to the card that is listed first."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self.cards = list(cards)
        self._bags = [_bag(card) for card in self.cards]
        self._mean_length = sum(map(sum, (bag.values() for bag in self._bags))) / max(1, len(self._bags))
        self._frequency = Counter(stem for bag in self._bags for stem in bag)
        self._known = frozenset(stem for card in self.cards for phrase in card.asked_for for stem in phrase)

    def best(self, clause: str, columns: Collection[str] = ()) -> Match | None:
        """The tool that `clause` asks for, or None. `columns` are names (folded) that are not verbs."""
        words = words_of(clause)
        terms = terms_of(words)
        verb = leading_verb(words, columns)
        found: Match | None = None
        said = {term.stem for term in terms}
        if not said & self._known and not any(term.text == card.name for term in terms for card in self.cards):
            return None
        for card, bag in zip(self.cards, self._bags, strict=True):
            match = self._match(card, bag, terms, verb, said)
            if match and (found is None or match.score > found.score):
                found = match
        return found

    def _match(
        self, card: Card, bag: Mapping[str, float], terms: list[Term], verb: Word | None, said: set[str]
    ) -> Match | None:
        if verb and verb.lower not in NEUTRAL and verb.stem not in card.vocabulary and verb.text != card.name:
            return None
        best, places = 0.0, frozenset(term.place for term in terms if term.text == card.name)
        if places:
            best = PHRASE_WEIGHT * NAMED
        for phrase in card.asked_for:
            if len(said.intersection(phrase[1:])) < len(set(phrase[1:])):
                # The first word may be passed over, the others may not.
                continue
            found = places_of(phrase, terms)
            if found is None and len(phrase) > WORDS_WITHOUT_VERB and phrase[0] in _neutral_stems():
                # "how many values are missing" asks for what "check missing values" does.
                found = places_of(phrase[1:], terms)
            if found is None:
                continue
            score = PHRASE_WEIGHT * sum(map(self._rarity, phrase))
            if verb and verb.lower not in NEUTRAL and phrase[0] == verb.stem:
                score *= LEAD_WEIGHT
            places |= found
            best = max(best, score)
        if not places:
            return None
        return Match(card, best + self._bm25(bag, {term.stem for term in terms}), places)

    def _bm25(self, bag: Mapping[str, float], stems: set[str]) -> float:
        length = sum(bag.values()) / (self._mean_length or 1.0)
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
        # Sorted, because a sum of floats depends on its order and the order of a set on the process.
        return sum(self._rarity(s) * bag[s] * (SATURATION + 1) / (bag[s] + norm) for s in sorted(stems) if s in bag)

    def _rarity(self, stem: str) -> float:
        count = self._frequency[stem]
        return log(1 + (len(self.cards) - count + 0.5) / (count + 0.5))


@cache
def _neutral_stems() -> frozenset[str]:
    return frozenset(map(stem, NEUTRAL))


def leading_verb(words: Sequence[Word], columns: Collection[str] = ()) -> Word | None:
    """The verb that a clause begins with; None where it begins otherwise (a noun with its article, a column)."""
    for at, word in enumerate(words):
        if word.kind == "word" and word.lower in POLITE:
            continue
        # "cluster the samples" is a task even where a column is called cluster; "unscaled PCA" begins with no verb.
        following = words[at + 1].lower if at + 1 < len(words) else ""
        goes_on = following[:1].isalnum() and (following not in STOP or following in DETERMINERS | OBJECT_STARTS)
        is_task = word.lower in TASK_VERBS and goes_on
        is_column = word.lower in columns and not is_task
        is_participle = word.lower.startswith("un") and word.lower.endswith("ed")
        is_verb = word.kind == "word" and word.lower not in DETERMINERS and not is_column and not is_participle
        if (
            any(map(str.isdigit, word.text))
            or word.number is not None
            or (word.lower in GENERIC and word.lower not in TASK_VERBS)
        ):
            return None
        return word if is_verb and (word.lower not in STOP or word.lower in QUESTIONS | NEUTRAL) else None
    return None


@lru_cache(maxsize=CARDS_KEPT)
def _bag(card: Card) -> Mapping[str, float]:
    bag: dict[str, float] = {}
    for phrase in (*card.phrases, card.name.replace("_", " ")):
        for said in content_stems(phrase):
            bag[said] = bag.get(said, 0.0) + ASKED_WEIGHT
    for said in card.words_of_description:
        bag[said] = bag.get(said, 0.0) + DESCRIPTION_WEIGHT
    return bag


def terms_of(words: Sequence[Word]) -> list[Term]:
    """The words that carry something."""
    return [
        Term(word.text, word.stem, at)
        for at, word in enumerate(words)
        if word.kind in ("word", "number") and word.lower not in MINOR
    ]


def places_of(phrase: Sequence[str], terms: Sequence[Term]) -> frozenset[int] | None:
    """The places of the phrase's words, all of them within a short stretch of the clause; in any order."""
    wanted = set(phrase)
    window = len(wanted) + LOOSENESS
    for start, first in enumerate(terms):
        if first.stem not in wanted:
            continue
        near = [term for term in terms[start : start + window] if term.stem in wanted]
        if {term.stem for term in near} == wanted:
            return frozenset(term.place for term in near)
    return None
