"""Missing values that a file declares itself, in the lines above or below its table: `No data: -9999`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outcrop_specialists.reading.header import Record
    from outcrop_specialists.reading.types import Typed

_ABSENT = (
    r"(?:no[\s_-]?data(?:[\s_-]?values?)?|null(?:[\s_-]?values?)?|missing(?:[\s_-](?:values?|data))?|fill[\s_-]?values?"
    r"|not (?:measured|analy[sz]ed|determined|available|sampled|recorded)|no (?:measurement|value|sample)s?"
    r"|absent data)"
)
_VALUE = r"(?P<value>-[0-9]+(?:\.[0-9]+)?|9{2,}(?:\.[0-9]+)?)"
_LINKS = (
    r"\s*(?:is|are|was|were|=|:|,|as|by|coded|marked|given|written|shown|denoted|with|represented|the|value|\s)*\s*"
)
DECLARED = (
    re.compile(rf"\b{_ABSENT}\b{_LINKS}['\"(]?{_VALUE}\b", re.IGNORECASE),
    re.compile(
        rf"(?<![0-9.]){_VALUE}['\")]?\s*(?:=|:|is|means?|denotes?|indicates?|stands for|for|marks?|\s)*\s*{_ABSENT}\b",
        re.IGNORECASE,
    ),
)
"""Only a negative number or nines: `missing: 3` counts something."""


def declared_nulls(records: Iterable[Record]) -> dict[float, int]:
    """Numbers that lines outside the table declare to mean missing, with the line of each."""
    found: dict[float, int] = {}
    for line, fields in records:
        text = " ".join(cell.strip() for cell in fields if cell.strip())
        for pattern in DECLARED:
            for match in pattern.finditer(text):
                found.setdefault(float(match["value"]), line)
    return found


def apply_declared(typed: Typed, declared: dict[float, int]) -> None:
    """Make these numbers missing in the numeric columns, counted in notes."""
    import polars as pl

    for value, line in declared.items():
        text = f"read as missing, because line {line} says that {value:.15g} means so"
        for index, column in enumerate(typed.columns):
            if not column.dtype.is_numeric():
                continue
            hits = (column.cast(pl.Float64) == value).fill_null(False)
            if hits.any():
                typed.columns[index] = column.set(hits, None)
                typed.note(text, column.name, f"({int(hits.sum())})")
