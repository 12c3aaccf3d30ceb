"""Sheets of a workbook as people make them: several, hidden, merged, stacked, with numbers as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zipfile import ZipFile

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.listing import list_tables
from outcrop_specialists.reading.several import SeveralTablesError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext

WriteWorkbook = Callable[..., str]


@pytest.fixture
def write_merged(context: ToolContext, write_workbook: WriteWorkbook) -> Callable[[list[list[Any]], list[str]], str]:
    """Write a workbook of one sheet with merged areas such as `A1:C1`."""

    def write(rows: list[list[Any]], areas: list[str]) -> str:
        name = write_workbook("m.xlsx", {"S": rows})
        path = context.workspace / name
        with ZipFile(path) as archive:
            files = {member: archive.read(member) for member in archive.namelist()}
        merged = "".join(f'<mergeCell ref="{area}"/>' for area in areas).encode()
        sheet = files["xl/worksheets/sheet1.xml"]
        files["xl/worksheets/sheet1.xml"] = sheet.replace(
            b"</sheetData>", b"</sheetData><mergeCells>" + merged + b"</mergeCells>"
        )
        with ZipFile(path, "w") as archive:
            for member, content in files.items():
                archive.writestr(member, content)
        return name

    return write


def test_sheets_that_are_as_good_are_listed_and_none_is_taken(
    context: ToolContext, write_workbook: WriteWorkbook
) -> None:
    sheets = {
        "collar": [["hole", "depth"], ["K1", 10], ["K2", 20]],
        "assay": [["hole", "from", "Au"], ["K1", 0, 1], ["K1", 1, 2], ["K2", 0, 3]],
    }
    name = write_workbook("b.xlsx", sheets)
    with pytest.raises(SeveralTablesError, match=r"'collar' \(2 rows × 2 columns\), 'assay' \(3 rows × 3 columns\)"):
        read_table(context, name)
    assert read_table(context, f"{name}#assay").frame.height == 3
    assert read_table(context, f"{name}#2").name == "assay"


def test_a_sheet_of_keys_and_values_is_no_rival(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    sheets = {
        "Info": [["Client", "ACME"], ["Lab", "ALS"], ["Samples", 2], ["Batch", "X12"]],
        "Data": [["id", "Au"], ["a", 1], ["b", 2]],
    }
    table = read_table(context, write_workbook("b.xlsx", sheets))
    assert (table.name, table.frame.rows()) == ("Data", [("a", 1), ("b", 2)])
    assert "sheet 'Data' read; NOT read: 'Info' (4 lines)" in table.notes


def test_a_hidden_sheet_is_never_taken_unasked(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    rows = [["id", "Au"], ["a", 1], ["b", 2]]
    name = write_workbook("b.xlsx", {"ReadMe": [["nothing here"]], "old": rows}, hidden=["old"])
    with pytest.raises(DataError, match=r"no visible sheet holds a header and rows; .*'old' \(3 lines, hidden\)"):
        read_table(context, name)
    assert read_table(context, f"{name}#old").frame.height == 2


def test_tables_below_each_other_on_a_sheet_are_told_apart(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    rows = [
        ["Collars"],
        ["hole", "x", "y"],
        ["K1", 1, 2],
        ["K2", 3, 4],
        [None],
        ["Assays"],
        ["hole", "from", "to", "Au"],
        ["K1", 0, 1, 0.5],
        ["K2", 1, 2, 0.7],
    ]
    name = write_workbook("b.xlsx", {"S": rows})
    assert [each.name for each in list_tables(context, name)] == ["S#Collars", "S#Assays"]
    table = read_table(context, f"{name}#S#Assays")
    assert table.frame.rows() == [("K1", 0, 1, 0.5), ("K2", 1, 2, 0.7)]


def test_values_of_merged_cells_hold_for_all_their_rows(
    context: ToolContext, write_merged: Callable[[list[list[Any]], list[str]], str]
) -> None:
    rows = [
        ["Drilling of 2024", None, None, None],
        ["hole", "rock", "from", "Au"],
        ["K1", "shale", 0, 0.1],
        [None, None, 1, 0.3],
        [None, "coal", 2, 0.5],
        ["K2", None, 0, 0.7],
    ]
    table = read_table(context, write_merged(rows, ["A1:D1", "A3:A5", "B3:B4"]))
    assert table.frame.rows() == [
        ("K1", "shale", 0, 0.1),
        ("K1", "shale", 1, 0.3),
        ("K1", "coal", 2, 0.5),
        ("K2", None, 0, 0.7),
    ]
    assert "3 empty cells of merged areas were given the value of the area" in table.notes


def test_a_merged_group_name_goes_to_each_of_its_columns(
    context: ToolContext, write_merged: Callable[[list[list[Any]], list[str]], str]
) -> None:
    rows = [
        ["hole", "fire assay", None, "ICP", None],
        [None, "Au", "Ag", "Au", "Cu"],
        ["K1", 1, 2, 3, 4],
        ["K2", 5, 6, 7, 8],
    ]
    table = read_table(context, write_merged(rows, ["A1:A2", "B1:C1", "D1:E1"]))
    assert table.frame.height == 2
    assert len({name for name in table.frame.columns if "Au" in name}) == 2
    assert "2 merged group names of the header were given to each of their columns" in table.notes


def test_numbers_stored_as_text_are_counted_by_column(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    rows = [["id", "Au", "code"], ["a", 1, "007"], ["b", "2.5", "010"], ["c", "3", "x"]]
    table = read_table(context, write_workbook("b.xlsx", {"S": rows}))
    assert table.frame["Au"].to_list() == [1.0, 2.5, 3.0]
    assert table.frame["code"].to_list() == ["007", "010", "x"]
    assert "numbers stored as text beside numbers, cells in column B 2" in table.notes


def test_a_formula_whose_result_is_empty_text_has_a_result(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    path = context.workspace / write_workbook("b.xlsx", {"S": [["a", "b"], [1, "=A2"], [2, 5]]})
    with ZipFile(path) as archive:
        files = {member: archive.read(member) for member in archive.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"]
    files["xl/worksheets/sheet1.xml"] = sheet.replace(
        b'<c r="B2"><f>A2</f></c>', b'<c r="B2" t="str"><f>IF(A2=1,"",A2)</f><v></v></c>'
    )
    with ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    assert read_table(context, "b.xlsx").frame["b"].to_list() == [None, 5]


def test_a_remark_far_below_is_not_lost(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    rows: list[list[Any]] = [["n", "remark"], *([number, None] for number in range(1_500)), [1_500, "check assay"]]
    table = read_table(context, write_workbook("b.xlsx", {"S": rows}))
    assert table.frame.row(-1) == (1_500, "check assay")
    assert table.frame["remark"].null_count() == 1_500


def test_lines_above_a_table_become_its_header(context: ToolContext, write_workbook: WriteWorkbook) -> None:
    rows = [["#", "Total depth [m]", 946], ["#", "Datum", "NAD 83"], ["MD", "INC", "AZI"], [1.5, 2, 3], [2.5, 3, 4]]
    table = read_table(context, write_workbook("b.xlsx", {"S": rows}))
    assert table.header == {"Total depth [m]": "946", "Datum": "NAD 83"}


def test_groups_merged_over_all_columns_stand_above_the_names(
    context: ToolContext, write_merged: Callable[[list[list[Any]], list[str]], str]
) -> None:
    rows: list[list[Any]] = [
        ["Sample", "", "Gold", "", "Base metals", ""],
        ["ID", "Date", "FA", "Repeat", "Cu", "Zn"],
        ["", "", "g/t", "g/t", "%", "ppm"],
        *[[f"S{i}", f"2020-01-0{i}", i / 10, i / 11, i / 2, 100 + i] for i in range(1, 9)],
    ]
    table = read_table(context, write_merged(rows, ["A1:B1", "C1:D1", "E1:F1"]))
    assert table.frame.columns == ["ID", "Date", "FA", "Repeat", "Cu", "Zn"]
    assert table.units["FA"] == "g/t"
    assert table.frame.height == 8
