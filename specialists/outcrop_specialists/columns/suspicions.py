"""Says beside a figure what may be wrong with it: fill values and a row of totals that went into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.totals import suspected_total
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
    if len(found) > COLUMNS_TOLD:
        found[COLUMNS_TOLD:] = [f"{len(found) - COLUMNS_TOLD} more"]
    last = table.slice(-1, 1, table.columns[:2])
    total = suspected_total([str(value) for value in last.row(0)]) if last.height else None
    if total:
        found.append(f"a last row that looks like a total ({total!r})")
    return f". CAUTION: includes {'; '.join(found)}; see notes" if found else ""
