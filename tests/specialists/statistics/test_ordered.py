"""Percentiles of sorted values, and rows by value, against numpy and a plain count."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import numpy
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.tools.statistics.ordered import (
    MANY_VALUES,
    ascending,
    deviation,
    percentiles_of,
    rows_by_value,
)

NUMBERS = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60)


@given(values=NUMBERS, wanted=st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_percentiles_are_those_of_numpy_to_the_last_digit(values: list[float], wanted: list[float]) -> None:
    expected = numpy.percentile(values, wanted, method="linear")
    assert percentiles_of(numpy.sort(values), wanted) == expected.tolist()


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), offset=st.sampled_from([0.0, 7e6, 1e12]))
def test_the_deviation_is_that_of_exact_arithmetic_also_far_from_zero(values: list[float], offset: float) -> None:
    given_values = [value + offset for value in values]
    exact = [Fraction(value) for value in given_values]
    mean = sum(exact) / len(exact)
    expected = math.sqrt(float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)))
    assert deviation(numpy.array(given_values)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_many_values_are_sorted_and_their_deviation_found_as_of_few() -> None:
    rng = numpy.random.default_rng(3)
    values = rng.lognormal(3, 1, MANY_VALUES + 12_345).round(2)
    values[rng.random(len(values)) < 0.1] = numpy.nan
    known = values[~numpy.isnan(values)]
    assert numpy.array_equal(ascending(values), numpy.sort(known))
    series = pl.Series(values).fill_nan(None)
    assert numpy.array_equal(ascending(series), numpy.sort(known))
    infinite = series.set(pl.Series(numpy.arange(len(values)) == 5), numpy.inf)
    assert len(ascending(infinite)) == len(known) - (not numpy.isnan(values[5]))
    assert deviation(known) == pytest.approx(numpy.std(known, ddof=1), rel=1e-13)
    assert deviation(numpy.full(MANY_VALUES, 0.1)) == 0


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
