"""Reading workbooks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext


def test_cells_keep_their_values(context: ToolContext, write_workbook: Callable[..., str]) -> None:
    rows = [["id", "v", "n", "ok"], ["007", 0.1, 3, True], ["x", 1e-7, 12345678901234, False], ["y", None, 2, None]]
    table = read_table(context, write_workbook("b.xlsx", {"S": rows}))
    assert table.frame.rows() == [("007", 0.1, 3, True), ("x", 1e-7, 12345678901234, False), ("y", None, 2, None)]


def test_the_only_visible_sheet_with_measurements_is_read_and_the_others_are_named(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    sheets = {
        "ReadMe": [["see next sheets"]],
        "old": [["s", "Li"], ["a", 99]],
        "2023": [["s", "Li"], ["a", 10], ["b", 20]],
        "legend": [["code", "meaning"], ["a", "shale"], ["b", "coal"]],
    }
    table = read_table(context, write_workbook("b.xlsx", sheets, hidden=["old"]))
    assert table.frame.rows() == [("a", 10), ("b", 20)]
    assert table.notes == (
        "sheet '2023' read; NOT read: 'ReadMe' (1 lines), 'old' (2 lines, hidden), 'legend' (3 lines)",
    )


def test_preamble_units_and_line_numbers_work_as_in_text(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    rows = [["#", "UWI", "P-135"], ["MD", "INC", "AZI"], ["m", "deg", "deg"], [19.5, 0, 1], [25.25, 1, 2]]
    table = read_table(context, write_workbook("b.xlsx", {"S": rows}))
    assert table.frame.rows() == [(19.5, 0, 1), (25.25, 1, 2)]
    assert table.units == {"MD": "m", "INC": "deg", "AZI": "deg"}
    assert table.notes[:2] == (
        "line 1 above the header skipped (11 characters)",
        "line 3 below the header holds the units of 3 columns",
    )


def test_formulas_without_results_are_refused_and_not_read_as_missing(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    name = write_workbook("b.xlsx", {"S": [["a", "sum"], [1, "=A2*2"], [2, "=A3*2"]]})
    with pytest.raises(DataError, match=r"2 formula cells of sheet 'S' hold no stored result \(B2, B3\)"):
        read_table(context, name)


def test_error_cells_are_counted_and_not_silently_missing(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    sheets = {"other": [["x"]], "S": [["a", "b"], [1, 2], ["#DIV/0!", 3]]}
    table = read_table(context, write_workbook("b.xlsx", sheets))
    assert table.frame["a"].to_list() == [1, None]
    assert "CHECK: 1 cells hold an error and read as missing (A3)" in table.notes


def test_formulas_of_another_sheet_do_not_matter(context: ToolContext, write_workbook: Callable[..., str]) -> None:
    sheets = {"S": [["a"], [1], [2]], "other": [["b"], ["=1+1"]]}
    assert read_table(context, write_workbook("b.xlsx", sheets)).frame.rows() == [(1,), (2,)]


def test_a_workbook_is_known_by_its_content(context: ToolContext, write_workbook: Callable[..., str]) -> None:
    assert read_table(context, write_workbook("b.csv", {"S": [["a"], [1], [2]]})).frame.rows() == [(1,), (2,)]


def test_a_workbook_without_a_table_is_refused(context: ToolContext, write_workbook: Callable[..., str]) -> None:
    with pytest.raises(DataError, match=r"no visible sheet holds a header and rows; there are 'S' \(1 lines\)"):
        read_table(context, write_workbook("b.xlsx", {"S": [["only a title"]], "H": [["a"], [1]]}, hidden=["H"]))
