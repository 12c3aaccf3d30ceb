"""Length-weighted grades per hole and overall equal those by hand; blanks are never zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
HEADER = ["hole", "from", "to", "Cu", "Au"]
ROWS = [
    ["A", 0, 2, 1.0, 0.1], ["A", 2, 5, 3.0, None], ["B", 0, 4, None, 0.4], ["B", 4, 5, 10.0, 0.2],
    ["C", 0, 1, None, None],
]  # fmt: skip


def test_grades_metal_and_ranks_equal_those_by_hand(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    collar = write_rows("c.csv", ["hole", "X", "Y"], [["A", 1, 2], ["B", 3, 4], ["Z", 5, 6]])
    found = call_tool(
        "profile_intervals", path=write_rows("t.csv", HEADER, ROWS), columns=["Cu", "Au"], collar_path=collar
    )
    copper, gold = found.results["columns"]
    assert copper["grade"] == pytest.approx((1 * 2 + 3 * 3 + 10) / 6)
    assert copper["unassayed_share"] == pytest.approx(1 - 6 / 11)
    assert copper["median_hole_grade"] == pytest.approx(np.median([11 / 5, 10]))
    assert gold["grade"] == pytest.approx((0.1 * 2 + 0.4 * 4 + 0.2) / 7)
    # By name and in order; a hole without the metal has no rank.
    assert list(found.results["top"].items()) == [
        ("A", {"metal": 11.0, "grade": 2.2}),
        ("B", {"metal": 10.0, "grade": 10.0}),
    ]
    holes = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert holes.select("hole", "rank_by_Cu", "X").rows() == [("A", 1, 1), ("B", 2, 3), ("C", None, None)]
    assert holes["Cu_max_grade_x_length"].to_list() == [9.0, 10.0, None]
    assert any("1 holes of t.csv are not in c.csv: C" in note for note in found.notes)


def test_rows_that_are_no_interval_are_counted_and_do_not_stop_the_rest(
    call_tool: Call, write_rows: Callable[..., str]
) -> None:
    rows = [*ROWS, ["A", 9, 9, 5, 5], ["A", 9, 8, 5, 5], ["A", None, 8, 5, 5]]
    found = call_tool("profile_intervals", path=write_rows("t.csv", HEADER, rows), columns=["Cu"])
    assert found.results["intervals"] == 5
    assert "3 rows left out: 1 without hole, from or to, 1 of no length, 1 from > to" in found.notes


def test_results_below_a_limit_count_as_half_of_it(call_tool: Call, write_rows: Callable[..., str]) -> None:
    rows = [["A", 0, 1, "<0.02"], ["A", 1, 2, "0.5"], ["A", 2, 4, "0.3"]]
    path = write_rows("t.csv", ["hole", "from", "to", "Au"], rows)
    found = call_tool("profile_intervals", path=path, columns=["Au"])
    assert found.results["columns"][0]["grade"] == pytest.approx((0.01 + 0.5 + 0.6) / 4)


def test_overlaps_are_a_caution_and_a_table_without_intervals_an_error(
    call_tool: Call, write_rows: Callable[..., str]
) -> None:
    found = call_tool("profile_intervals", path=write_rows("t.csv", HEADER, [*ROWS, ["A", 1, 3, 1, 1]]), columns=["Cu"])
    assert "CAUTION: 2 overlapping intervals" in found.summary
    with pytest.raises(ArgumentError, match="no interval with a positive length"):
        call_tool("profile_intervals", path=write_rows("u.csv", HEADER, [["A", 1, 1, 1, 1]]), columns=["Cu"])
    with pytest.raises(ArgumentError) as caught:
        call_tool("profile_intervals", path="t.csv", columns=["Cu"], rank_by="Au")
    assert caught.value.field == "rank_by"


def test_two_thousand_columns_give_a_small_answer_and_a_whole_file(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    names = [f"e{number}" for number in range(2000)]
    path = write_rows(
        "wide.csv", ["hole", "from", "to", *names], [["A", 0, 1, *range(2000)], ["B", 0, 1, *range(2000)]]
    )
    found = call_tool("profile_intervals", path=path, columns=names)
    assert len(wire.dumps(found.results)) < 1200
    assert found.results["more_columns"] == 1998
    assert pl.read_csv(context.workspace / found.artifacts[1].path).height == 2000
