"""Whether what stands for the names of a table's columns are the cells of its first row: the file has no header.

Words alone do not tell (`quartz, granite` may be either); a figure, a date, a value of the same column or a name made
like the values below it does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from outcrop_specialists.context.attachments import is_cell

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

ALIKE = 0.8
SAMPLED_ROWS = 1_000
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
_LETTERS, _FIGURES = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


def is_headless(table: Table) -> bool:
    """Whether one of the names is a cell. No name of such a table is shown."""
    import polars as pl

    for name, kind in table.schema.items():
        if is_cell(name) or _DATE.fullmatch(name):
            return True
        if kind == pl.String and _is_value(name, table.column(name).drop_nulls()):
            return True
    return False


def _is_value(name: str, column: pl.Series) -> bool:
    if not len(column):
        return False
    if bool((column == name).any()):
        return True
    shape = _shape(name)
    values = column.head(SAMPLED_ROWS).to_list()
    return "9" in shape and sum(_shape(value) == shape for value in values) >= ALIKE * len(values)


def _shape(text: str) -> str:
    """`KES-0001` and `MB-12` are made alike: letters, a sign, figures."""
    return _FIGURES.sub("9", _LETTERS.sub("a", text))
