"""Publishes a table that a tool computed from one or several others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.tables import Table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext
from outcrop_specialists.tools.publish import Published, publish

if TYPE_CHECKING:
    import polars as pl


def publish_frame(
    context: ToolContext,
    tool: Tool,
    inputs: Sequence[Table],
    arguments: ToolArguments,
    frame: pl.DataFrame,
    title: str,
    *,
    part: str = "",
    like: Table | None = None,
    files: Sequence[Path] = (),
    units: Mapping[str, str] | None = None,
    resolved: Mapping[str, Any] | None = None,
) -> Published:
    """Write `frame`, made from `inputs`, as CSV with its lineage.

    Arguments called `path` or `…_path` are left out of the parameters: the record holds the files' hashes. `resolved`
    are arguments as they were understood (column names found by role). `units` go with the columns of the same name;
    `like` is a table whose columns `frame` keeps as they are, with what is known of results beyond a limit in them.
    `files` are inputs that are no tables.
    """
    given = {name: value for name, value in arguments.model_dump(mode="json").items() if not name.endswith("path")}
    known = {name: unit for name, unit in (units or {}).items() if name in frame.columns}
    return publish(
        context,
        tool,
        [*(table.path for table in inputs), *files],
        given | dict(resolved or {}),
        extension="csv",
        kind="table",
        title=title,
        write=lambda path: write_csv(frame, path),
        part=part,
        columns=written_columns(frame, known if like is None else replace(like, units=known)),
    )
