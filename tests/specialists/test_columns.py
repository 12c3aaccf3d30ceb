"""Columns by name, and as numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric, numeric_columns
from outcrop_specialists.reading.tables import Table


def table(**columns: list[Any]) -> Table:
    return Table(Path("/w/a.csv"), pl.DataFrame(columns, strict=False))


def test_a_column_is_found_exactly_or_by_its_only_look_alike() -> None:
    known = table(Au=[1], cu=[2], CU=[3], **{" Zn ": [4]})
    assert find_column(known, "cu") == "cu"
    assert find_column(known, "AU") == "Au"
    assert find_column(known, "zn") == " Zn "
    with pytest.raises(ArgumentError, match="'Cu' could be 'cu' or 'CU'"):
        find_column(known, "Cu")


def test_an_unknown_column_is_answered_with_the_closest_names() -> None:
    known = table(Location=[1], Cu_pct=[2], Cu_ppm_pXRF=[3])
    with pytest.raises(ArgumentError, match=r"a\.csv has no column 'Cu_pc'; closest: 'Cu_pct'") as caught:
        find_column(known, "Cu_pc", "x")
    assert caught.value.field == "x"
    with pytest.raises(ArgumentError, match="closest: 'Location'"):
        find_column(known, "HQ Location")
    with pytest.raises(ArgumentError, match="it has 'a', 'b', 'c', 'd', 'e' and 2 more"):
        find_column(table(**{name: [1] for name in "abcdefg"}), "zzzz")


def test_columns_keep_their_order_and_may_not_repeat() -> None:
    known = table(a=[1], b=[2])
    assert find_columns(known, ["B", "a"]) == ["b", "a"]
    with pytest.raises(ArgumentError, match="columns: 'a' is named twice"):
        find_columns(known, ["a", "A"])


def test_numeric_columns_are_those_that_hold_numbers() -> None:
    assert numeric_columns(table(i=[1], f=[0.5], t=["x"], b=[True])) == ["i", "f"]


def test_numbers_come_as_float64_with_nan_as_missing() -> None:
    known = table(i=[1, None, 3], f=[0.5, float("nan"), None])
    assert numeric(known, "i").to_list() == [1.0, None, 3.0]
    assert numeric(known, "I").dtype == pl.Float64
    assert numeric(known, "f").to_list() == [0.5, None, None]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["1", "n/k", "3", None], r"holds 1 of 3 values that are not numbers, the first in data row 2$"),
        (
            ["1", "<0.01", "bdl", "x"],
            r"3 of 4 values that are not numbers, the first in data row 2; 2 of them are results beyond a "
            r"detection limit: parse_detection_limits makes it numeric",
        ),
        (["007", "008"], "digits that are codes"),
        ([None, None], "no value at all"),
        ([True, False], "holds Boolean values"),
    ],
)
def test_a_column_that_is_not_numeric_is_refused_with_its_first_row_and_no_cell(
    values: list[object], reason: str
) -> None:
    known = Table(
        Path("/w/a.csv"), pl.DataFrame({"c": values}, schema={"c": pl.Boolean} if True in values else {"c": pl.String})
    )
    with pytest.raises(ArgumentError, match=reason) as caught:
        numeric(known, "c", "x")
    assert caught.value.field == "x"
