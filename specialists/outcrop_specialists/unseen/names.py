"""Names that a run gave, to files and to columns of its tables: a script may write anything there, also a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.unseen.headless import is_headless
from outcrop_specialists.unseen.origins import TOOLS, is_of_a_run
from outcrop_specialists.unseen.screen import Tables, screened

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table

_OURS = re.compile(rf"(.+)_(?:{TOOLS})_[0-9a-f]{{8}}\.[a-z]+")


def telling_names(context: ToolContext, paths: Sequence[str], before: Sequence[str]) -> Collection[str]:
    """The files of which the name tells of a row. One that a tool gives, of a file of the user's, tells of none."""
    stems = {PurePosixPath(path).name.partition(".")[0] for path in paths if not is_of_a_run(path)}
    suspects = [path for path in paths if is_of_a_run(path) and not _is_ours(path, stems)]
    if not suspects:
        return ()
    tables = Tables()
    tables.add_others(context)
    shown = screened(suspects, tables, before)
    return {path for path, now in zip(suspects, shown, strict=True) if path != now}


def hides_names(context: ToolContext, path: str, table: Table, before: Sequence[str] = ()) -> bool:
    """Whether the columns of a table must be numbered: its first line is data, or a run named them by cells of rows of
    another table."""
    if is_headless(table):
        return True
    if not is_of_a_run(path):
        return False
    tables = Tables()
    tables.add_others(context, but=[path])
    names = [", ".join(table.columns)]
    return screened(names, tables, before) != names


def _is_ours(path: str, stems: Collection[str]) -> bool:
    found = _OURS.fullmatch(PurePosixPath(path).name)
    return found is not None and found[1] in stems
