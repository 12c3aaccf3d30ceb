"""Dates that are not ISO: read where the order of day and month is proven."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.reading.types import Typed, type_columns


def typed(**columns: list[str | None]) -> Typed:
    return type_columns([pl.Series(name, values, dtype=pl.String) for name, values in columns.items()])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["08.03.2019", "21.06.2019"], [date(2019, 3, 8), date(2019, 6, 21)]),
        (["2/11/2019", "3/13/2019", None], [date(2019, 2, 11), date(2019, 3, 13), None]),
        (["28-11-1972", "1-2-1973"], [date(1972, 11, 28), date(1973, 2, 1)]),
        (["5/5/2020", "7/7/2020"], [date(2020, 5, 5), date(2020, 7, 7)]),
        (["2019/03/08"], [date(2019, 3, 8)]),
        (["12-MAR-2019", "1 apr 2020"], [date(2019, 3, 12), date(2020, 4, 1)]),
        (["13/02/2019 08:30"], [datetime(2019, 2, 13, 8, 30)]),
    ],
)
def test_dates_whose_order_is_proven_are_read(values: list[str | None], expected: list[object]) -> None:
    assert typed(d=values).columns[0].to_list() == expected


def test_a_column_without_proof_takes_the_order_that_its_sisters_prove() -> None:
    found = typed(a=["3/13/2019", "1/2/2019"], b=["2/11/2019", "1/2/2019"])
    assert found.columns[1].to_list() == [date(2019, 2, 11), date(2019, 1, 2)]
    assert "dates read as month/day/year, as other columns of the file prove: 'b'" in found.notes()


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"d": ["08.03.2019", "05.04.2019"]}, "may be day/month/year or month/day/year"),
        ({"d": ["13/02/2019", "02/13/2019"]}, "some can only be day first and others only month first"),
        ({"d": ["31/02/2019"]}, "not all of them exist"),
        ({"d": ["1/2/2019"], "m": ["1/13/2019"], "n": ["13/1/2019"]}, "may be day/month/year or month/day/year"),
    ],
)
def test_dates_that_can_be_read_in_two_ways_stay_text_and_both_are_named(
    columns: dict[str, list[str | None]], why: str
) -> None:
    found = typed(**columns)
    assert found.columns[0].dtype == pl.String
    assert any(why in note for note in found.notes())


@given(st.lists(st.dates(date(1900, 1, 1), date(2100, 12, 31)), min_size=1, max_size=10))
def test_no_date_is_ever_read_as_another_one(days: list[date]) -> None:
    for shape in ("%d/%m/%Y", "%m/%d/%Y"):
        column = typed(d=[day.strftime(shape) for day in days]).columns[0]
        if column.dtype == pl.Date:
            assert column.to_list() == days
