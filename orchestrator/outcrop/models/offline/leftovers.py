"""Finds the words of a clause that nothing took: names of columns that are not there, and words without effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from outcrop.models.offline.guards import KINDS, ROWS
from outcrop.models.offline.polarity import PARTICLES
from outcrop.models.offline.subject import ELEMENTS, PLACES
from outcrop.models.offline.unmet import BOUNDING
from outcrop.models.offline.vocabulary import (
    DETERMINERS,
    FEATURES,
    GENERIC,
    MODIFIERS,
    NEGATIONS,
    NEUTRAL,
    POLITE,
    QUESTIONS,
    STOP,
    word_set,
)
from outcrop.models.offline.words import Word, stems_of
from outcrop_specialists.columns.chemistry import SYMBOLS
from outcrop_specialists.columns.units import is_unit

LIST_CUES = word_set("on of for in between by against versus vs vs. per except excluding")
STRICT_CUES = word_set("by per against versus vs vs.")
WORDS_LIKE_ELEMENTS = frozenset(("lead",))
SMALL = STOP | GENERIC | POLITE | NEUTRAL | NEGATIONS
WHERE = word_set("at during among amongst over under beneath around along inside outside within near on")
MEASURED = word_set("grade grades content contents concentration level levels value values amount")
"""What a column holds, before "of" and its name: "the mean grade of Cu"."""
JOINING = frozenset((",", "and", "&", "or", "/"))
CONTINUED_WORDS = 2
"""A further entry of a list is a name of at most so many words; a longer one is a remark."""

_CODE = re.compile(r"\w*(?:_|\d)\w*")


@dataclass
class Leftovers:
    """`unknown` stand where only a column can stand; `names` look like names of something; `idle` had no effect."""

    unknown: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)
    """Words that choose among what they stand before, and say nothing that is known: "the weird half"."""


WORK_NOUNS = frozenset(("drill", "drilling", "exploration", "laboratory", "field", "survey", "project"))
"""What a whole table is of, before the noun for its rows: "the drill collars" chooses none of them."""


@dataclass(frozen=True)
class Reading:
    """A clause as far as it is understood: `asked` are the places that asked for the tool, `bound` those that became
    arguments; `stems` are the tool's own words and those of the file's name."""

    text: str
    words: Sequence[Word]
    verb: Word | None
    asked: frozenset[int]
    bound: frozenset[int]
    stems: frozenset[str]

    @classmethod
    def of(
        cls, text: str, words: Sequence[Word], verb: Word | None, asked: Iterable[int], bound: Iterable[int],
        stems: Iterable[str], path: str,
    ) -> Reading:  # fmt: skip
        named = stems_of(PurePosixPath(path).stem.replace("_", " ").replace("-", " "))
        return cls(text, words, verb, frozenset(asked), frozenset(bound), frozenset(stems).union(named))

    def is_used(self, at: int) -> bool:
        return at in self.asked or at in self.bound

    def is_known(self, at: int) -> bool:
        """Whether the word needs no explanation."""
        word = self.words[at]
        if self.is_used(at) or word.kind in ("mark", "number", "file", "date"):
            return True
        if word.kind == "quoted":
            return False
        is_small = word.lower in SMALL or word.number is not None or is_unit(word.text)
        return is_small or word.stem in self.stems

    def is_expected(self, at: int) -> bool:
        """The same after "by", where even a common noun names a column: "by type" must not pass for nothing."""
        word = self.words[at]
        is_small = word.kind in ("mark", "number", "file") or word.lower in STOP | FEATURES
        return self.is_used(at) or is_small or word.stem in self.stems


def find_leftovers(reading: Reading) -> Leftovers:
    """What of a clause nothing took."""
    left, listed = Leftovers(), set[int]()
    for cue, entry in _entries(reading):
        head_is_known = reading.is_expected(entry[-1]) if cue in STRICT_CUES else reading.is_known(entry[-1])
        after = reading.words[entry[-1] + 1].lower if entry[-1] + 1 < len(reading.words) else ""
        if after == "of" and reading.words[entry[-1]].lower in MEASURED:
            listed.update(entry)
        elif not head_is_known and not any(at in reading.bound for at in entry):
            said = reading.text[reading.words[entry[0]].start : reading.words[entry[-1]].end]
            left.unknown.append(reading.words[entry[0]].inner if len(entry) == 1 else said)
            listed.update(entry)
        elif cue not in ("with", "using") and any(_is_idle(reading, at) for at in entry[:-1]):
            left.choices.append(reading.text[reading.words[entry[0]].start : reading.words[entry[-1]].end])
    for at, word in enumerate(reading.words):
        if at in reading.bound or at in listed:
            continue
        if _is_subject(word, at) or (not reading.is_known(at) and (word.kind == "quoted" or _is_code(word.text))):
            left.unknown.append(word.inner)
        elif not reading.is_known(at):
            (left.names if at and word.text[:1].isupper() else left.idle).append(word.text)
            # The data may well be of a place whose name is given: "around Forrestania" is told, not refused.
            is_name = bool(at) and word.text[:1].isupper()
            if not is_name and (place := _placed(reading, at)) is not None:
                left.choices.append(reading.text[reading.words[place].start : word.end])
    return left


def lacks_object(reading: Reading) -> bool:
    """Whether a verb such as "work out" is followed by a thing of which no word is known."""
    if reading.verb is None or reading.verb.lower not in NEUTRAL - QUESTIONS:
        return False
    first: list[int] = []
    for at in range(reading.words.index(reading.verb) + 1, len(reading.words)):
        word = reading.words[at]
        if word.text in "-/":
            continue
        if word.kind != "word" or word.lower in STOP:
            if first:
                break
            continue
        first.append(at)
    return bool(first) and not any(reading.is_known(at) for at in first)


def _entries(reading: Reading) -> list[tuple[str, list[int]]]:
    """Each entry of each list that a verb or preposition opens, with that word: "on Rb, K and Th" has three."""
    entries: list[tuple[str, list[int]]] = []
    words, at = reading.words, 0
    while at < len(words):
        cue = words[at].lower
        is_object = words[at] is reading.verb and cue not in NEUTRAL
        is_cue = cue in LIST_CUES or is_object or (cue == "with" and at - 1 in reading.bound)
        at += 1
        is_first = True
        while is_cue and at < len(words):
            entry, at = _entry(words, at)
            if entry and (is_first or _is_name(words, entry)):
                entries.append((cue, entry))
            is_cue = bool(entry) and at < len(words) and words[at].lower in JOINING
            while is_cue and at < len(words) and words[at].lower in JOINING:
                at += 1
            is_first = False
    return entries


def _entry(words: Sequence[Word], at: int) -> tuple[list[int], int]:
    """The content words from here to the next separator or small word, and the place after them."""
    while at < len(words) and words[at].lower in DETERMINERS | {"both", "only"}:
        at += 1
    entry: list[int] = []
    while at < len(words):
        word = words[at]
        is_inside = word.kind == "mark" and word.text in "-_/.%()[]" and entry
        # "collars coloured by grade": a participle begins something else.
        is_end = word.lower in STOP | LIST_CUES | JOINING or (entry and word.lower.endswith("ed"))
        if is_end or (word.kind == "mark" and not is_inside):
            break
        if word.kind != "mark":
            entry.append(at)
        at += 1
    return entry, at


def _is_name(words: Sequence[Word], entry: Sequence[int]) -> bool:
    """Whether a further entry of a list can be a column's name rather than a remark such as "rounded to 2 digits"."""
    first = words[entry[0]].lower
    return len(entry) <= CONTINUED_WORDS and first not in MODIFIERS and not first.endswith(("ed", "ing"))


def _placed(reading: Reading, at: int) -> int | None:
    """The place of a preposition before an unknown word that says where or when: "at surface", "during the drought"."""
    before = at - 1
    while before > 0 and reading.words[before].lower in DETERMINERS:
        before -= 1
    is_placed = before >= 0 and reading.words[before].lower in WHERE and not reading.is_used(before)
    is_place = reading.words[at].lower.endswith("stream")
    return before if is_placed else at if is_place else None


def _is_idle(reading: Reading, at: int) -> bool:
    """Whether a word chooses among what follows. Bounds, and choices of rows or elements, are looked at elsewhere."""
    word, after = reading.words[at], reading.words[at + 1]
    is_free = word.kind == "word" and at not in reading.bound and not reading.is_known(at)
    is_choice = word.lower not in BOUNDING | PARTICLES | WORK_NOUNS
    return is_free and is_choice and after.lower not in KINDS | ROWS


def _is_subject(word: Word, at: int) -> bool:
    """Whether a word names an element or a coordinate: where no column took it, there is none for it."""
    is_symbol = bool(at) and len(word.text) > 1 and word.text in SYMBOLS and word.lower not in STOP
    return word.lower in ELEMENTS.keys() - WORDS_LIKE_ELEMENTS or word.lower in PLACES or is_symbol


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text)) and any(character.isalpha() for character in text)
