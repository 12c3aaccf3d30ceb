"""Percentiles of sorted values, and rows by value, against numpy and a plain count."""

from __future__ import annotations

from datetime import date

import numpy
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.tools.statistics.ordered import percentiles_of, rows_by_value

NUMBERS = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60)


@given(values=NUMBERS, wanted=st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_percentiles_are_those_of_numpy_to_the_last_digit(values: list[float], wanted: list[float]) -> None:
    expected = numpy.percentile(values, wanted, method="linear")
    assert percentiles_of(numpy.sort(values), wanted) == expected.tolist()


KEYS = st.one_of(
    st.lists(st.none() | st.text(max_size=3), max_size=40).map(lambda keys: pl.Series("k", keys, dtype=pl.String)),
    st.lists(st.none() | st.integers(-5, 5), max_size=40).map(lambda keys: pl.Series("k", keys, dtype=pl.Int64)),
    st.lists(st.none() | st.booleans(), max_size=40).map(lambda keys: pl.Series("k", keys, dtype=pl.Boolean)),
    st.lists(st.none() | st.floats(-2, 2), max_size=40).map(lambda keys: pl.Series("k", keys, dtype=pl.Float64)),
    st.lists(st.none() | st.dates(date(2020, 1, 1), date(2020, 1, 9)), max_size=40).map(
        lambda keys: pl.Series("k", keys, dtype=pl.Date)
    ),
)


@given(column=KEYS)
def test_the_rows_of_each_value_are_all_its_rows_in_order(column: pl.Series) -> None:
    values, rows = rows_by_value(column)
    plain = column.to_list()
    expected = sorted({value for value in plain if value is not None})
    assert values == expected + ([None] if None in plain else [])
    for value, found in zip(values, rows, strict=True):
        assert found.tolist() == [row for row, key in enumerate(plain) if key == value]
