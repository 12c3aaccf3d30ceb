"""Intercepts equal those found by hand: waste, dilution, gaps, blanks and the top cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
HEADER = ["hole", "from", "to", "Au"]


@pytest.fixture
def found(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> Callable[..., list[tuple[Any, ...]]]:
    def run(grades: list[float | None], **arguments: Any) -> list[tuple[Any, ...]]:
        """Intervals of 1 m down one hole: (from, to, grade) of each intercept."""
        rows = [["A", depth, depth + 1, grade] for depth, grade in enumerate(grades)]
        result = call_tool("find_intercepts", path=write_rows("t.csv", HEADER, rows), column="Au", **arguments)
        if not result.artifacts:
            return []
        return pl.read_csv(context.workspace / result.artifacts[0].path).select("from", "to", "Au_grade").rows()

    return run


def test_contiguous_ore_is_an_intercept(found: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert found([0, 1, 2, 0, 0, 3], cutoff=1) == [(1, 3, 1.5), (5, 6, 3.0)]
    assert found([0, 1, 2, 0, 0, 3], cutoff=1, min_length=2) == [(1, 3, 1.5)]
    assert found([0, 0.5], cutoff=1) == []


def test_waste_inside_is_limited_and_diluted(found: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert found([4, 0, 4], cutoff=1, max_internal_waste=1) == [(0, 3, pytest.approx(8 / 3))]
    assert found([4, 0, 0, 4], cutoff=1, max_internal_waste=1) == [(0, 1, 4.0), (3, 4, 4.0)]
    assert found([0, 4, 0], cutoff=1, max_internal_waste=5) == [(1, 2, 4.0)]


def test_a_whole_below_the_cutoff_is_divided(found: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert found([1, 0, 0, 1], cutoff=1, max_internal_waste=3) == [(0, 1, 1.0), (3, 4, 1.0)]
    assert found([4, 0, 1, 0, 0, 0, 1], cutoff=1, max_internal_waste=3) == [(0, 3, pytest.approx(5 / 3)), (6, 7, 1.0)]


def test_blanks_and_gaps_end_an_intercept(
    found: Callable[..., list[tuple[Any, ...]]], call_tool: Call, write_rows: Callable[..., str]
) -> None:
    assert found([2, None, 2], cutoff=1, max_internal_waste=5) == [(0, 1, 2.0), (2, 3, 2.0)]
    gap = write_rows("g.csv", HEADER, [["A", 0, 1, 2], ["A", 2, 3, 2], ["B", 3, 4, 2]])
    assert (
        call_tool("find_intercepts", path=gap, column="Au", cutoff=1, max_internal_waste=5).results["intercepts"] == 3
    )


def test_the_top_cut_counts_and_the_maximum_does_not(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    path = write_rows("t.csv", HEADER, [["A", 0, 2, 100], ["A", 2, 3, 1], ["B", 0, 1, 3]])
    result = call_tool("find_intercepts", path=path, column="Au", cutoff=1, top_cut=10)
    best = pl.read_csv(context.workspace / result.artifacts[0].path).row(0, named=True)
    assert best["Au_metal"] == 21.0
    assert best["Au_max"] == 100.0
    assert best["Au_grade_uncut"] == pytest.approx(67)
    assert best["rank_by_metal"] == 1
    assert result.results["best"] == [
        {"hole": "A", "from": 0, "to": 3, "length": 3, "grade": 7},
        {"hole": "B", "from": 0, "to": 1, "length": 1, "grade": 3},
    ]
    assert result.results["grade"] == pytest.approx(24 / 4)
    assert "1 grades above the top cut 10" in " ".join(result.notes)
    with pytest.raises(ArgumentError) as caught:
        call_tool("find_intercepts", path=path, column="Au", cutoff=1, top_cut=0.5)
    assert caught.value.field == "top_cut"
