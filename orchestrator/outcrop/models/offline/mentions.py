"""Finds the columns that a clause names.

A name counts as it is written, in another case, with other blanks, underscores or hyphens, without its unit, as the
name of its element or as a word for a coordinate; longest first. Element symbols and other names of one or two letters
count only as written, because "as", "in" and "no" are words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.subject import ELEMENTS, PLACES
from outcrop.models.offline.vocabulary import GENERIC, STOP, word_set
from outcrop.models.offline.words import Word, name_key, squeeze, words_of
from outcrop_specialists.columns.chemistry import SYMBOLS, symbol_of
from outcrop_specialists.columns.units import is_unit

LONGEST_NAME_WORDS = 12
SHORT_NAME_LETTERS = 2
CLOSE_NAMES = 3
FINDERS_KEPT = 32
CLOSE_ENOUGH = 0.5

# Words that can stand beside a symbol that is also a word: "As and Au", "of In", but not "As a first step".
_BEFORE_SYMBOL = word_set("of on for and by between against versus vs vs. with , ( log10 log ln")
_AFTER_SYMBOL = word_set("and or against versus vs vs. with , ) . ;")
_WORDS_LIKE_SYMBOLS = word_set("As In At I He Be Am No Os Ho La")


@dataclass(frozen=True)
class Mention:
    """A column named by the words from `first` to before `end` of a clause."""

    column: str
    first: int
    end: int


@dataclass(frozen=True)
class Ambiguous:
    """Words that several columns answer to."""

    text: str
    columns: tuple[str, ...]


@dataclass
class Mentions:
    """The columns named in a clause, in the order of the words."""

    found: list[Mention] = field(default_factory=list)
    ambiguous: list[Ambiguous] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(mention.column for mention in self.found))

    @property
    def used(self) -> set[int]:
        return {place for mention in self.found for place in range(mention.first, mention.end)}

    def at(self, place: int) -> Mention | None:
        return next((mention for mention in self.found if mention.first <= place < mention.end), None)


class ColumnFinder:
    """Finds the columns of one table in texts."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._exact = {column.name: [column.name] for column in profile.columns}
        self._folded = _index(profile.columns, lambda column: [column.name.casefold()])
        self._squeezed = _index(profile.columns, lambda column: [squeeze(column.name)])
        self._bases = _index(profile.columns, lambda column: [column.base])
        self._squeezed_bases = _index(profile.columns, lambda column: [squeeze(column.base)])
        self._symbols = _index(profile.columns, lambda column: [symbol_of(column.base) or ""])
        self._measured = _index(profile.columns, _measured_symbol)
        self._stems = _index(profile.columns, lambda column: [name_key(column.name), name_key(column.base)])
        self._longest = max((len(words_of(column.name)) for column in profile.columns), default=0)

    def find(self, text: str, words: Sequence[Word], skip: Collection[int] = ()) -> Mentions:
        """The columns that `words` of `text` name; the places in `skip` are left alone."""
        mentions = Mentions()
        taken = set(skip)
        # A name such as "hole type" has more words than its column HoleType.
        for size in range(min(max(self._longest, 3), LONGEST_NAME_WORDS, len(words)), 0, -1):
            for first in range(len(words) - size + 1):
                places = range(first, first + size)
                if taken.isdisjoint(places):
                    self._take(mentions, taken, text, words, places)
        mentions.found.sort(key=lambda mention: mention.first)
        return mentions

    def close(self, name: str) -> list[str]:
        """The names closest to one that is not there, likest first."""
        wanted = squeeze(name)
        likeness = {
            column: SequenceMatcher(None, wanted, squeeze(column), autojunk=False).ratio() for column in self._exact
        }
        near = sorted((column for column in likeness if likeness[column] >= CLOSE_ENOUGH), key=lambda c: -likeness[c])
        return near[:CLOSE_NAMES]

    def _take(self, mentions: Mentions, taken: set[int], text: str, words: Sequence[Word], places: range) -> None:
        columns = self._columns(text, words, places)
        if not columns:
            return
        taken.update(places)
        if len(columns) == 1:
            mentions.found.append(Mention(columns[0], places.start, places.stop))
        else:
            mentions.ambiguous.append(Ambiguous(_slice(text, words, places), tuple(columns)))

    def _columns(self, text: str, words: Sequence[Word], places: range) -> list[str]:
        """The columns that these words together may mean; the first way of reading them that gives any."""
        if words[places.start].kind == "mark" or (words[places[-1]].kind == "mark" and len(places) > 1):
            # A mark at an end belongs to the sentence, except in a name that has it.
            return self._exact.get(_slice(text, words, places), []) if len(places) > 1 else []
        if len(places) == 1:
            return self._of_word(words, places.start)
        said = _slice(text, words, places)
        if said in self._exact or any(words[place].text in ",;" for place in places):
            return self._exact.get(said, [])
        return (
            self._folded.get(said.casefold())
            or self._squeezed.get(squeeze(said))
            or self._squeezed_bases.get(squeeze(said))
            or self._stems.get(name_key(said), [])
            if len(squeeze(said)) > SHORT_NAME_LETTERS
            else []
        )

    def _of_word(self, words: Sequence[Word], place: int) -> list[str]:
        word = words[place]
        said = word.inner
        if said in self._exact or said in self._bases or said in SYMBOLS:
            if _reads_as_word(words, place):
                return []
            if said in self._exact:
                return self._exact[said]
            if exact := self._bases.get(said) or self._symbols.get(said, []):
                return self._with_measured(exact, symbol_of(said) or "")
        if len(squeeze(said)) <= SHORT_NAME_LETTERS or (word.kind != "quoted" and word.lower in STOP):
            return []
        found = self._folded.get(said.casefold()) or self._squeezed.get(squeeze(said))
        found = found or self._squeezed_bases.get(squeeze(said)) or self._of_meaning(said.casefold())
        if not found and word.lower not in GENERIC:
            found = self._stems.get(name_key(said), [])
        return found

    def _with_measured(self, found: list[str], symbol: str) -> list[str]:
        """The columns found for an element with any other of it, such as `Cu_ppm_pXRF` beside `Cu_pct`."""
        return list(dict.fromkeys([*found, *self._measured.get(symbol, [])]))

    def _of_meaning(self, word: str) -> list[str]:
        """The column of an element or a coordinate called by its common name."""
        if word in ELEMENTS:
            return self._with_measured(self._symbols.get(ELEMENTS[word], []), ELEMENTS[word])
        for place, (role, names) in PLACES.items():
            if word == place or word in names.split():
                return [column.name for column in self._profile.with_role(role)][:1]
        return []


@lru_cache(maxsize=FINDERS_KEPT)
def finder_of(profile: Profile) -> ColumnFinder:
    """The finder of a table; one for all steps of a turn."""
    return ColumnFinder(profile)


def _measured_symbol(column: Column) -> list[str]:
    """The symbol at the front of a name in which a unit follows, whatever comes after: Cu of `Cu_ppm_pXRF`."""
    first, *rest = re.split(r"[_\s-]+", column.name)
    return [symbol_of(first) or ""] if any(is_unit(part) for part in rest[:1]) and column.is_numeric else []


def _reads_as_word(words: Sequence[Word], place: int) -> bool:
    """Whether a symbol that is also an English word is meant as the word, by its neighbours."""
    word = words[place]
    if word.kind == "quoted":
        return False
    if word.text not in _WORDS_LIKE_SYMBOLS and word.lower not in STOP:
        return False
    if word.text == word.lower:
        return True
    before = words[place - 1].lower if place else ""
    after = words[place + 1].lower if place + 1 < len(words) else ""
    if word.text == "I":
        return before not in _BEFORE_SYMBOL or (after not in _AFTER_SYMBOL and bool(after))
    if not place:
        return after not in _AFTER_SYMBOL
    # In the middle of a sentence only a symbol has a capital letter.
    return False


def _slice(text: str, words: Sequence[Word], places: range) -> str:
    return text[words[places.start].start : words[places[-1]].end]


def _index(columns: Iterable[Column], keys_of: Callable[[Column], list[str]]) -> dict[str, list[str]]:
    index: dict[str, list[str]] = {}
    for column in columns:
        for key in dict.fromkeys(keys_of(column)):
            if key:
                index.setdefault(key, []).append(column.name)
    return index
