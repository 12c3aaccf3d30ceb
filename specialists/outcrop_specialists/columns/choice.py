"""Finds columns of a table by name, and gives them as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    import polars as pl

OFFERED_NAMES = 5
CLOSE_ENOUGH = 50.0
"""Similarity (0 to 100) from which a name is offered for a misspelt one."""


def find_column(table: Table, name: str, field: str = "column") -> str:
    """The column of this name: exactly, else the only one that differs in case or blanks.

    Raises ArgumentError with the closest names.
    """
    names = table.columns
    if name in names:
        return name
    same = [known for known in names if _folded(known) == _folded(name)]
    if len(same) == 1:
        return same[0]
    if same:
        raise ArgumentError(field, f"{name!r} could be {' or '.join(map(repr, same))}; give the exact name")
    raise ArgumentError(field, f"{table.path.name} has no column {name!r}; {_offer(name, names)}")


def find_columns(table: Table, names: Sequence[str], field: str = "columns") -> list[str]:
    """The columns of these names, in this order. Raises ArgumentError for an unknown one or one named twice."""
    found = [find_column(table, name, field) for name in names]
    twice = next((name for index, name in enumerate(found) if name in found[:index]), None)
    if twice is not None:
        raise ArgumentError(field, f"{twice!r} is named twice")
    return found


def numeric_columns(table: Table) -> list[str]:
    """Names of the columns that hold numbers, in file order."""
    return [name for name, kind in table.schema.items() if kind.is_numeric()]


def numeric(table: Table, name: str, field: str = "column") -> pl.Series:
    """A column as Float64, null where a value is missing (also NaN); results beyond a limit by the one rule for them
    (`columns/censoring.py`), which the tool's result then tells.

    Raises ArgumentError for an unknown column and for one whose values are not all numbers.
    """
    from outcrop_specialists.columns.censoring import note_use, substituted

    column = table.column(find_column(table, name, field))
    if column.dtype.is_numeric():
        note_use(table, column.name)
        return substituted(table, column.name)
    raise ArgumentError(field, _not_numbers(table, column))


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _offer(name: str, names: Sequence[str]) -> str:
    from rapidfuzz import fuzz, process, utils

    close = process.extract(
        name, names, scorer=fuzz.WRatio, processor=utils.default_process, limit=OFFERED_NAMES, score_cutoff=CLOSE_ENOUGH
    )
    if close:
        return f"closest: {', '.join(repr(match[0]) for match in close)}"
    more = f" and {len(names) - OFFERED_NAMES} more" if len(names) > OFFERED_NAMES else ""
    return f"it has {', '.join(map(repr, names[:OFFERED_NAMES]))}{more}"


def _not_numbers(table: Table, column: pl.Series) -> str:
    import polars as pl

    from outcrop_specialists.columns.censored import find_censored
    from outcrop_specialists.reading.types import is_number

    where = f"{table.path.name}: column {column.name!r}"
    if column.null_count() == len(column):
        return f"{where} holds no value at all"
    if column.dtype != pl.String:
        return f"{where} holds {column.dtype} values, not numbers"
    wrong = (column.is_not_null() & ~is_number(column)).fill_null(False)
    count = int(wrong.sum())
    row = wrong.arg_true()[0] if count else 0
    censored = find_censored(column).count
    if not count:
        return f"{where} holds digits that are codes (leading zeros, exponents or more than 64 bits), not numbers"
    text = f"{where} holds {count} of {len(column) - column.null_count()} values that are not numbers"
    text += f", the first in data row {row + 1}"
    if censored:
        text += f"; {censored} of them are results beyond a detection limit: parse_detection_limits makes it numeric"
    return text
