"""Puts the figures of a tool's results into a line of plain text; no figure is made here, only written."""

from __future__ import annotations
from outcrop.models.offline.vocabulary import word_set

from collections.abc import Iterator, Mapping
from typing import Any

SKIPPED = word_set("path rule alt bytes width_px height_px dpi seed operation folder files notes")
DIGITS = 6
DEPTH = 2
TEXT_CHARS = 60


def figures_of(results: Mapping[str, Any], limit: int) -> str:
    """Figures in the order of the results, as many as fit into `limit` characters: `removed 0, counts: 1 62, 2 65`."""
    line = ""
    for part in _parts(results, DEPTH):
        longer = f"{line}; {part}" if line else part
        if len(longer) > limit:
            break
        line = longer
    return line


def _parts(results: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, value in results.items():
        if key in SKIPPED or key.startswith("_"):
            continue
        if isinstance(value, dict):
            yield from _nested(key, value, depth)
        elif _is_plain(value):
            yield f"{_words(key)} {number_text(value)}"
        elif isinstance(value, list) and value and all(_is_plain(item) for item in value):
            yield f"{_words(key)}: {', '.join(map(number_text, value[:10]))}" + (" …" if len(value) > 10 else "")
        elif isinstance(value, list):
            for record in value[:3]:
                if isinstance(record, dict):
                    yield f"{_words(key)}: {_flat(record)}"


def _nested(key: str, value: dict[str, Any], depth: int) -> Iterator[str]:
    if all(_is_plain(item) for item in value.values()):
        if value:
            yield f"{_words(key)}: {_flat(value)}"
    elif depth:
        yield from (f"{_words(key)} {part}" if depth < DEPTH else part for part in _parts(value, depth - 1))


def _flat(record: Mapping[str, Any]) -> str:
    return ", ".join(f"{_words(str(key))} {number_text(value)}" for key, value in record.items() if _is_plain(value))


def number_text(value: Any) -> str:
    """A value as people write it: six significant digits, whole numbers whole."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and 0 < len(value) <= TEXT_CHARS)


def _words(key: str) -> str:
    return key.replace("_", " ")
