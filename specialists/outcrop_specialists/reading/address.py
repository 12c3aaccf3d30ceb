"""Which table of a file is meant: `path#name` is the sheet, section or block `name` of the file `path`."""

from __future__ import annotations

from pathlib import Path, PosixPath

from outcrop_schemas.errors import PathError
from outcrop_specialists.paths import data_file, resolve_inside

MARK = "#"
ALL = "*"
"""`path#*`: all tables of the file that have the same columns, one below the other."""


class TablePath(PosixPath):
    """The path of a file of which one table of several was read; `table` is its name as in `path#name`.

    What is derived from two sheets of one workbook must not get the same name, so the name travels with the path.
    """

    table: str = ""

    @classmethod
    def of(cls, path: Path, table: str) -> Path:
        """`path` itself where no table is named."""
        if not table:
            return path
        found = cls(path)
        found.table = table
        return found


def table_of(path: Path) -> str:
    """The name of the table that was read from this path, empty where the file holds one."""
    return path.table if isinstance(path, TablePath) else ""


def addressed(workspace: Path, path: str | Path) -> tuple[Path, str]:
    """The data file of a path and the name of the table in it, empty where none is given.

    A file whose whole name is `path` comes first: `#` may stand in file names. Raises PathError.
    """
    text, at = str(path), _end_of_file(workspace, path)
    try:
        return data_file(workspace, text[:at]), text[at + 1 :].strip()
    except PathError as error:
        raise PathError(path, error.reason) from error


def folder_of(workspace: Path, path: str | Path) -> Path:
    """The folder of the data file of a path, whether the file is there or not. Raises PathError."""
    return (workspace / str(path)[: _end_of_file(workspace, path)]).parent


def _end_of_file(workspace: Path, path: str | Path) -> int:
    """How many characters of a path are that of the file: the longest that there is, else all before the first mark."""
    text = str(path)
    marks = [at for at in range(1, len(text)) if text[at] == MARK]
    for at in (len(text), *reversed(marks)):
        if resolve_inside(workspace, text[:at]).is_file():
            return at
    return marks[0] if marks else len(text)
