"""What the reader of a stream can see: signs and foreign text in the characters that it takes."""

from __future__ import annotations

import os
from typing import TextIO

from outcrop.text import inert
from outcrop_schemas.outcome import GOOD

_SIGNS = {"success": ("✓", "+"), "partial": ("◐", "~"), "running": ("▸", ">"), "waiting": ("·", ".")}
_BAD = ("✗", "x")
_COLOURS = {"success": "green", "partial": "magenta", "running": "yellow", "waiting": "dim"}
# What we write ourselves, and texts about measurements have, where there is a way to say it in ASCII.
_PLAIN = str.maketrans({
    "…": "...", "—": "-", "–": "-", "−": "-", "→": "->", "×": "x", "·": "-", "µ": "u", "°": "deg", "≥": ">=", "≤": "<=",
    "“": '"', "”": '"', "‘": "'", "’": "'",
})  # fmt: skip


def takes_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")


def has_colours(stream: TextIO) -> bool:
    """Whether escapes may be written: to a terminal that knows them, whose user did not ask for none."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def shown(text: str, stream: TextIO, *, keep_newlines: bool = False) -> str:
    """Foreign text made inert, in the characters that the stream takes."""
    safe = inert(text, keep_newlines=keep_newlines)
    if takes_unicode(stream):
        return safe.encode("utf-8", "replace").decode()
    encoding = stream.encoding or "ascii"
    return safe.translate(_PLAIN).encode(encoding, "replace").decode(encoding)


def sign(status: str, *, unicode: bool) -> str:
    """One character for how something ended."""
    return _SIGNS.get(status, _BAD)[0 if unicode else 1]


def colour(status: str) -> str:
    return _COLOURS.get(status, "green" if status in GOOD else "red")
