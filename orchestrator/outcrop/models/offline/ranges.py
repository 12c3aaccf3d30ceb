"""Both bounds of a range: "100 < Zn < 200", "above 100 but below 200", ">= 4 and <= 5"; a bound is never lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from outcrop.models.offline.words import Word

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "≤": ">=", "≥": "<="}
JOINTS = frozenset(("and", "but", ",", "&", "also", "is", "are"))
BOUNDS = frozenset((">", ">=", "<", "<="))

ReadOperator = Callable[[Sequence[Word], int], tuple[str | None, int]]


def lower_side(words: Sequence[Word], first: int) -> tuple[str, Word, int] | None:
    """The bound written before a column, `100 <`: the operator turned round, the number's word and its place."""
    at = first - 1
    sign = ""
    while at >= 0 and words[at].text in ("<", ">", "=", "≤", "≥"):
        sign, at = words[at].text + sign, at - 1
    if sign not in MIRRORED or at < 0 or words[at].kind != "number":
        return None
    return MIRRORED[sign], words[at], at


def second_bound(words: Sequence[Word], at: int, read: ReadOperator) -> tuple[str, Word, int] | None:
    """A further bound on the same column after the first: operator, the number's word, the place after it."""
    start = at
    while at < len(words) and words[at].lower in JOINTS:
        at += 1
    operator, end = read(words, at)
    is_number = end < len(words) and words[end].kind == "number"
    if at == start or operator not in BOUNDS or not is_number:
        return None
    return operator, words[end], end + 1
