"""What a workbook's XML says about cells: percentages, and formulas without a result in rows of totals."""

from __future__ import annotations

import re
from collections.abc import Callable
from zipfile import ZipFile

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext

WriteWorkbook = Callable[..., str]
STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2">'
    '<numFmt numFmtId="164" formatCode="0.0%"/><numFmt numFmtId="165" formatCode="0&quot;%&quot;"/></numFmts>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/></cellXfs>'
    "</styleSheet>"
)


def rewrite(context: ToolContext, name: str, change: Callable[[str], str], styles: str = "") -> None:
    """Change the XML of the sheet of a workbook."""
    path = context.workspace / name
    with ZipFile(path) as archive:
        files = {member: archive.read(member) for member in archive.namelist()}
    sheet = next(member for member in files if member.startswith("xl/worksheets/"))
    files[sheet] = change(files[sheet].decode()).encode()
    if styles:
        files["xl/styles.xml"] = styles.encode()
    with ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)


@pytest.mark.parametrize(("style", "is_percent"), [(1, True), (2, True), (3, False), (0, False)])
def test_cells_shown_as_percentages_are_told(
    context: ToolContext, write_workbook: WriteWorkbook, style: int, is_percent: bool
) -> None:
    name = write_workbook("p.xlsx", {"S": [["id", "share"], ["a", 0.125], ["b", 0.25], ["c", 0.5]]})
    rewrite(context, name, lambda xml: re.sub(r'<c r="(B[2-4])"', rf'<c r="\1" s="{style}"', xml), STYLES)
    table = read_table(context, name)
    assert table.frame["share"].to_list() == [0.125, 0.25, 0.5]
    assert any("read as the fractions that they hold" in n and "column B 3" in n for n in table.notes) == is_percent


@pytest.mark.parametrize(("label", "is_read"), [("Total", True), ("Mean", True), ("K3", False)])
def test_a_formula_without_a_result_in_a_row_of_totals_is_told(
    context: ToolContext, write_workbook: WriteWorkbook, label: str, is_read: bool
) -> None:
    rows = [["id", "Zn"], ["K1", 1.5], ["K2", 2.5], [label, 77.0]]
    name = write_workbook("f.xlsx", {"S": rows})
    rewrite(context, name, lambda xml: re.sub(r'<c r="B4"[^>]*>.*?</c>', '<c r="B4"><f>SUM(B2:B3)</f></c>', xml))
    if not is_read:
        with pytest.raises(DataError, match=r"1 formula cells of sheet 'S' hold no stored result \(B4\)"):
            read_table(context, name)
        return
    table = read_table(context, name)
    assert table.frame["Zn"].drop_nulls().to_list() == [1.5, 2.5]
    assert any(n.startswith("CHECK: 1 formula cells in rows of totals hold no stored result") for n in table.notes)
