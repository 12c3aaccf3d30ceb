"""Runs a tool as a specialist does, and reads what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool


@pytest.fixture
def run(context: ToolContext) -> Callable[..., ToolResult]:
    """Run a tool by name with its arguments."""

    def run(tool: str, **arguments: Any) -> ToolResult:
        return run_tool(get_tool(tool), context, arguments)

    return run


@pytest.fixture
def made(context: ToolContext, run: Callable[..., ToolResult]) -> Callable[..., tuple[pl.DataFrame, ToolResult]]:
    """Run a tool and read the table that it wrote."""

    def made(tool: str, **arguments: Any) -> tuple[pl.DataFrame, ToolResult]:
        found = run(tool, **arguments)
        return read_table(context, found.results["path"]).frame, found

    return made


@pytest.fixture
def table_of(context: ToolContext) -> Callable[[str], Table]:
    return lambda path: read_table(context, path)


@pytest.fixture
def write_frame(context: ToolContext) -> Callable[[str, pl.DataFrame], str]:
    """Write a frame as parquet, so that its types are kept."""

    def write(name: str, frame: pl.DataFrame) -> str:
        frame.write_parquet(context.workspace / name)
        return name

    return write
