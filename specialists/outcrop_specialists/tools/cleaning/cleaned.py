"""Publishes the table that a cleaning tool made of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcrop_specialists.reading.tables import Table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext
from outcrop_specialists.tools.publish import Published, publish

if TYPE_CHECKING:
    import polars as pl


def publish_table(
    context: ToolContext, tool: Tool, table: Table, arguments: ToolArguments, frame: pl.DataFrame, title: str
) -> Published:
    """Write `frame`, made from `table` with `arguments` (their path apart), as CSV with its lineage."""
    return publish(
        context,
        tool,
        [table.path],
        arguments.model_dump(mode="json", exclude={"path"}),
        extension="csv",
        kind="table",
        title=title,
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table.units),
    )
