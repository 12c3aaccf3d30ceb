"""Tables that stand in the cells of another: lists of records or of lists, which readers keep as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.nested import flattened

if TYPE_CHECKING:
    import polars as pl

LEAST_ROWS = 2
MOST_CELLS = 2_000
"""So many cells with lists are looked into, the first of a column."""
DEEPEST = 4


def inner_tables(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The lists of records of a table, those of one column as one table, and the lists in these."""
    import polars as pl

    for series in frame.get_columns():
        if series.dtype != pl.String:
            continue
        cells = series.drop_nulls()
        cells = cells.filter(cells.str.contains(r"^\s*\[\s*[\[{]")).head(MOST_CELLS)
        rows: list[Any] = []
        for cell in cells.to_list():
            rows += _parsed(cell)
        yield from _tables(rows, 0)


def _parsed(cell: str) -> list[Any]:
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


def _tables(rows: list[Any], depth: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    records = [row if isinstance(row, dict) else _numbered(row) for row in rows if isinstance(row, dict | list)]
    if len(records) < LEAST_ROWS or depth > DEEPEST:
        return
    flat = flattened(records, [])
    columns: dict[str, list[Any]] = {name: [] for record in flat for name in record}
    deeper: list[Any] = []
    for record in flat:
        for name, cells in columns.items():
            value = record.get(name)
            if isinstance(value, list):
                deeper += value
            cells.append(None if isinstance(value, dict | list) else value)
    yield pl.DataFrame([_series(name, cells) for name, cells in columns.items()])
    yield from _tables(deeper, depth + 1)


def _numbered(row: list[Any]) -> dict[str, Any]:
    return {str(number): value for number, value in enumerate(row, 1)}


def _series(name: str, cells: list[Any]) -> pl.Series:
    import polars as pl

    is_number = all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells)
    if is_number:
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
