"""What of many records a short answer can hold; the file has all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from outcrop_schemas import limits, wire

RECORDS_CHARS = 600
"""What the records of one answer may take of it."""
NAMES_SHOWN = 6
NAME_CHARS = 40

Key = TypeVar("Key", bound=str)
Value = TypeVar("Value")


def fitting(
    records: Mapping[Key, Value], characters: int = RECORDS_CHARS, most: int = limits.COMPLETE_LIST_RECORDS
) -> tuple[dict[Key, Value], int]:
    """The first records, in order, that fit into so many characters of JSON, and the number of the others.

    The first one is always among them: an answer without a figure helps nobody.
    """
    shown: dict[Key, Value] = {}
    used = 0
    for name, record in records.items():
        used += len(wire.dumps({name: record}))
        if shown and (used > characters or len(shown) >= most):
            break
        shown[name] = record
    return shown, len(records) - len(shown)


def fitting_list(
    records: list[Value], characters: int = RECORDS_CHARS, most: int = limits.COMPLETE_LIST_RECORDS
) -> list[Value]:
    """The first records of a list that fit."""
    shown, _ = fitting({str(number): record for number, record in enumerate(records)}, characters, most)
    return list(shown.values())


def named(names: list[str], most: int = NAMES_SHOWN, characters: int = NAME_CHARS) -> str:
    """Names in a row of text, the first ones and how many more."""
    told = [name if len(name) <= characters else f"{name[: characters - 1]}…" for name in names[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(told)}{more}"


def counted(counts: Mapping[str, Any], most: int = NAMES_SHOWN) -> str:
    """`a 3, b 1 and 5 more`: names with a count each, the first ones and how many more."""
    return named([f"{name} {count}" for name, count in counts.items()], most)
