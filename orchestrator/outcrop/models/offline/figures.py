"""Puts the figures of a tool's results into a line of plain text; no figure is made here, only written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from outcrop.models.offline.vocabulary import word_set

SKIPPED = word_set("path rule alt bytes width_px height_px dpi seed operation folder files notes")
# What stands under these keys is named well enough by itself.
PLAIN_KEYS = frozenset(("columns",))
DIGITS = 6
DEPTH = 2
RECORDS = 3
COUNTED = (("name", "missing"), ("value", "count"))
COUNTED_KEYS = 4
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
TEXT_CHARS = 60


def figures_of(results: Mapping[str, Any], limit: int, said: str | None = None) -> str:
    """Figures in the order of the results, as many as fit into `limit` characters: `removed 0; counts: 1 62, 2 65`.

    Where `said` is given, only numbers are told, and none that stands in it already.
    """
    known = set(_NUMBER.findall(said)) if said is not None else None
    line = ""
    for part in _parts(results, DEPTH, known):
        longer = f"{line}; {part}" if line else part
        if len(longer) > limit:
            # Later figures are not told instead: that would read as if nothing were missing.
            return f"{line}; …" if line else ""
        line = longer
    return line


def _parts(results: Mapping[str, Any], depth: int, known: set[str] | None) -> Iterator[str]:
    for key, value in results.items():
        if key in SKIPPED or key.startswith("_") or (known is not None and _is_told(value, known)):
            continue
        if isinstance(value, dict):
            yield from _nested(key, value, depth, known)
        elif _is_plain(value):
            yield f"{_words(key)} {number_text(value)}"
        elif isinstance(value, list) and value and all(_is_plain(item) for item in value):
            yield f"{_words(key)}: {', '.join(map(number_text, value[:10]))}" + (" …" if len(value) > 10 else "")
        elif isinstance(value, list) and (pairs := _pairs(value)):
            yield f"{_words(key)}: {', '.join(pairs)}"
        elif isinstance(value, list):
            for record in value[:RECORDS]:
                if isinstance(record, dict):
                    yield f"{_words(key)}: {_flat(record)}"


def _pairs(records: list[Any]) -> list[str]:
    """Records that count something, all of them told: missing cells by column, rows by value."""
    found = []
    for record in records:
        name, count = next(
            ((a, b) for a, b in COUNTED if isinstance(record, dict) and {a, b} <= record.keys()), ("", "")
        )
        if not name or len(record) > COUNTED_KEYS:
            return []
        found.append(f"{number_text(record[name])} {number_text(record[count])}")
    return found


def _is_told(value: Any, known: set[str]) -> bool:
    """Whether a value adds nothing for a reader: said before, zero, no number, or where something lies."""
    if isinstance(value, dict):
        numbers = [child for child in value.values() if not isinstance(child, dict | list)]
        return bool(numbers) and len(numbers) == len(value) and all(_is_told(child, known) for child in numbers)
    if isinstance(value, list):
        return not any(isinstance(child, dict) for child in value)
    return isinstance(value, str | bool) or value in (0, None) or number_text(value) in known


def _nested(key: str, value: dict[str, Any], depth: int, known: set[str] | None) -> Iterator[str]:
    if all(_is_plain(item) for item in value.values()):
        if value:
            yield f"{_words(key)}: {_flat(value)}"
    elif depth:
        yield from (part if key in PLAIN_KEYS else f"{_words(key)} {part}" for part in _parts(value, depth - 1, known))


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
