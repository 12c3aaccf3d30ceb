"""Finds the words of a clause that nothing took: names of columns that are not there, and words without effect."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from outcrop.models.offline.vocabulary import (
    word_set,
    DETERMINERS,
    FEATURES,
    GENERIC,
    MODIFIERS,
    NEUTRAL,
    POLITE,
    QUESTIONS,
    STOP,
)
from outcrop.models.offline.words import Word, stems_of
from outcrop_specialists.tools.units import is_unit

LIST_CUES = word_set("on of for between by against versus vs vs. per except excluding")
STRICT_CUES = word_set("by per against versus vs vs.")
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


def find_leftovers(
    text: str, words: Sequence[Word], used: Collection[int], known_stems: Collection[str], path: str
) -> Leftovers:
    """What of `words` is left when those at the places `used` are taken and `known_stems` are the tool's own words."""
    known = {*known_stems, *stems_of(PurePosixPath(path).stem.replace("_", " ").replace("-", " "))}
    is_known = [at in used or _is_known(word, known) for at, word in enumerate(words)]
    left = Leftovers()
    listed: set[int] = set()
    for cue, places in _entries(words):
        if any(at in used for at in places):
            continue
        # After "by" even a common noun is the name of a column: "by type" must not pass for nothing.
        is_strict = cue in STRICT_CUES
        if all(_is_expected(words[at], known) if is_strict else is_known[at] for at in places):
            continue
        left.unknown.append(text[words[places[0]].start : words[places[-1]].end])
        listed.update(places)
    for at, word in enumerate(words):
        if is_known[at] or at in listed:
            continue
        if word.kind == "quoted" or (word.kind == "word" and _is_code(word.text)):
            left.unknown.append(word.inner)
        elif at and word.text[:1].isupper():
            left.names.append(word.text)
        else:
            left.idle.append(word.text)
    return left


def lacks_object(words: Sequence[Word], verb: Word | None, used: Collection[int], known: Collection[str]) -> bool:
    """Whether a verb such as "work out" is followed by a thing of which no word is known: it asks for something else."""
    if verb is None or verb.lower not in NEUTRAL - QUESTIONS:
        return False
    first: list[int] = []
    for at in range(words.index(verb) + 1, len(words)):
        word = words[at]
        if word.kind != "word" or word.lower in STOP:
            if first:
                break
            continue
        first.append(at)
    return bool(first) and not any(at in used or _is_known(words[at], known) for at in first)


def _entries(words: Sequence[Word]) -> list[tuple[str, list[int]]]:
    """Each entry of each list that a preposition opens, with that preposition: "on Rb, K and Th" has three."""
    entries: list[tuple[str, list[int]]] = []
    at = 0
    while at < len(words):
        if words[at].lower not in LIST_CUES:
            at += 1
            continue
        cue, is_first, at = words[at].lower, True, at + 1
        while at < len(words):
            entry, at = _entry(words, at)
            if entry and (is_first or _is_name(words, entry)):
                entries.append((cue, entry))
            if not entry or at >= len(words) or words[at].lower not in JOINING:
                break
            while at < len(words) and words[at].lower in JOINING:
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
        if word.lower in STOP | LIST_CUES or word.lower in JOINING or (word.kind == "mark" and not is_inside):
            break
        if word.kind != "mark":
            entry.append(at)
        at += 1
    return entry, at


def _is_name(words: Sequence[Word], entry: Sequence[int]) -> bool:
    """Whether a further entry of a list can be a column's name rather than a remark such as "rounded to 2 digits"."""
    first = words[entry[0]].lower
    return len(entry) <= CONTINUED_WORDS and first not in MODIFIERS and not first.endswith(("ed", "ing"))


def _is_known(word: Word, known: Collection[str]) -> bool:
    if word.kind in ("mark", "number", "file", "date"):
        return True
    if word.kind == "quoted":
        return False
    small = STOP | GENERIC | POLITE | NEUTRAL
    return word.lower in small or word.stem in known or word.number is not None or is_unit(word.text)


def _is_expected(word: Word, known: Collection[str]) -> bool:
    return word.kind in ("mark", "number", "file") or word.lower in STOP | FEATURES or word.stem in known


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text)) and any(character.isalpha() for character in text)
