"""The only way rows of a table enter an answer: at most 20, few columns, short cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits, wire

if TYPE_CHECKING:
    import polars as pl


def preview(frame: pl.DataFrame, rows: int, characters: int | None = None) -> dict[str, Any]:
    """The first rows as lists of cells: never more than the limits allow, what was left out is counted. `characters`
    bounds columns and rows together, of a table of which most columns cannot be shown anyway."""
    shown = frame.head(min(rows, limits.PREVIEW_ROWS)).select(frame.columns[: limits.PREVIEW_COLUMNS])
    found = _of(shown)
    while characters is not None and len(wire.dumps(found)) > characters and shown.width > 1:
        shown = shown.select(shown.columns[:-1])
        found = _of(shown)
    if frame.width > shown.width:
        found["more_columns"] = frame.width - shown.width
    return found


def _of(shown: pl.DataFrame) -> dict[str, Any]:
    return {
        "columns": [cut(name, limits.PREVIEW_CELL_CHARS) for name in shown.columns],
        "rows": [[cell(value) for value in row] for row in shown.iter_rows()],
    }


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
