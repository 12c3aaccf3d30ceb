"""The only way rows of a table enter an answer: at most 20, few columns, short cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

FURTHER_NAMES = 2_000
FURTHER_NAMES_CHARS = 20_000


def preview(frame: pl.DataFrame, rows: int) -> dict[str, Any]:
    """The first rows as lists of cells: never more than the limits allow, what was left out is counted."""
    shown = frame.head(min(rows, limits.PREVIEW_ROWS)).select(frame.columns[: limits.PREVIEW_COLUMNS])
    found: dict[str, Any] = {
        "columns": [cut(name, limits.PREVIEW_CELL_CHARS) for name in shown.columns],
        "rows": [[cell(value) for value in row] for row in shown.iter_rows()],
    }
    if frame.width > shown.width:
        found["more_columns"] = frame.width - shown.width
    return found


def further_names(names: Sequence[str]) -> dict[str, Any]:
    """Names of columns that are not described: as many as may be told, and the count of those not even named."""
    told: list[str] = []
    left = FURTHER_NAMES_CHARS
    for name in names[:FURTHER_NAMES]:
        short = cut(name, limits.PREVIEW_CELL_CHARS)
        left -= len(short)
        if left < 0:
            break
        told.append(short)
    found: dict[str, Any] = {"more_names": told}
    return {**found, "not_named": len(names) - len(told)} if len(told) < len(names) else found


def cell(value: Any) -> Any:
    """A value as JSON: numbers as they are, missing and NaN null, everything else as short text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    return cut(str(value), limits.PREVIEW_CELL_CHARS)


def cut(text: str, most: int) -> str:
    """The text in at most `most` characters, ending with … where it was cut, never inside a grapheme."""
    if len(text) <= most:
        return text
    import regex

    # The text is bounded first: a megabyte in one cell need not be split into graphemes.
    kept = ""
    for grapheme in regex.findall(r"\X", text[: most + most]):
        if len(kept) + len(grapheme) > most - 1:
            break
        kept += grapheme
    return kept + "…"
