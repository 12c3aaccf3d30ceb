"""Rows that lack one empty field: put right where one place explains them, refused where two do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.shift import unshift_rows
from outcrop_specialists.reading.tables import Table

Rows = list[list[str]]


def columns_of(rows: Rows, names: Sequence[str] | None = None) -> list[pl.Series]:
    titles = names or [f"c{index}" for index in range(len(rows[0]))]
    return [
        pl.Series(name, cells, dtype=pl.String) for name, cells in zip(titles, zip(*rows, strict=True), strict=True)
    ]


def rows_of(columns: list[pl.Series]) -> Rows:
    return [list(row) for row in zip(*(column.to_list() for column in columns), strict=True)]


def assays(rows: int, width: int, seed: int) -> Rows:
    """An identifier and log-normal columns of different sizes, one of them mostly below its limit."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-2, 3, width)
    cells = 10 ** rng.normal(places, 0.3, (rows, width))
    found = [[f"S{row:03}", *(f"{cell:.3g}" for cell in cells[row])] for row in range(rows)]
    for row in found:
        row[2] = "<10" if rng.random() < 0.9 else "10"
    return found


def test_rows_that_lack_a_field_are_moved_right_from_there_on_and_counted() -> None:
    rows = [[f"S{i}", f"{i / 100}", "", f"{1000 + i}", f"{10 + i}", f"0.{i + 1:02}"] for i in range(30)]
    rows += [[f"T{i}", f"{i / 100}", f"{1000 + i}", f"{10 + i}", f"0.{i + 1:02}", ""] for i in range(20)]
    notes: list[str] = []
    found = rows_of(unshift_rows("t.csv", columns_of(rows, ["id", "Au", "check", "Ba", "Co", "Cd"]), notes))
    assert found[:30] == rows[:30]
    assert found[30:] == [[*row[:2], "", *row[2:5]] for row in rows[30:]]
    assert notes == [
        "REPAIRED 20 of 50 rows that lack one empty field, that of 'check': all later values stood one column too far "
        "left and were moved right (data rows 31, 32, 33 …)"
    ]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    width=st.integers(8, 25),
    place=st.integers(1, 7),
    bad=st.integers(5, 40),
    good=st.integers(25, 60),
)
def test_planted_shifts_are_repaired_exactly_or_refused_and_never_half_repaired(
    seed: int, width: int, place: int, bad: int, good: int
) -> None:
    place = min(place, width - 4)
    truth = assays(good + bad, width, seed)
    for row in truth:
        row[place] = ""
    truth[0][place] = "7"
    shifted = truth[:good] + [[*row[:place], *row[place + 1 :], ""] for row in truth[good:]]
    notes: list[str] = []
    try:
        found = rows_of(unshift_rows("t.csv", columns_of(shifted), notes))
    except DataError:
        return
    if notes:
        assert found == truth
        assert f"REPAIRED {bad} of {good + bad} rows" in notes[0]
    else:
        assert found == shifted


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), width=st.integers(4, 25), bad=st.integers(5, 40))
def test_a_table_whose_last_column_is_often_empty_is_left_as_it_is(seed: int, width: int, bad: int) -> None:
    rows = assays(80, width, seed)
    for row in rows[-bad:]:
        row[-1] = ""
    notes: list[str] = []
    assert rows_of(unshift_rows("t.csv", columns_of(rows), notes)) == rows
    assert notes == []


def test_two_places_that_explain_the_rows_equally_well_are_both_named() -> None:
    rows = []
    for i in range(40):
        either = ["", f"{5 + i % 3}"] if i % 2 else [f"{5 + i % 3}", ""]
        rows.append([f"S{i}", f"{100 + i}", *either, f"0.{10 + i}", f"{9000 + i}"])
    rows += [[f"T{i}", f"{100 + i}", f"{5 + i % 3}", f"0.{10 + i}", f"{9000 + i}", ""] for i in range(20)]
    with pytest.raises(DataError, match=r"may be that of 'c[23]' or that of 'c[23]'; insert it in these rows"):
        unshift_rows("t.csv", columns_of(rows), [])


def test_rows_with_other_values_in_one_column_are_no_shift(
    write_file: Callable[[str, str], str], read: Callable[[str], Table]
) -> None:
    rows = [f"S{i},{i / 100},,{1000 + i},{10 + i},0.{i + 1:02}" for i in range(30)]
    rows += [f"T{i},{i / 100},7,{1000 + i},{10 + i}," for i in range(20)]
    assert read(write_file("t.csv", "\n".join(["sample,Au,check,Ba,Co,Cd", *rows]))).frame.height == 50
