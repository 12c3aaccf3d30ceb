"""Cutting text without splitting what a reader sees as one character, and making foreign text safe to show."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

ELLIPSIS = "…"
# Beyond the cut, enough text for the segmenter to see whether a cluster goes on.
_LOOKAHEAD = 64
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


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
    """Foreign text as it may be shown on a terminal: control and bidirectional characters are made visible."""
    shown = _CONTROL.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text
    )
    return shown if keep_newlines else shown.replace("\n", " ").replace("\t", " ")
