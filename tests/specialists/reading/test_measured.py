"""Cells that carry their unit."""

from __future__ import annotations

import polars as pl

from outcrop_specialists.reading.types import type_columns


def test_one_unit_in_all_cells_becomes_the_unit_of_the_column() -> None:
    found = type_columns([pl.Series("depth", ["12.5 m", "3m", None, "-0.5 m"])])
    assert found.columns[0].to_list() == [12.5, 3.0, None, -0.5]
    assert found.units == {"depth": "m"}
    assert found.notes() == ["numbers with their unit in the cell read as numbers in this unit: 'depth' (m)"]


def test_several_units_are_named_and_nothing_is_converted() -> None:
    found = type_columns([pl.Series("ec", ["0.5 mS/cm", "450 µS/cm"])])
    assert found.columns[0].to_list() == ["0.5 mS/cm", "450 µS/cm"]
    assert found.notes() == [
        "SUSPECTED several units in one column, whose cells carry them: kept as text: 'ec' (mS/cm, µS/cm)"
    ]


def test_codes_that_end_in_letters_are_no_measurements() -> None:
    assert type_columns([pl.Series("hole", ["12A", "13B"])]).columns[0].to_list() == ["12A", "13B"]
    for letter in "AKVSTM":
        assert type_columns([pl.Series("hole", [f"12{letter}", f"13{letter}"])]).units == {}
    assert type_columns([pl.Series("Au_ppm", ["10 ppb", "20 ppb"])]).units == {}
