"""Reads one sheet of an Excel or OpenDocument workbook as a table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.excel_cells import find_hidden_cells
from outcrop_specialists.reading.header import Record
from outcrop_specialists.reading.layout import lay_out
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

LARGEST_WHOLE_FLOAT = 1e15


def read_excel(path: Path) -> Table:
    """The table of the first visible sheet that holds one; the other sheets are named in a note. Raises DataError."""
    from python_calamine import CalamineError, CalamineWorkbook

    with path.open("rb") as file:
        try:
            book = CalamineWorkbook.from_filelike(file)
            sheet = _choose(path, book)
            notes = _notes(book, sheet) + _check_hidden_cells(path, sheet.name)
        except CalamineError as error:
            raise DataError(f"{path.name}: is not a workbook that can be read: {error}") from error
        return lay_out(path, _records(sheet), notes)


def _choose(path: Path, book: CalamineWorkbook) -> CalamineSheet:
    visible = [data.name for data in book.sheets_metadata if _is_visible(data)]
    sheets = [book.get_sheet_by_name(name) for name in visible]
    found = next((sheet for sheet in sheets if sheet.height >= 2), None)
    if found is None:
        listed = ", ".join(f"{sheet.name!r} ({sheet.height} lines)" for sheet in sheets)
        raise DataError(f"{path.name}: no visible sheet holds a header and rows; there are {listed or 'none'}")
    return found


def _is_visible(data: Any) -> bool:
    return str(data.visible).endswith(".Visible") and str(data.typ).endswith(".WorkSheet")


def _notes(book: CalamineWorkbook, sheet: CalamineSheet) -> list[str]:
    others = []
    for data in book.sheets_metadata:
        if data.name != sheet.name:
            hidden = "" if _is_visible(data) else ", hidden"
            rows = book.get_sheet_by_name(data.name).height if str(data.typ).endswith(".WorkSheet") else 0
            others.append(f"{data.name!r} ({rows} lines{hidden})")
    notes = [f"sheet {sheet.name!r} read; NOT read: {', '.join(others)}"] if others else []
    tall = [area for area in sheet.merged_cell_ranges or [] if area[0][0] != area[1][0]]
    if tall:
        notes.append(f"CHECK: {len(tall)} merged areas span several rows: the value stands in their first row only")
    return notes


def _records(sheet: CalamineSheet) -> Iterator[Record]:
    first = sheet.start[0] if sheet.start else 0
    for line, row in enumerate(sheet.to_python(), start=first + 1):
        yield line, [_as_text(cell) for cell in row]


def _as_text(cell: Any) -> str:
    """A cell as text that reads back to the same value."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < LARGEST_WHOLE_FLOAT else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


def _check_hidden_cells(path: Path, sheet: str) -> list[str]:
    """Notes on error cells. Raises DataError for formulas without a stored result: they would read as missing."""
    hidden = find_hidden_cells(path, sheet)
    if hidden.uncomputed:
        raise DataError(
            f"{path.name}: {len(hidden.uncomputed)} formula cells hold no stored result "
            f"(first {hidden.uncomputed[0]}); open and save the workbook in a spreadsheet program"
        )
    if hidden.errors:
        return [f"CHECK: {len(hidden.errors)} cells hold an error and read as missing (first {hidden.errors[0]})"]
    return []
