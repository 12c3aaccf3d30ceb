"""Gaps, overlaps and other faults of intervals are found, each with its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
HEADER = ["hole", "from", "to", "Cu"]


def issues(read_rows: Callable[[str], list[list[str]]], found: ToolResult) -> set[tuple[str, ...]]:
    return {tuple(row) for row in read_rows(found.artifacts[0].path)[1:]}


def test_each_kind_of_fault_is_listed_once(
    call_tool: Call, write_rows: Callable[..., str], read_rows: Callable[[str], list[list[str]]]
) -> None:
    rows = [
        ["A", 0, 2, 1], ["A", 2, 4, 1], ["A", 3.5, 6, 1], ["A", 6, 8, None], ["A", 6, 8, 1],
        ["B", 0, 3, 1], ["B", 4, 5, 1], ["B", 5, 5, 1], ["B", 7, 6, 1], ["B", None, 9, 1], ["", 1, 2, 1],
        ["C", 5, 9, 1], ["C", -1, 5, 1],
    ]  # fmt: skip
    found = call_tool("check_intervals", path=write_rows("t.csv", HEADER, rows), columns=["Cu"])
    assert found.results["issues"] == {
        "gap": 1,
        "overlap": 1,
        "duplicate": 1,
        "zero_length": 1,
        "from_beyond_to": 1,
        "missing": 2,
        "above_collar": 1,
        "beyond_final_depth": 0,
        "out_of_order": 1,
    }
    listed = issues(read_rows, found)
    assert ("gap", "B", "3.0", "4.0", "1.0", "7") in listed
    assert ("overlap", "A", "3.5", "4.0", "0.5", "3") in listed
    assert ("duplicate", "A", "6.0", "8.0", "2.0", "5") in listed
    assert ("out_of_order", "C", "-1.0", "5.0", "6.0", "13") in listed
    assert found.results["length"] == pytest.approx(2 + 2 + 2.5 + 2 + 2 + 3 + 1 + 4 + 6)
    assert found.results["assayed"]["Cu"]["unassayed_share"] == pytest.approx(2 / 24.5)


def test_the_messy_case_gives_its_overlaps_repeats_and_gaps(
    call_tool: Call, shared_file: Callable[[str], str], read_rows: Callable[[str], list[list[str]]]
) -> None:
    found = call_tool("check_intervals", path=shared_file("cases/interval_overlaps.csv"))
    assert {row[:4] for row in issues(read_rows, found)} == {
        ("overlap", "H1", "3.5", "4.0"),
        ("duplicate", "H1", "6.0", "8.0"),
        ("gap", "H2", "3.0", "4.0"),
    }


def test_depths_are_checked_against_the_collars_and_ids_are_text(
    call_tool: Call, write_rows: Callable[..., str]
) -> None:
    assay = write_rows("a.csv", HEADER, [[34873, 0, 10, 1], ["D1", 0, 12, 1], ["d-2", 0, 1, 1]])
    collar = write_rows("c.csv", ["hole", "EOH"], [[34873, 9.5], ["D1", None], ["D2", 7]])
    found = call_tool("check_intervals", path=assay, collar_path=collar)
    assert found.results["issues"]["beyond_final_depth"] == 1
    assert found.results["collars"] == {
        "in_both": 2,
        "without_intervals": 1,
        "without_collar": 1,
        "drilled_length": 16.5,
    }
    assert any("'d-2' and 'D2'" in note for note in found.notes)


def test_depths_that_differ_by_rounding_are_no_fault(call_tool: Call, write_rows: Callable[..., str]) -> None:
    rows = [["A", 0, 0.1 + 0.2, 1], ["A", 0.3, 0.6, 1], ["A", 0.6 + 1e-9, 1, 1]]
    found = call_tool("check_intervals", path=write_rows("t.csv", HEADER, rows))
    assert not any(found.results["issues"].values())
    assert found.artifacts == []


def test_many_holes_and_columns_stay_small(call_tool: Call, write_rows: Callable[..., str]) -> None:
    names = [f"e{number}" for number in range(300)]
    rows = [[f"H{hole}", depth, depth + 0.5, *range(300)] for hole in range(100) for depth in (0, 1)]
    path = write_rows("wide.csv", ["hole", "from", "to", *names], rows)
    found = call_tool("check_intervals", path=path, columns=names)
    assert found.results["issues"]["gap"] == 100
    assert len(wire.dumps(found.as_json())) < 1800


def test_what_cannot_be_told_is_asked(call_tool: Call, write_rows: Callable[..., str]) -> None:
    with pytest.raises(ArgumentError, match="'HoleId' or 'CompanyHoleId'") as caught:
        call_tool(
            "check_intervals", path=write_rows("t.csv", ["HoleId", "CompanyHoleId", "from", "to"], [["a", "b", 0, 1]])
        )
    assert caught.value.field == "hole"
    with pytest.raises(ArgumentError, match="no column") as caught:
        call_tool("check_intervals", path=write_rows("u.csv", ["hole", "from", "x"], [["a", 0, 1]]))
    assert caught.value.field == "depth_to"
    collar = write_rows("c.csv", ["hole", "EOH"], [["A", 9.5], ["A", 9]])
    with pytest.raises(DataError, match="holes more than once"):
        call_tool("check_intervals", path=write_rows("v.csv", HEADER, [["A", 0, 1, 1]]), collar_path=collar)


def test_a_table_without_holes_is_one_hole_and_says_so(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    found = call_tool("check_intervals", path=write_rows("t.csv", ["from", "to"], [[0, 1], [2, 3]]))
    assert found.results["issues"]["gap"] == 1
    assert any("all 2 rows are taken as one" in note for note in found.notes)
