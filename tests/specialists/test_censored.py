"""Which texts are results beyond a detection limit."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.columns.censored import find_censored


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("<0.01", 0.01),
        ("< 0.05", 0.05),
        (" <.5 ", 0.5),
        ("≤2", 2.0),
        ("<=3", 3.0),
        ("< = 3", 3.0),
        ("0.01<", 0.01),
        ("<0.01 ppm", 0.01),
        ("<5mg/kg", 5.0),
        ("<1e-3", 0.001),
    ],
)
def test_spellings_of_below_a_limit(text: str, limit: float) -> None:
    found = find_censored(pl.Series([text, None, "7"]))
    assert found.below.to_list() == [True, False, False]
    assert found.above.to_list() == [False, False, False]
    assert found.limits.to_list() == [limit, None, None]


@pytest.mark.parametrize(("text", "limit"), [(">10", 10.0), (">= 10", 10.0), ("≥10", 10.0), ("10>", 10.0)])
def test_spellings_of_above_a_limit(text: str, limit: float) -> None:
    found = find_censored(pl.Series([text]))
    assert found.above.to_list() == [True]
    assert found.limits.to_list() == [limit]


@pytest.mark.parametrize(
    "text", ["bdl", "BDL", "b.d.l.", "nd", "N.D.", "not detected", "Non-detect", "<LOD", "< DL", "<mdl"]
)
def test_words_for_below_the_limit(text: str) -> None:
    found = find_censored(pl.Series([text, "0.5", "0.7"]))
    assert found.words.to_list() == [True, False, False]
    assert found.count == 1


@pytest.mark.parametrize("text", ["5", "-0.01", "<", "<x", "a<5", "1<2", "lod", "", "<1.2.3"])
def test_what_is_not_censored(text: str) -> None:
    assert find_censored(pl.Series([text, "0.5", "0.7"])).count == 0


def test_state_codes_are_no_results() -> None:
    assert find_censored(pl.Series(["ND", "SD", "TX", "ND"])).count == 0


def test_a_comma_in_a_limit_is_a_decimal_only_where_the_column_leaves_no_doubt() -> None:
    assert find_censored(pl.Series(["<0,01", "0,5"])).limits.to_list() == [0.01, None]
    assert find_censored(pl.Series(["<1,000", "2,500"])).limits.to_list() == [None, None]
    assert find_censored(pl.Series(["<1,5", "2.5"])).limits.to_list() == [None, None]


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1, max_size=20))
def test_every_limit_is_read_as_python_reads_it(numbers: list[float]) -> None:
    found = find_censored(pl.Series([f"<{number!r}" for number in numbers]))
    assert found.limits.to_list() == numbers
    assert found.below.all()
