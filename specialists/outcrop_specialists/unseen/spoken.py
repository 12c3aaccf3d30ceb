"""What a text says that could be a cell: its phrases and its numbers, as cells of a table are compared with them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PHRASE_WORDS = 8
"""A longer cell is known by its first words."""
SMALL = 1_000
"""Whole numbers below it, and numbers of fewer digits than `DIGITS`, stand in any text."""
DIGITS = 3
MOST_DECIMALS = 12
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"(?<![\w.])(?<![^\W\d_][-_/])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")


@dataclass
class Spoken:
    """The phrases of a text, and its numbers by how many decimals they are given with."""

    phrases: set[str] = field(default_factory=set)
    numbers: dict[int, set[float]] = field(default_factory=dict)
    small: set[float] = field(default_factory=set)

    def take(self, other: Spoken) -> None:
        self.phrases |= other.phrases
        self.small |= other.small
        for decimals, values in other.numbers.items():
            self.numbers.setdefault(decimals, set()).update(values)


def spoken(text: str) -> Spoken:
    """What a text says."""
    said = Spoken()
    words = [word.lower() for word in _WORD.findall(text)]
    for start in range(len(words)):
        for length in range(1, min(PHRASE_WORDS, len(words) - start) + 1):
            said.phrases.add(" ".join(words[start : start + length]))
    for match in _NUMBER.finditer(text):
        plain = match[0].replace(",", "").replace("−", "-")
        value, mantissa = float(plain), re.split("[eE]", plain)[0]
        decimals = len(mantissa.partition(".")[2]) if "e" not in plain.lower() else MOST_DECIMALS
        digits = len(mantissa.replace(".", "").lstrip("+-0"))
        if digits < DIGITS or (value == int(value) and abs(value) < SMALL):
            said.small.add(value)
        said.numbers.setdefault(min(decimals, MOST_DECIMALS), set()).add(value)
    return said
