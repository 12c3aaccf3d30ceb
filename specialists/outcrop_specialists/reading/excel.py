"""Reads the sheets of an Excel or OpenDocument workbook as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from functools import partial
from io import BytesIO
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.block_tables import blocks_as_candidates
from outcrop_specialists.reading.blocks import find_blocks, kind_of
from outcrop_specialists.reading.excel_cells import find_hidden_cells
from outcrop_specialists.reading.header import Record, fill
from outcrop_specialists.reading.layout import lay_out
from outcrop_specialists.reading.merged import fill_merged
from outcrop_specialists.reading.several import Candidate, choose
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.totals import statistic_of
from outcrop_specialists.reading.types import NUMBER

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

LARGEST_WHOLE_FLOAT = 1e15
NAMED_CELLS = 8
IS_NUMBER = re.compile(NUMBER)


def read_excel(path: Path, wanted: str = "") -> Table:
    """The sheet that is wanted, or the only visible one with measurements, the others noted. Raises DataError."""
    return choose(path, workbook_tables(path), wanted)


def workbook_tables(path: Path) -> list[Candidate]:
    """The worksheets, hidden ones too, and the tables of a sheet that holds several. Raises DataError."""
    from python_calamine import CalamineError, CalamineWorkbook

    found: list[Candidate] = []
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
        for data in book.sheets_metadata:
            if str(data.typ).endswith(".WorkSheet"):
                is_hidden = not str(data.visible).endswith(".Visible")
                found += _tables_of(path, book.get_sheet_by_name(data.name), is_hidden)
    except CalamineError as error:
        raise DataError(f"{path.name}: is not a workbook that can be read: {error}") from error
    return found


def _tables_of(path: Path, sheet: CalamineSheet, is_hidden: bool) -> list[Candidate]:
    notes: list[str] = []
    records = _records(sheet, notes)
    blocks = find_blocks(records) if any(not fill(fields) for _, fields in records) else []
    if len(blocks) > 1:
        return [
            Candidate(
                each.name, each.kind, each.lines, partial(_checked, path, sheet.name, records, each.read), is_hidden
            )
            for each in blocks_as_candidates(path, blocks, notes, prefix=f"{sheet.name}#")
        ]

    def read() -> Table:
        return lay_out(path, records, [*notes, *_check_hidden_cells(path, sheet.name, records)])

    return [Candidate(sheet.name, kind_of(records), len(records), read, is_hidden, "sheet")]


def _checked(path: Path, sheet: str, records: list[Record], read: Any) -> Table:
    from dataclasses import replace

    notes = _check_hidden_cells(path, sheet, records)
    table: Table = read()
    return replace(table, notes=(*notes, *table.notes))


def _records(sheet: CalamineSheet, notes: list[str]) -> list[Record]:
    rows = sheet.to_python()
    top, left = sheet.start or (0, 0)
    fill_merged(rows, sheet.merged_cell_ranges or [], (top, left), notes)
    _note_numbers_as_text(rows, left, notes)
    return [(line, [_as_text(cell) for cell in row]) for line, row in enumerate(rows, start=top + 1)]


def _note_numbers_as_text(rows: Sequence[Sequence[Any]], left: int, notes: list[str]) -> None:
    found = []
    for index, cells in enumerate(zip(*rows, strict=False)):
        texts = sum(isinstance(cell, str) and IS_NUMBER.match(cell.strip()) is not None for cell in cells)
        if texts and any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells):
            found.append(f"{_letters(left + index)} {texts}")
    if found:
        more = f" and {len(found) - NAMED_CELLS} more" if len(found) > NAMED_CELLS else ""
        notes.append(f"numbers stored as text beside numbers, cells in column {', '.join(found[:NAMED_CELLS])}{more}")


def _letters(index: int) -> str:
    """The name of a column of a sheet: A, B, … Z, AA."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


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


def _check_hidden_cells(path: Path, sheet: str, records: list[Record]) -> list[str]:
    """Notes on error cells, percentages, and formulas without a stored result in rows of totals. Raises DataError for
    such formulas elsewhere: they would read as missing."""
    hidden = find_hidden_cells(path, sheet)
    notes = []
    if hidden.percent:
        told = ", ".join(f"{column} {count}" for column, count in list(hidden.percent.items())[:NAMED_CELLS])
        notes.append(
            f"CHECK: cells shown as percentages are read as the fractions that they hold (12.5 % as 0.125), cells in "
            f"column {told}"
        )
    totals = _rows_of_totals(records) if hidden.uncomputed else set()
    if hidden.uncomputed and all(int(cell.lstrip(ascii_uppercase)) in totals for cell in hidden.uncomputed):
        notes.append(
            f"CHECK: {len(hidden.uncomputed)} formula cells in rows of totals hold no stored result and read as "
            f"missing ({_cells(hidden.uncomputed)})"
        )
    elif hidden.uncomputed:
        raise DataError(
            f"{path.name}: {len(hidden.uncomputed)} formula cells of sheet {sheet!r} hold no stored result "
            f"({_cells(hidden.uncomputed)}); open and save the workbook in a spreadsheet program"
        )
    if hidden.errors:
        notes.append(f"CHECK: {len(hidden.errors)} cells hold an error and read as missing ({_cells(hidden.errors)})")
    return notes


def _rows_of_totals(records: list[Record]) -> set[int]:
    """The rows of a sheet that are called total, mean or the like."""
    return {line for line, fields in records if any(statistic_of(cell) is not None for cell in fields[:2] if cell)}


def _cells(addresses: Sequence[str]) -> str:
    more = f" and {len(addresses) - NAMED_CELLS} more" if len(addresses) > NAMED_CELLS else ""
    return ", ".join(addresses[:NAMED_CELLS]) + more
