"""Finds rows whose values stand one field too far left, because an empty field was left out in the middle.

Such rows have the right number of fields, so only their values give them away: the last column is empty in them, and
from some column on each value looks like those of the column to its right. They are put right where one place for the
missing field explains them far better than any other; where two places do as well, the file is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.likeness import Likeness
from outcrop_specialists.reading.plain import is_blank

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

FEWEST_ROWS = 5
FEWEST_COLUMNS = 4
MOST_SAMPLED = 5_000
"""Of more rows without a last value so many are looked at, evenly spread; if none is shifted, no others are."""
GAIN = 8.0
"""A row counts as shifted if it is so much likelier (natural logarithm), and as it stands if so much likelier so."""
GAIN_PER_COLUMN = 0.3
"""And by so much for each column that moves: what merely fits a little better everywhere is another kind of rock."""
CLEAR = 20.0
"""All shifted rows together must fit their best place better than the next one by so much."""
CLEAR_PER_ROW = 0.3
ROWS_NAMED = 3


@dataclass(frozen=True)
class _Found:
    """Row numbers that are shifted from column `place` on, the next best place, and rows that fit either reading."""

    rows: Matrix
    place: int
    rival: int | None
    doubtful: Matrix


def unshift_rows(file: str, columns: list[pl.Series], notes: list[str]) -> list[pl.Series]:
    """The text columns with such rows moved right, counted in a note.

    Raises DataError, naming both readings, where the place of the missing field or a row is in doubt.
    """
    width = len(columns)
    if width < FEWEST_COLUMNS:
        return columns
    is_empty = is_blank(columns[-1])
    count = int(is_empty.sum())
    if not FEWEST_ROWS <= count <= len(is_empty) - FEWEST_ROWS:
        return columns
    found = _find(columns, is_empty.to_numpy())
    if found is None:
        return columns
    name = columns[found.place].name
    rows = f"{len(found.rows)} of {len(is_empty)} rows"
    where = _named(found.rows)
    if found.rival is not None:
        raise DataError(
            f"{file}: {rows} ({where}) are shifted one field to the left, but the empty field that was left out may "
            f"be that of {name!r} or that of {columns[found.rival].name!r}; insert it in these rows"
        )
    if len(found.doubtful):
        raise DataError(
            f"{file}: {rows} ({where}) are shifted one field to the left from column {name!r} on; "
            f"{len(found.doubtful)} more ({_named(found.doubtful)}) may be shifted or may lack the value of "
            f"{columns[-1].name!r}; insert the empty field that was left out or mark them"
        )
    notes.append(
        f"REPAIRED {rows} that lack one empty field, that of {name!r}: all later values stood one column too far left "
        f"and were moved right ({where})"
    )
    return _moved(columns, found)


def _find(columns: list[pl.Series], is_empty: Matrix) -> _Found | None:
    import numpy

    suspects, references = numpy.flatnonzero(is_empty), _spread(numpy.flatnonzero(~is_empty))
    sampled = _spread(suspects)
    likeness = [Likeness.of(column.gather(references)) for column in columns]
    found = _judge(columns, likeness, sampled)
    if found is None or len(sampled) == len(suspects):
        return found
    return _judge(columns, likeness, suspects)


def _spread(rows: Matrix) -> Matrix:
    import numpy

    if len(rows) <= MOST_SAMPLED:
        return rows
    picked: Matrix = rows[numpy.linspace(0, len(rows) - 1, MOST_SAMPLED).astype(int)]
    return picked


def _judge(columns: list[pl.Series], likeness: list[Likeness], rows: Matrix) -> _Found | None:
    """Which of the rows are shifted, from where on; None where none is."""
    import numpy

    width = len(columns)
    own, following = numpy.zeros((len(rows), width)), numpy.zeros((len(rows), width))
    for index, column in enumerate(columns):
        cells = column.gather(rows)
        own[:, index] = likeness[index].of_cells(cells)
        if index + 1 < width:
            following[:, index] = likeness[index + 1].of_cells(cells)
    empty = numpy.array([each.of_empty for each in likeness])
    # The field missing at k: fields before it stand where they belong, those from it on one too far left.
    before = numpy.cumsum(own, axis=1) - own
    behind = numpy.cumsum(following[:, ::-1], axis=1)[:, ::-1]
    # The last field of such a row is empty and stands for nothing.
    scores = before[:, 1 : width - 1] + empty[1 : width - 1] + (behind[:, 1 : width - 1] - behind[:, [width - 1]])
    as_is = own.sum(axis=1)
    moved = numpy.arange(width - 2, 0, -1)
    needed = numpy.where(moved >= FEWEST_COLUMNS - 1, GAIN + GAIN_PER_COLUMN * moved, numpy.inf)
    gains = scores - as_is[:, None]
    clear = (gains > needed).any(axis=1)
    if clear.sum() < FEWEST_ROWS:
        return None
    totals = scores[clear].sum(axis=0)
    totals[moved < FEWEST_COLUMNS - 1] = -numpy.inf
    best = int(totals.argmax())
    is_shifted = gains[:, best] > needed[best]
    if is_shifted.sum() < FEWEST_ROWS:
        return None
    totals = scores[is_shifted].sum(axis=0)
    others = [other for other in range(len(totals)) if not _is_same(columns, rows[is_shifted], best + 1, other + 1)]
    margin = max(CLEAR, CLEAR_PER_ROW * int(is_shifted.sum()))
    rival = max(others, key=lambda other: totals[other]) if others else None
    if rival is not None and totals[best] - totals[rival] >= margin:
        rival = None
    doubtful = ~is_shifted & (gains[:, best] > -GAIN)
    if doubtful.sum() >= is_shifted.sum():
        return None  # the columns are too much alike to tell, and a few rows in many fit any reading by chance
    return _Found(rows[is_shifted], best + 1, None if rival is None else rival + 1, rows[doubtful])


def _is_same(columns: list[pl.Series], rows: Matrix, one: int, other: int) -> bool:
    """Whether two places of the missing field give the same rows, because only empty cells lie between them."""
    between = columns[min(one, other) : max(one, other)]
    return all((column.gather(rows).str.strip_chars().fill_null("") == "").all() for column in between)


def _moved(columns: list[pl.Series], found: _Found) -> list[pl.Series]:
    import polars as pl

    mask = pl.Series([False]).new_from_index(0, len(columns[0])).scatter(found.rows, True)
    moved = list(columns)
    for index in range(found.place, len(columns)):
        source = columns[index - 1] if index > found.place else pl.Series([""]).new_from_index(0, len(mask))
        moved[index] = source.zip_with(mask, columns[index]).alias(columns[index].name)
    return moved


def _named(rows: Matrix) -> str:
    first = ", ".join(str(int(row) + 1) for row in rows[:ROWS_NAMED])
    return f"data rows {first}{' …' * (len(rows) > ROWS_NAMED)}" if len(rows) > 1 else f"data row {first}"
