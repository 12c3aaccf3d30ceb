"""Cutting text without splitting what a reader sees as one character, making foreign text safe to show, sizes."""

from __future__ import annotations

from functools import cache
from typing import Any

from outcrop_schemas.hidden import visible

ELLIPSIS = "…"
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
# Beyond the cut, enough text for the segmenter to see whether a cluster goes on.
_LOOKAHEAD = 64


@cache
def _grapheme() -> Any:
    # `regex` costs 20 ms to import; most outcomes need no cutting.
    import regex

    return regex.compile(r"\X")


def cut(text: str, limit: int) -> str:
    """The longest prefix of at most `limit` code points that ends at a grapheme boundary (UAX #29)."""
    if len(text) <= limit:
        return text
    end = 0
    for match in _grapheme().finditer(text[: limit + _LOOKAHEAD]):
        if match.end() > limit:
            break
        end = match.end()
    return text[:end]


def shorten(text: str, limit: int) -> str:
    """`text` in at most `limit` code points, with an ellipsis where something was cut."""
    return text if len(text) <= limit else cut(text, limit - 1) + ELLIPSIS


def is_text(text: str) -> bool:
    """Whether it can be written as UTF-8: bytes of a command line that cannot be are lone surrogates in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def inert(text: str, *, keep_newlines: bool = True) -> str:
    """Foreign text as it may be shown to people: control and bidirectional characters are made visible."""
    seen = visible(text)
    return seen if keep_newlines else seen.replace("\n", " ").replace("\t", " ")


def size(count: int) -> str:
    """`12.3 kB` for 12,345 bytes."""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{count} bytes" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def age(seconds: float) -> str:
    """`3 d`, `5 h`, `12 m`, `40 s`: the largest unit that fits."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
