"""Gives the cells of a merged area of a sheet the value that stands in its first cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Area = tuple[tuple[int, int], tuple[int, int]]
"""First and last row and column of a merged area, from 0, in the sheet."""


def fill_merged(rows: list[list[Any]], areas: Sequence[Area], start: tuple[int, int], notes: list[str]) -> None:
    """Fill `rows`, which begin at `start` of the sheet, in place.

    Above the first row with a number an area is part of the header: a group name goes to each of its columns, a title
    over all columns stays one cell. Below, the value holds for every row of the area, in its first column.
    """
    top, left = start
    first = next((index for index, row in enumerate(rows) if any(map(_is_number, row))), len(rows))
    width = max(map(len, rows), default=0)
    groups = filled = 0
    for (row, column), (last_row, last_column) in areas:
        row, last_row, column, last_column = row - top, last_row - top, column - left, last_column - left
        if not (0 <= row < len(rows) and 0 <= column < len(rows[row])):
            continue
        value = rows[row][column]
        if value == "" or value is None:
            continue
        if row < first:
            if last_column - column + 1 < width:
                groups += last_column > column
                _fill(rows[row : row + 1], column, last_column, value)
        else:
            filled += _fill(rows[row : last_row + 1], column, column, value)
    if groups:
        notes.append(f"{groups} merged group names of the header were given to each of their columns")
    if filled:
        notes.append(f"{filled} empty cells of merged areas were given the value of the area")


def _fill(rows: list[list[Any]], first: int, last: int, value: Any) -> int:
    count = 0
    for row in rows:
        for column in range(first, min(last + 1, len(row))):
            if row[column] in ("", None):
                row[column] = value
                count += 1
    return count


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
