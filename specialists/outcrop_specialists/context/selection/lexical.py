"""Lexical ranking of tools: BM25F over the fields of their cards, and the phrase of each that a request covers best.

BM25 after Robertson & Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond, sections 3.4 and 3.5:
term frequencies of the fields are weighted and normalised by length before they are saturated together. Standard
library and the stemmer only, so that a specialist that ranks without an embedder loads nothing heavy.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from threading import local
from typing import TYPE_CHECKING, Any

from outcrop_specialists.context.selection.thesaurus import ELEMENT, SHAPES, elements, notions

if TYPE_CHECKING:
    from outcrop_specialists.context.selection.cards import ToolCard

K1 = 1.2
"""How soon a further occurrence of a word adds nothing; the usual value for short texts."""
B = 0.5
"""How much a long field is held against it; less than the usual 0.75, since cards are long for a good reason."""
NAME_WEIGHT, DESCRIPTION_WEIGHT, PHRASES_WEIGHT, ARGUMENTS_WEIGHT = 2.0, 1.0, 1.5, 0.2
PHRASE_BONUS = 1.0
"""What the best phrase adds: the weight of its words that were said, times the share of it that was said."""
NOTION_WEIGHT = 0.6
"""What a notion counts for beside a word."""

_RAW = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ENDING = re.compile(r"['’](?:s|re|ve|ll|d|m|t)$", re.IGNORECASE)

_IDLE_TEXT = """
a an and are as at be been being but by can could did do does doing done for from had has have having he her here his
how i if in into is it its itself just let like may me might more most must my no nor not now of on once only or other
our ours out own per please shall she should so some such than that the their theirs them then there these they this
those to too us very was we were what whatever when where which while who whom why will with within would you your
yours also any anything give given get gets got make makes need needs want wants wish tell help show about all each
every both few after before again because until am im id ive dont thing things use using used via one ones something
someone everything know see look go come take put able way say
"""
STOP_WORDS = frozenset(_IDLE_TEXT.split())
"""Words that say nothing of what is to be done."""


class LexicalIndex:
    """BM25F of a fixed list of cards."""

    def __init__(self, data: LexicalData) -> None:
        self._data = data

    def scores(self, terms: Sequence[str]) -> list[float]:
        """One score a card, in their order, for the terms of a request; zero where nothing is shared."""
        found = self.found(terms)
        return [found.get(place, 0.0) for place in range(self._data.size)]

    def known_words(self, text: str) -> tuple[int, int]:
        """How many of the words of a text that carry something the catalogue knows, and how many there are."""
        said = [terms for raw in _RAW.findall(text) if not raw.isdigit() and (terms := _terms_of_word(raw))]
        words = [terms for terms in said if terms != (ELEMENT,)]
        return sum(any(term in self._data.postings for term in terms) for terms in words), len(words)

    def found(self, terms: Sequence[str]) -> dict[int, float]:
        """The scores of the cards that share something with these terms, by their places."""
        data = self._data
        found: dict[int, float] = defaultdict(float)
        said: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(terms):
            for place, worth in data.postings.get(term, ()):
                found[place] += worth
            for phrase in data.in_phrases.get(term, ()):
                said[phrase] += data.weights[term]
        best: dict[int, float] = {}
        for phrase, mass in said.items():
            place, whole = data.phrases[phrase]
            best[place] = max(best.get(place, 0.0), mass * mass / whole if whole else 0.0)
        for place, bonus in best.items():
            found[place] += PHRASE_BONUS * bonus
        return found


@dataclass(frozen=True)
class LexicalData:
    """What is looked up: the weight (idf) of each term, what it adds to which card, which phrases it stands in, and
    of each phrase the card and the weight of all its terms."""

    size: int
    weights: dict[str, float]
    postings: dict[str, list[tuple[int, float]]]
    in_phrases: dict[str, list[int]]
    phrases: list[tuple[int, float]]


def lexical_data_of(cards: Sequence[ToolCard]) -> LexicalData:
    """What an index of these cards looks up; the dear part of it, which can be kept."""
    names = [terms_of(card.name) for card in cards]
    phrases = [[terms_of(phrase) for phrase in card.phrases] for card in cards]
    fields = (
        (NAME_WEIGHT, names),
        (DESCRIPTION_WEIGHT, [terms_of(card.description) for card in cards]),
        (PHRASES_WEIGHT, [list(chain.from_iterable(of_card)) for of_card in phrases]),
        (ARGUMENTS_WEIGHT, [list(chain.from_iterable(map(terms_of, card.arguments))) for card in cards]),
    )
    counted: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for weight, texts in fields:
        filled = [len(text) for text in texts if text]
        usual = sum(filled) / len(filled) if filled else 1.0
        for place, text in enumerate(texts):
            for term, times in Counter(text).items():
                counted[term][place] += weight * times / (1 - B + B * len(text) / usual)
    weights = {term: _weight(term, len(places), len(cards)) for term, places in counted.items()}
    postings = {
        term: [(place, weights[term] * (K1 + 1) * times / (K1 + times)) for place, times in places.items()]
        for term, places in counted.items()
    }
    in_phrases: dict[str, list[int]] = defaultdict(list)
    listed: list[tuple[int, float]] = []
    for place, (name, of_card) in enumerate(zip(names, phrases, strict=True)):
        for terms in dict.fromkeys(tuple(sorted(set(terms))) for terms in (name, *of_card) if terms):
            for term in terms:
                in_phrases[term].append(len(listed))
            listed.append((place, sum(weights[term] for term in terms)))
    return LexicalData(len(cards), weights, postings, dict(in_phrases), listed)


def _weight(term: str, cards_with_it: int, cards: int) -> float:
    """Inverse document frequency, always positive; less for what is not a word that was said."""
    rarity = math.log(1 + (cards - cards_with_it + 0.5) / (cards_with_it + 0.5))
    return NOTION_WEIGHT * rarity if term.startswith("=") else rarity


def terms_of(text: str) -> list[str]:
    """The stems of a text's words, the notions they stand for, and what its signs and figures show.

    Compounds are split, and kept joined too; words that carry nothing are left out, and of an element no more is kept
    than that it is one.
    """
    found = [shape for shape, pattern in SHAPES if pattern.search(text)]
    return [*found, *chain.from_iterable(map(_terms_of_word, _RAW.findall(text)))]


@lru_cache(maxsize=20_000)
def _terms_of_word(raw: str) -> tuple[str, ...]:
    whole = _ENDING.sub("", raw)
    if whole in elements() or whole.lower() in elements():
        return (ELEMENT,)
    parts = [part for piece in whole.split("-") for part in split_compound(piece)]
    words = [part.lower() for part in parts if not part.isdigit()]
    if len(words) > 1:
        words.append("".join(words))
    found: list[str] = []
    for word in words:
        if word not in STOP_WORDS:
            found.append(stem(word))
        if notion := _notion(word):
            found.append(notion)
    return tuple(found)


@lru_cache(maxsize=20_000)
def _notion(word: str) -> str | None:
    return notions().get(word) or _notions_of_stems().get(stem(word))


@cache
def _notions_of_stems() -> dict[str, str]:
    """So that "picked values" and "pick a value" are one, whichever form the thesaurus holds."""
    return {stem(word): notion for word, notion in reversed(notions().items())}


def split_compound(name: str) -> list[str]:
    """The words of a name: `snake_case`, `camelCase`, `dotted.name` and `HTMLPage2` are taken apart."""
    return [part for piece in re.split(r"[\W_]+", name) if piece for part in _SEAM.split(piece)]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a word in lower case, the same for British and American spelling."""
    found: str = _stemmer().stemWord(_american(word))
    return found


def _american(word: str) -> str:
    word = re.sub(r"(?<=[a-z]{3})is(?=(?:e|ed|es|er|ing|ation|ations)$)", "iz", word)
    word = re.sub(r"(?<=anal)ys(?=(?:e|ed|es|ing)$)", "yz", word)
    word = re.sub(r"(col|vap|behavi|neighb)our", r"\1or", word)
    word = re.sub(r"^(cent|met|lit|kilomet|millimet)red$", r"\1ered", word)
    return re.sub(r"^(cent|met|lit|kilomet|millimet)re(?=s?$)", r"\1er", word).replace("grey", "gray")


def _stemmer() -> Any:
    """A stemmer for each thread: it keeps the word it works on in itself."""
    if not hasattr(_OF_THREAD, "stemmer"):
        import snowballstemmer

        _OF_THREAD.stemmer = snowballstemmer.stemmer("english")
    return _OF_THREAD.stemmer


_OF_THREAD = local()
