"""Publishes the table that a cleaning tool made of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from outcrop_specialists.reading.tables import Table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext
from outcrop_specialists.tools.publish import Published, publish

if TYPE_CHECKING:
    import polars as pl


def publish_table(
    context: ToolContext,
    tool: Tool,
    table: Table,
    arguments: ToolArguments,
    frame: pl.DataFrame,
    title: str,
    *,
    substituted: Mapping[str, str] | None = None,
) -> Published:
    """Write `frame`, made from `table` with `arguments` (their path apart), as CSV with its lineage.

    A column with results beyond a limit keeps its qualifiers where `frame` has both (`censoring.with_qualifiers`).
    `substituted` gives the method for columns where the tool itself put something in place of such results.
    """
    return publish(
        context,
        tool,
        [table.path],
        arguments.model_dump(mode="json", exclude={"path"}),
        extension="csv",
        kind="table",
        title=title,
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table, substituted),
    )
