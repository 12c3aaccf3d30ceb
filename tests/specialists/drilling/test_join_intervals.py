"""Drill tables are joined by hole as text, and by depth without losing length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
ASSAY = [["A", 0, 2, 1.0], ["A", 2, 4, 2.0], ["B", 0, 3, 3.0]]


@pytest.fixture
def assay(write_rows: Callable[..., str]) -> str:
    return write_rows("a.csv", ["hole", "from", "to", "Cu"], ASSAY)


@pytest.fixture
def rows_of(context: ToolContext) -> Callable[[ToolResult], list[tuple[Any, ...]]]:
    return lambda found: pl.read_csv(context.workspace / found.artifacts[0].path).rows()


def test_intervals_are_cut_at_every_boundary(
    call_tool: Call, assay: str, write_rows: Callable[..., str], rows_of: Callable[[ToolResult], list[tuple[Any, ...]]]
) -> None:
    rock = write_rows("r.csv", ["hole", "from", "to", "rock"], [["A", 0, 1, "x"], ["A", 1, 3, "y"], ["C", 0, 9, "z"]])
    found = call_tool("join_intervals", path=assay, right_path=rock)
    assert rows_of(found) == [
        ("A", 0.0, 1.0, 1.0, "x"),
        ("A", 1.0, 2.0, 1.0, "y"),
        ("A", 2.0, 3.0, 2.0, "y"),
        ("A", 3.0, 4.0, 2.0, None),
        ("B", 0.0, 3.0, 3.0, None),
    ]
    assert (found.results["length"], found.results["length_matched"]) == (7.0, 3.0)
    matched = call_tool("join_intervals", path=assay, right_path=rock, keep="matched")
    assert len(rows_of(matched)) == 3


def test_collars_are_joined_by_hole_as_text(
    call_tool: Call, write_rows: Callable[..., str], rows_of: Callable[[ToolResult], list[tuple[Any, ...]]]
) -> None:
    assay = write_rows("a.csv", ["hole", "from", "to"], [[34873, 0, 1], [34874, 0, 1]])
    collar = write_rows("c.csv", ["hole", "X"], [["34873", 5], ["B1", 6]])
    found = call_tool("join_intervals", path=assay, right_path=collar)
    assert rows_of(found) == [(34873, 0, 1, 5), (34874, 0, 1, None)]
    assert found.results["unmatched_rows"] == 1
    doubled = write_rows("d.csv", ["hole", "X"], [["34873", 5], ["34873", 6]])
    with pytest.raises(DataError, match="more than once"):
        call_tool("join_intervals", path=assay, right_path=doubled)


def test_names_that_both_tables_have_are_told_apart(
    call_tool: Call, assay: str, write_rows: Callable[..., str]
) -> None:
    other = write_rows("o.csv", ["hole", "from", "to", "Cu"], [["A", 0, 4, 9.0]])
    found = call_tool("join_intervals", path=assay, right_path=other)
    assert found.results["rows_after"] == 3
    with pytest.raises(ArgumentError) as caught:
        call_tool("join_intervals", path=assay, right_path=other, columns=["Zn"])
    assert caught.value.field == "columns"


def test_overlapping_intervals_are_refused_on_either_side(
    call_tool: Call, assay: str, write_rows: Callable[..., str]
) -> None:
    other = write_rows("o.csv", ["hole", "from", "to", "rock"], [["A", 0, 4, "x"], ["A", 3, 5, "y"]])
    with pytest.raises(ArgumentError, match="overlap") as caught:
        call_tool("join_intervals", path=assay, right_path=other)
    assert caught.value.field == "right_path"
    with pytest.raises(ArgumentError, match="overlap") as caught:
        call_tool("join_intervals", path=other, right_path=assay)
    assert caught.value.field == "path"
