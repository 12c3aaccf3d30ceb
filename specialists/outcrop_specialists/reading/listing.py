"""Lists the tables of a file: sheets, sections, blocks, with their sizes."""

from __future__ import annotations

from pathlib import Path

from outcrop_specialists.reading.address import addressed
from outcrop_specialists.reading.several import Listed, SeveralTablesError, listed
from outcrop_specialists.reading.tables import begins_as_workbook, begins_packed, read_table
from outcrop_specialists.tools.base import ToolContext


def list_tables(context: ToolContext, path: str | Path) -> list[Listed]:
    """The tables of a file, hidden ones too, as `path#name` names them; one without a name for a file of one table.

    Raises PathError, and DataError where the file holds nothing that can be read.
    """
    resolved, _ = addressed(context.workspace, path)
    try:
        table = read_table(context, resolved)
    except SeveralTablesError as error:
        return list(error.tables)
    return tables_of(resolved) if table.name else [Listed("", table.height, len(table.columns))]


def tables_of(path: Path) -> list[Listed]:
    """The tables of a file that holds several, none of a packed one. Raises DataError."""
    if begins_packed(path):
        return []
    if begins_as_workbook(path):
        from outcrop_specialists.reading.excel import workbook_tables

        return listed(workbook_tables(path))
    from outcrop_specialists.reading.text import text_tables

    return listed(text_tables(path))
