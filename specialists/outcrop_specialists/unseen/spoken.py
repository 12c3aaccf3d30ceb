"""What a text says that could be a cell: its phrases and its numbers, as cells of a table are compared with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from outcrop_specialists.citing import figures_in
from outcrop_specialists.unseen.letters import folded, plain

PHRASE_WORDS = 8
"""A longer cell is known by its first words."""
SMALL = 1_000
"""Whole numbers below it, and numbers of fewer digits than `DIGITS`, stand in any text."""
DIGITS = 3
MOST_DECIMALS = 12
GLUED = 6
"""A cell of so many letters and figures is found without what parts them, too: `KES0007`, `k e s 0 0 0 7`."""
GRAM = 5
_WORD = re.compile(r"[^\W_]+")
# Behind a letter only with decimals (`Au7.02`): `H7` is a name.
_NUMBER = re.compile(
    r"(?:(?<![^\W_])(?<!\.)(?<![^\W\d_][-_/])[-+−]?\d+(?:[.,]\d+)*|(?<=[^\W\d_])\d+\.\d+)(?:[eE][-+]?\d+)?(?!\d)"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_EUROPEAN = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d+")


@dataclass
class Spoken:
    """The phrases of a text, and its numbers by how many decimals they are given with; `glued` is the text without
    what parts words, forwards and backwards, `listed` its numbers in their order."""

    phrases: set[str] = field(default_factory=set)
    numbers: dict[int, set[float]] = field(default_factory=dict)
    small: set[float] = field(default_factory=set)
    glued: str = ""
    listed: str = ","

    def take(self, other: Spoken) -> None:
        self.phrases |= other.phrases
        self.small |= other.small
        self.glued += "\n" + other.glued
        self.listed += other.listed[1:]
        for decimals, values in other.numbers.items():
            self.numbers.setdefault(decimals, set()).update(values)

    def says(self, phrase: str) -> bool:
        """Whether a phrase stands in the text, also where its words are glued together or spelled apart."""
        glued = phrase.replace(" ", "")
        return phrase in self.phrases or (len(glued) >= GLUED and glued in self.glued)

    def grams(self) -> set[str]:
        """All that stands in `glued` in so many characters: what a cell that is glued begins and ends with."""
        return {self.glued[place : place + GRAM] for place in range(len(self.glued) - GRAM + 1)}


def spoken(text: str, figures: Collection[float] = frozenset()) -> Spoken:
    """What a text says, however its characters are written: full width, with accents, escaped for HTML or a URL, with
    breaks that nobody sees. With `figures` that code vouches for words are not glued: `mean 63.15` is no `AN6-315`."""
    text = folded(plain(unquote(text)))
    said = Spoken()
    words = words_of(text)
    for start in range(len(words)):
        for length in range(1, min(PHRASE_WORDS, len(words) - start) + 1):
            said.phrases.add(" ".join(words[start : start + length]))
    glued = "".join(words) if not figures else "".join(words_of(_parted(text, figures)))
    said.glued = f"{glued}\n{glued[::-1]}"
    values: list[float] = []
    for match in _NUMBER.finditer(text):
        readings = list(_readings(match[0].replace("−", "-")))
        for number in readings:
            _count(said, number)
        values += map(float, readings[1:] if len(readings) > 1 else readings)
    said.listed = "," + "".join(f"{listed(value)}," for value in values)
    return said


def _parted(text: str, figures: Collection[float]) -> str:
    found, done = "", 0
    for figure in figures_in(text):
        if float(figure.values[0]) in figures:
            found += text[done : figure.start]
            done = figure.start + len(figure.text)
    return found + text[done:]


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def listed(value: float) -> str:
    """A number as it stands in a list, however it was written."""
    return f"{value:.6g}"


def _readings(text: str) -> Iterator[str]:
    """What a number may be: `512,613` is one, or two, or one with a decimal comma."""
    mantissa = re.split("[eE]", text)[0]
    if "," not in mantissa:
        # Of a date with points the first two.
        yield text if mantissa.count(".") < 2 else ".".join(mantissa.split(".")[:2])
        return
    plain = mantissa.lstrip("+-")
    if _THOUSANDS.fullmatch(plain):
        yield mantissa.replace(",", "")
    if _EUROPEAN.fullmatch(plain):
        yield mantissa.replace(".", "").replace(",", ".")
    yield from (part for part in mantissa.split(",") if part.count(".") < 2)


def _count(said: Spoken, text: str) -> None:
    value, mantissa = float(text), re.split("[eE]", text)[0]
    decimals = len(mantissa.partition(".")[2]) if "e" not in text.lower() else MOST_DECIMALS
    digits = len(mantissa.replace(".", "").lstrip("+-0"))
    if digits < DIGITS or (value == int(value) and abs(value) < SMALL):
        said.small.add(value)
    said.numbers.setdefault(min(decimals, MOST_DECIMALS), set()).add(value)
