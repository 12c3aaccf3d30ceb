"""Binds quoted words: a title, a text to look for, terms to be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from outcrop.models.offline.schema import Property
from outcrop.models.offline.words import Word

PATHS = frozenset(("path", "file", "table", "input"))
_ARROWS = frozenset(("to", "by", "with", "as", "=", "→", ">", "-", "into", "becomes"))


@dataclass
class Strings:
    """Arguments bound from quotations, and the places used."""

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)


def bind_strings(words: Sequence[Word], properties: Sequence[Property], used: set[int], bound: set[str]) -> Strings:
    """Quotations that no column took: pairs for a mapping, else for the argument named before or that needs one."""
    strings = Strings()
    quoted = [at for at, word in enumerate(words) if word.kind == "quoted" and at not in used]
    free = [prop for prop in properties if prop.name not in bound]
    for prop in free:
        if prop.kind == "object" and not prop.fields:
            pairs = _pairs(words, quoted)
            if pairs:
                strings.arguments[prop.name] = {words[left].inner: words[right].inner for left, right in pairs}
                strings.used.update(at for pair in pairs for at in pair)
    texts = [
        prop
        for prop in free
        if prop.kind == "string" and not prop.choices and not prop.is_column and prop.name not in PATHS
    ]
    left = [at for at in quoted if at not in strings.used]
    for prop in texts:
        place = next((at for at in left if _is_named_before(words, at, prop)), None)
        if place is None and prop.is_required and len(left) == 1:
            place = left[0]
        if place is not None:
            strings.arguments[prop.name] = words[place].inner
            strings.used.add(place)
            left.remove(place)
    return strings


def _pairs(words: Sequence[Word], quoted: Sequence[int]) -> list[tuple[int, int]]:
    """Quotations that follow each other with "to", "by" or an arrow between."""
    pairs: list[tuple[int, int]] = []
    for left, right in pairwise(quoted):
        between = [word.lower for word in words[left + 1 : right]]
        is_free = not pairs or pairs[-1][1] != left
        if is_free and between and all(word in _ARROWS for word in between):
            pairs.append((left, right))
    return pairs


def _is_named_before(words: Sequence[Word], place: int, prop: Property) -> bool:
    return any(word.stem in prop.stems for word in words[max(0, place - 2) : place])
