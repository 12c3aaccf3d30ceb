"""Runs a tool as a specialist does, and reads what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

SOIL = np.random.default_rng(7).lognormal(1, 1, 40)
RANKED = [5.0, 1.0, None, 3.0, 5.0, 2.0]


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


@pytest.fixture
def path(write_frame: Callable[[str, pl.DataFrame], str]) -> str:
    values: list[float | None] = [*SOIL.tolist(), None, 0.0, -2.0]
    rows = len(values)
    frame = pl.DataFrame(
        {
            "hole": [("A", "B", "C")[row % 3] for row in range(rows)],
            "v": values,
            "n": list(range(rows)),
            "same": [3.0] * rows,
            "zero": [0.0 if row < 5 else 2.0 for row in range(rows)],
        }
    )
    return write_frame("t.parquet", frame)


@pytest.fixture
def ranked(write_frame: Callable[[str, pl.DataFrame], str]) -> str:
    frame = pl.DataFrame(
        {
            "id": list("abcdef"),
            "hole": ["X", "X", "X", "Y", "Y", None],
            "v": RANKED,
            "length": [1.0, 10.0, 1.0, 2.0, 1.0, 0.0],
        }
    )
    return write_frame("t.parquet", frame)
