"""Numbers and dates that are text only for the way they are written are told; words beside commas are results."""

from __future__ import annotations

import polars as pl
import pytest

from outcrop_specialists.reading.types import type_columns


@pytest.mark.parametrize(
    ("values", "comma", "expected"),
    [
        (["745", "1.234", "894", "2.345"], True, True),
        (["745", "1.234", "894", "2.345"], False, False),
        (["5.125", "1.234", "3.445", "2.345"], True, False),
        (["745", "1.234", "894", "2.34"], True, False),
        (["745", "0.234", "894", "2.345"], True, False),
        (["7450", "1.234", "894", "2.345"], True, False),
    ],
)
def test_points_of_thousands_that_were_read_as_decimals_are_told(
    values: list[str], comma: bool, expected: bool
) -> None:
    found = type_columns([pl.Series("Cu", values)], comma_decimals=comma)
    assert found.columns[0].to_list() == [float(value) for value in values]
    assert any("may mark thousands" in note and "'Cu'" in note for note in found.notes()) == expected


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (["1 234.5", "2 345", "12"], "CHECK: kept as text, though numbers with blanks or apostrophes"),
        (["1'234.5", "2'345.1", "7.5"], "CHECK: kept as text, though numbers with blanks or apostrophes"),
        (["5-Jan-20", "6-Feb-21"], "CHECK: kept as text, though dates with years of two digits"),
        (
            ["2020-02-28", "2020-02-30"],
            "CHECK: kept as text, because dates do not exist: 'x' (1 of 2, first",
        ),
    ],
)
def test_text_that_is_so_only_by_its_writing_is_told(values: list[str], note: str) -> None:
    found = type_columns([pl.Series("x", values)])
    assert found.columns[0].to_list() == values
    assert any(each.startswith(note) for each in found.notes())


@pytest.mark.parametrize(
    "word", ["bdl", "nd", "<LOD", "<LOR", "LOR", "<DL", "< L.O.R.", "below LOR", "<MRL", "not detected"]
)
@pytest.mark.parametrize("mark", [".", ","])
def test_words_for_below_a_limit_leave_a_column_numeric_with_either_decimal_mark(word: str, mark: str) -> None:
    values = [word, f"1{mark}5", f"2{mark}25", word, f"10{mark}5", "7"]
    found = type_columns([pl.Series("Au", values)], comma_decimals=mark == ",")
    assert found.columns[0].to_list() == [None, 1.5, 2.25, None, 10.5, 7]
    assert found.columns[1].to_list() == ["<", "", "", "<", "", ""]
