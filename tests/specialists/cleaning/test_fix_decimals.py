"""fix_decimals: numbers written with commas, read in the one way that there is."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.cleaning import fix_decimals
from outcrop_specialists.tools.cleaning.decimals import repair

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


WriteFrame = Callable[[str, pl.DataFrame], str]


@pytest.mark.parametrize(
    ("written", "certain", "comma", "point"),
    [
        ("1,5", "1.5", "1.5", "1,5"),
        ("-0,123", "-0.123", "-0.123", "-0,123"),
        (",25", ".25", ".25", ",25"),
        ("1.234,56", "1234.56", "1234.56", "1.234,56"),
        ("1,234.56", "1234.56", "1,234.56", "1234.56"),
        ("1,234,567", "1234567", "1,234,567", "1234567"),
        ("1.234.567", "1234567", "1234567", "1.234.567"),
        ("1,234", "1,234", "1.234", "1234"),
        ("12345,678", "12345.678", "12345.678", "12345,678"),
        ("<0,5", "<0.5", "<0.5", "<0,5"),
        ("1 234,5", "1234.5", "1234.5", "1 234,5"),
        ("1'234.5", "1234.5", "1234.5", "1234.5"),
        ("1 234", "1234", "1234", "1234"),
        ("1.5", "1.5", "1.5", "1.5"),
        ("1,5E-3", "1.5E-3", "1.5E-3", "1,5E-3"),
        ("1,2,3", "1,2,3", "1,2,3", "1,2,3"),
        ("shale, grey", "shale, grey", "shale, grey", "shale, grey"),
        ("007", "007", "007", "007"),
    ],
)
def test_a_number_is_read_in_the_one_way_that_there_is(written: str, certain: str, comma: str, point: str) -> None:
    column = pl.Series("v", [written])
    assert repair(column, None).text.item() == certain
    assert repair(column, "decimal_comma").text.item() == comma
    assert repair(column, "decimal_point").text.item() == point


@given(value=st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 2)))
def test_any_number_with_two_decimals_is_repaired_from_any_way_of_writing(value: float) -> None:
    english = f"{value:,.2f}"
    column = pl.Series("v", [english, english.translate(str.maketrans(",.", ".,"))])
    repaired = repair(column, None)
    assert [float(text) for text in repaired.text] == [value, value]
    assert not repaired.ambiguous.any()


def test_certain_numbers_are_repaired_and_ambiguous_ones_are_counted(made: Made, write_frame: WriteFrame) -> None:
    frame = pl.DataFrame(
        {"a": ["1,5", "2,25", None], "b": ["1,234", "1,5", "3"], "c": ["x, y", "z", "w"], "d": [1.5, 2.5, 3.5]}
    )
    name = write_frame("t.parquet", frame)
    fixed, found = made("fix_decimals", path=name)
    assert fixed["a"].to_list() == [1.5, 2.25, None]
    assert fixed["b"].to_list() == ["1,234", "1.5", "3"]
    assert fixed["c"].to_list() == frame["c"].to_list()
    assert (found.results["repaired"], found.results["ambiguous"]) == (3, 1)
    assert found.results["columns"]["b"]["first_ambiguous_row"] == 1
    assert any("read in two ways and left as they are: b 1" in note for note in found.notes)
    all_read, _ = made("fix_decimals", path=name, convention="decimal_comma")
    assert all_read["b"].to_list() == [1.234, 1.5, 3.0]
    english, _ = made("fix_decimals", path=name, columns=["b"], convention="decimal_point")
    assert english["b"].to_list() == ["1234", "1,5", "3"]


def test_nothing_to_repair_writes_nothing_and_numbers_are_no_text(
    run: Callable[..., ToolResult], write_frame: WriteFrame
) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"a": ["1.5", "2"], "d": [1.5, 2.5]}))
    found = run("fix_decimals", path=name)
    assert found.artifacts == []
    assert found.results["path"] == name
    with pytest.raises(ArgumentError, match="no text to repair"):
        run("fix_decimals", path=name, columns=["d"])


def test_points_that_the_reader_found_open_are_counted_as_such(
    write_file: Callable[[str, str], str], context: ToolContext
) -> None:
    name = write_file("t.csv", "id;Cu;w\n" + "".join(f"P{i};{i}.41{i};1{i},5\n" for i in range(1, 10)))
    found = fix_decimals.run(context, fix_decimals.Arguments(path=name))
    assert found.results["ambiguous"] == 9
    assert "9 values can be read in two ways" in found.summary
    repaired = fix_decimals.run(context, fix_decimals.Arguments(path=name, convention="decimal_comma"))
    assert repaired.results["repaired"] == 9
