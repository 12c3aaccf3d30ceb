"""The tool that turns results beyond a detection limit into numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.columns.limit_parsing import parse_results
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning.parse_detection_limits import Arguments, run

WriteRows = Callable[..., str]
MIXED = ["<0.01", "< 0.05", "-0.01", "0.20", "bdl", ">10", "0.40", None]


@pytest.mark.parametrize(
    ("method", "values"),
    [
        ("half", [0.005, 0.025, -0.01, 0.2, None, 10.0, 0.4, None]),
        ("zero", [0.0, 0.0, -0.01, 0.2, 0.0, 10.0, 0.4, None]),
        ("value", [0.01, 0.05, -0.01, 0.2, None, 10.0, 0.4, None]),
    ],
)
def test_results_become_numbers_by_the_method_with_their_qualifiers(method: Any, values: list[float | None]) -> None:
    found = parse_results(pl.Series("Au", MIXED), method)
    assert found.values.to_list() == values
    assert found.qualifiers.to_list() == ["<", "<", "", "", "<", ">", "", ""]
    assert found.counts == {
        "name": "Au",
        "below": 2,
        "above": 1,
        "special": 1,
        "numbers": 3,
        "unparsed": 0,
        "missing": 1,
        "limits": [0.01, 0.05],
        "upper_limits": [10.0],
        "share_censored": 4 / 7,
    }
    assert any("1 negative numbers kept as they are" in note for note in found.notes)
    assert any("1 results such as 'bdl' are below a limit that is not given" in note for note in found.notes)


def test_what_is_no_result_becomes_missing_and_is_counted_with_its_row() -> None:
    found = parse_results(pl.Series("Au", ["<0.01", "0.5", "see note", "0.7", "<1,000"]), "half")
    assert found.values.to_list() == [0.005, 0.5, None, 0.7, None]
    assert found.counts["unparsed"] == 2
    assert "2 values are no results in the column's unit and became missing, the first in data row 3" in found.notes[0]


def test_a_limit_in_another_unit_is_not_parsed() -> None:
    column = pl.Series("Au", ["<10 ppb", "<0.01 ppm", "<0.02 g/t", "0.5"])
    assert parse_results(column, "value", "ppm").values.to_list() == [None, 0.01, 0.02, 0.5]
    assert parse_results(column, "value").values.to_list() == [None, None, None, 0.5]
    assert parse_results(pl.Series(["<10 ppb", "20"]), "value").values.to_list() == [10.0, 20.0]


def test_decimal_commas_are_parsed_where_the_column_leaves_no_doubt() -> None:
    assert parse_results(pl.Series(["<0,02", "1,5", "2"]), "half").values.to_list() == [0.01, 1.5, 2.0]


RESULT = st.floats(1e-3, 1e3).map(lambda number: (repr(number), number, number, ""))
BELOW = st.floats(1e-3, 1e3).map(lambda number: (f"<{number!r}", number / 2, number, "<"))
ABOVE = st.floats(1e-3, 1e3).map(lambda number: (f"> {number!r}", number, number, ">"))


@given(st.lists(RESULT | BELOW | ABOVE, min_size=1, max_size=20))
def test_every_value_is_kept_and_counted_once(cells: list[tuple[str, float, float, str]]) -> None:
    column = pl.Series("v", [text for text, *_ in cells])
    half, value = parse_results(column, "half"), parse_results(column, "value")
    assert half.values.to_list() == [expected for _, expected, _, _ in cells]
    assert value.values.to_list() == [limit for _, _, limit, _ in cells]
    assert half.qualifiers.to_list() == [sign for *_, sign in cells]
    assert half.counts["below"] + half.counts["above"] + half.counts["numbers"] == len(cells)


def test_all_columns_with_results_beyond_a_limit_are_parsed(
    context: ToolContext, write_rows: WriteRows, read_rows: Callable[[str], list[list[str]]]
) -> None:
    rows = [["s1", "<0.01", 5, "ND"], ["s2", "0.5", 6, "TX"], ["s3", "", 7, "SD"]]
    found = run(context, Arguments(path=write_rows("t.csv", ["id", "Au", "Cu", "state"], rows)))
    assert read_rows(found.artifacts[0].path) == [
        ["id", "Au", "Au_q", "Cu", "state"],
        ["s1", "0.005", "<", "5", "ND"],
        ["s2", "0.5", "", "6", "TX"],
        ["s3", "", "", "7", "SD"],
    ]
    assert [column["name"] for column in found.results["columns"]] == ["Au"]
    table = read_table(context, found.artifacts[0].path)
    assert table.frame["Au"].dtype == pl.Float64
    again = run(context, Arguments(path=found.artifacts[0].path))
    assert again.results["columns"] == []
    assert any("no column holds results beyond a detection limit" in note for note in again.notes)
    assert any("are not replaced again: 'Au' (half)" in note for note in again.notes)
    assert numeric(table, "Au").to_list() == [0.005, 0.5, None]
    limits = censored_values(table, "Au")
    assert (limits.values.to_list(), limits.below.to_list()) == ([0.01, 0.5, None], [True, False, False])


def test_a_name_that_is_taken_is_not_overwritten(context: ToolContext, write_rows: WriteRows) -> None:
    found = run(context, Arguments(path=write_rows("t.csv", ["Au", "Au_q"], [["<1", "mine"], ["2", "too"]])))
    table = read_table(context, found.artifacts[0].path)
    assert table.frame.columns == ["Au", "Au_q_", "Au_q"]
    assert table.frame["Au_q"].to_list() == ["mine", "too"]


def test_a_column_that_holds_no_results_is_refused(context: ToolContext, write_rows: WriteRows) -> None:
    name = write_rows("t.csv", ["rock", "Au"], [["shale", "<1"], ["sand", "2"]])
    with pytest.raises(ArgumentError, match=r"'rock' of t\.csv holds 2 of 2 values that are no results"):
        run(context, Arguments(path=name, columns=["rock"]))


def test_a_numeric_column_that_is_named_is_left_as_it_is(context: ToolContext, write_rows: WriteRows) -> None:
    found = run(context, Arguments(path=write_rows("t.csv", ["a", "Au"], [[1, "<1"], [2, "2"]]), columns=["a", "Au"]))
    assert [column["name"] for column in found.results["columns"]] == ["Au"]
    assert "without results beyond a limit, left as they are: 'a'" in found.notes
