"""Says beside a figure what may be wrong with it: fill values and a row of totals that went into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_specialists.reading.limit_rows import SUSPECTED as LIMIT_ROWS
from outcrop_specialists.reading.suspects import is_measured_concentration, negatives_of, values_told
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.totals import NO_LABEL, statistic_of, statistic_rows
from outcrop_specialists.reading.types import sentinels_of

if TYPE_CHECKING:
    import polars as pl

COLUMNS_TOLD = 3


def suspicions(source: pl.DataFrame | Table, columns: Sequence[str]) -> str:
    """Sentences on what is suspected in these columns of a table, to end a tool's own sentence; empty where nothing is.

    Whatever is suspected was used: nothing is left out of a figure without being asked for.
    """
    table = source if isinstance(source, Table) else Table(Path(), source)
    found = []
    for name in columns:
        for value, count in sentinels_of(table.column(name)):
            told = int(value) if value % 1 == 0 else value
            found.append(f"{count} suspected fill {'value' if count == 1 else 'values'} {told} in {name}")
        negative = suspected_negatives(table, name)
        if negative is not None:
            counted = f"{len(negative)} negative numbers in {name} ({values_told(negative)})"
            found.append(f"{counted}, suspected results below a limit")
    if len(found) > COLUMNS_TOLD:
        found[COLUMNS_TOLD:] = [f"{len(found) - COLUMNS_TOLD} more"]
    words = _statistics_below(table)
    if words == [NO_LABEL]:
        found.append("a last row without what all others have in their first column, perhaps a total")
    elif len(words) == 1:
        found.append(f"a last row that looks like a total ({words[0]!r})")
    elif words:
        found.append(f"the last {len(words)} rows, which look like statistics ({', '.join(map(repr, words[:4]))})")
    if any(note.startswith(LIMIT_ROWS) for note in table.notes):
        found.append("rows that look like a laboratory's limits")
    return f". CAUTION: includes {'; '.join(found)}; see notes" if found else ""


def _statistics_below(table: Table) -> list[str]:
    """The labels of the last rows that look like statistics. The columns are read only where the last row is one."""
    names = table.columns[:2]
    last = table.slice(-1, 1, names).rows()
    if last and last[0][0] is not None and not any(isinstance(cell, str) and statistic_of(cell) for cell in last[0]):
        return []
    return [word for _, word in statistic_rows([table.column(name) for name in names])]


def suspected_negatives(table: Table, name: str) -> pl.Series | None:
    """The negative numbers of a column of concentrations or of results beyond a limit; None where there is none."""
    if not table.schema[name].is_numeric():
        return None
    if name not in table.qualifiers and not is_measured_concentration(name, table.units):
        return None
    negative = negatives_of(table.column(name))
    return None if negative.is_empty() else negative
