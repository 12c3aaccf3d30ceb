"""Composites equal those by hand, length is accounted for, and blanks are never zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.drilling.composites import composite

Call = Callable[..., ToolResult]
HEADER = ["hole", "from", "to", "Cu", "rock"]
ROWS = [
    ["A", 0, 1.5, 1.0, "x"], ["A", 1.5, 3, 2.0, "x"], ["A", 3, 5, None, "y"],
    ["A", 5, 7, 4.0, "y"], ["B", 10, 11, 8.0, "x"],
]  # fmt: skip


@pytest.fixture
def made(call_tool: Call, write_rows: Callable[..., str], context: ToolContext) -> Callable[..., list[tuple[Any, ...]]]:
    path = write_rows("t.csv", HEADER, ROWS)

    def run(**arguments: Any) -> list[tuple[Any, ...]]:
        found = call_tool("composite_intervals", path=path, columns=["Cu"], **arguments)
        return pl.read_csv(context.workspace / found.artifacts[0].path).select("hole", "from", "to", "Cu").rows()

    return run


def test_composites_of_a_fixed_length_equal_those_by_hand(made: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert made(length=2) == [
        ("A", 0.0, 2.0, (1.5 * 1 + 0.5 * 2) / 2),
        ("A", 2.0, 4.0, 2.0),
        ("A", 4.0, 6.0, 4.0),
        ("A", 6.0, 7.0, 4.0),
        ("B", 10.0, 11.0, 8.0),
    ]


def test_a_composite_assayed_too_little_is_blank(made: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert [row[3] for row in made(length=2, min_coverage=0.6)] == [1.25, None, None, 4.0, 8.0]


@pytest.mark.parametrize(
    ("residual", "ends"),
    [
        ("keep", [(0, 2), (2, 4), (4, 6), (6, 7), (10, 11)]),
        ("merge", [(0, 2), (2, 4), (4, 7), (10, 11)]),
        ("drop", [(0, 2), (2, 4), (4, 6)]),
        ("spread", [(0, 1.75), (1.75, 3.5), (3.5, 5.25), (5.25, 7), (10, 11)]),
    ],
)
def test_each_rule_for_the_end_piece(
    made: Callable[..., list[tuple[Any, ...]]], residual: str, ends: list[tuple[float, float]]
) -> None:
    assert [row[1:3] for row in made(length=2, residual=residual)] == ends


def test_composites_end_where_the_category_changes(made: Callable[..., list[tuple[Any, ...]]]) -> None:
    assert made(by="rock") == [("A", 0.0, 3.0, 1.5), ("A", 3.0, 7.0, 4.0), ("B", 10.0, 11.0, 8.0)]
    assert [row[1:3] for row in made(by="rock", length=2)] == [(0, 2), (2, 3), (3, 5), (5, 7), (10, 11)]


def test_length_lost_and_gained_is_reported(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("t.csv", HEADER, ROWS)
    copper = call_tool("composite_intervals", path=path, columns=["Cu"], length=2).results["columns"]["Cu"]
    assert copper == {"assayed_length": 6.0, "composited_length": 8.0, "lost_length": 0.0, "gained_length": 2.0}
    strict = call_tool("composite_intervals", path=path, columns=["Cu"], length=2, min_coverage=1.0)
    assert strict.results["columns"]["Cu"]["lost_length"] == pytest.approx(2.0)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    grades=st.lists(st.none() | st.integers(0, 50), min_size=12, max_size=12),
    size=st.integers(1, 60),
    residual=st.sampled_from(["keep", "merge", "spread"]),
)
def test_metal_and_length_are_kept_whatever_the_lengths(
    lengths: list[int], grades: list[int | None], size: int, residual: Any
) -> None:
    """In tenths, so that depths are not exact in binary."""
    ends = np.cumsum(lengths) / 10
    starts = np.concatenate([[0.0], ends[:-1]])
    frame = pl.DataFrame(
        {
            "row": range(len(lengths)),
            "hole": ["A"] * len(lengths),
            "start": starts,
            "end": ends,
            "length": ends - starts,
        },
    ).with_columns(pl.Series("g", grades[: len(lengths)], dtype=pl.Float64))
    made = composite(frame, {"G": "g"}, size / 10, residual, 0.0)
    width = made.frame["to"] - made.frame["from"]
    metal = (made.frame["G"] * made.frame["G_coverage"] * width).sum()
    assert metal == pytest.approx((frame["g"] * frame["length"]).sum(), rel=1e-9, abs=1e-9)
    assert width.sum() == pytest.approx(ends[-1])
    assert made.frame["from"].to_list()[1:] == pytest.approx(made.frame["to"].to_list()[:-1])


def test_wrong_arguments_are_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("t.csv", HEADER, ROWS)
    with pytest.raises(ArgumentError, match="or both") as caught:
        call_tool("composite_intervals", path=path, columns=["Cu"])
    assert caught.value.field == "length"
    with pytest.raises(ArgumentError, match="not numbers"):
        call_tool("composite_intervals", path=path, columns=["rock"], length=1)
    with pytest.raises(ArgumentError, match="composites"):
        call_tool("composite_intervals", path=path, columns=["Cu"], length=1e-9)
    doubled = write_rows("o.csv", HEADER, [*ROWS, ["A", 1, 2, 1, "x"]])
    with pytest.raises(ArgumentError, match="intervals overlap"):
        call_tool("composite_intervals", path=doubled, columns=["Cu"], length=1)
