"""Rows by the value of a column, and files of figures about a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.tables import Table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolContext
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics.ordered import rows_by_value

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]

ALIKE_SHOWN = 3
ALL_ROWS = "(all rows)"
MISSING_GROUP = "(missing)"


def rows_by_group(table: Table, by: str | None) -> dict[str, Rows]:
    """Row numbers of each group, in the order of the values; rows without a value form the last one, `(missing)`."""
    import numpy

    if by is None:
        return {ALL_ROWS: numpy.arange(table.height)}
    values, rows = rows_by_value(table.column(by))
    known = {str(value) for value in values if value is not None}
    without = MISSING_GROUP
    while without in known:
        without = f"{without}*"
    return {without if value is None else str(value): each for value, each in zip(values, rows, strict=True)}


def alike_notes(groups: Iterable[str], by: str) -> list[str]:
    """A note where groups differ only in case or blanks."""
    spelt: dict[str, list[str]] = {}
    for name in groups:
        spelt.setdefault(" ".join(name.casefold().split()), []).append(name)
    alike = [names for names in spelt.values() if len(names) > 1]
    if not alike:
        return []
    told = "; ".join(" and ".join(map(repr, names[:ALIKE_SHOWN])) for names in alike[:ALIKE_SHOWN])
    more = f" and {len(alike) - ALIKE_SHOWN} more" if len(alike) > ALIKE_SHOWN else ""
    return [
        f"CHECK: groups of {by} that differ only in case or blanks count as different: {told}{more} "
        "(standardize_terms makes them one)"
    ]


def put_figures(
    context: ToolContext,
    tool: Tool,
    table: Table,
    made_of: dict[str, Any],
    frame: pl.DataFrame,
    title: str,
    part: str = "",
) -> Published:
    """Write a table of figures about `table` as CSV."""
    return publish(
        context,
        tool,
        [table.path],
        made_of,
        extension="csv",
        kind="table",
        title=title,
        part=part,
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table),
    )
