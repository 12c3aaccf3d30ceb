"""Cells that carry their unit: `12.5 m` in every row is a column in metres; several units in one column are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcrop_specialists.columns.units import is_same_unit, is_unit_behind_number
from outcrop_specialists.reading.types import Comma, Typed

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    TypeNumbers = Callable[[pl.Series, pl.Series, Typed, Comma], pl.Series | None]

MEASURED = r"^([+-]?(?:[0-9][0-9.,]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?)\s*([%‰°µμa-zA-Z][%‰°µμa-zA-Z0-9/.·^³²-]*)$"
TRIED_VALUES = 1_000
MOST_UNITS = 5


def measured_column(
    values: pl.Series, known: pl.Series, typed: Typed, comma: Comma, unit: str | None, type_numbers: TypeNumbers
) -> pl.Series | None:
    """The numbers of a column whose values all have the same unit behind them, which becomes the column's.

    None for any other column; one with several units is told in a note and stays text.
    """
    if not known.head(TRIED_VALUES).str.contains(MEASURED).all() or not known.str.contains(MEASURED).all():
        return None
    units = known.str.extract(MEASURED, 2).unique(maintain_order=True).to_list()
    if not all(map(is_unit_behind_number, units[: MOST_UNITS + 1])):
        return None
    if len(units) > 1 and not all(is_same_unit(units[0], each) for each in units[1:]):
        told = ", ".join(units[:MOST_UNITS]) + " …" * (len(units) > MOST_UNITS)
        typed.note(
            "SUSPECTED several units in one column, whose cells carry them: kept as text", values.name, f"({told})"
        )
        return None
    if unit is not None and not is_same_unit(unit, units[0]):
        text = "CHECK: kept as text, its cells carry another unit than the column"
        typed.note(text, values.name, f"({units[0]}, not {unit})")
        return None
    plain = values.str.extract(MEASURED, 1)
    quiet = Typed()
    numbers = type_numbers(plain, plain.drop_nulls(), quiet, comma)
    if numbers is None or not numbers.dtype.is_numeric():
        return None
    typed.take_notes_of(quiet)
    typed.units[values.name] = units[0]
    typed.note("numbers with their unit in the cell read as numbers in this unit", values.name, f"({units[0]})")
    return numbers.alias(values.name)
