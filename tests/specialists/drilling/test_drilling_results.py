"""What the tools of drill holes find reaches the lead: figures by name, no rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outcrop.lead.toolbox import without_rows
from outcrop_specialists.tools.base import ToolResult
from outcrop_specialists.tools.registry import FAMILIES

Call = Callable[..., ToolResult]
ASSAYS = ["hole", "from", "to", "Cu"]
PLACED = {"collar_path": "collars.csv"}
CALLS: dict[str, dict[str, Any]] = {
    "check_intervals": {"path": "assays.csv", **PLACED},
    "composite_intervals": {"path": "assays.csv", "columns": ["Cu"], "length": 2},
    "desurvey": {"path": "surveys.csv", "intervals_path": "assays.csv", **PLACED},
    "find_intercepts": {"path": "assays.csv", "column": "Cu", "cutoff": 1},
    "join_intervals": {"path": "assays.csv", "right_path": "rocks.csv"},
    "profile_intervals": {"path": "assays.csv", "columns": ["Cu"], **PLACED},
}


@pytest.mark.parametrize("name", FAMILIES["drilling"])
def test_no_result_is_written_as_rows(call_tool: Call, write_rows: Callable[..., str], name: str) -> None:
    write_rows("assays.csv", ASSAYS, [["A", 0, 1, 2], ["A", 1, 3, 0.5], ["B", 0, 1, 3], ["B", 2, 4, None]])
    write_rows("rocks.csv", ["hole", "from", "to", "rock"], [["A", 0, 3, "gabbro"], ["B", 0, 4, "granite"]])
    write_rows("collars.csv", ["hole", "X", "Y", "Z"], [["A", 100, 200, 9], ["B", 300, 400, 9]])
    write_rows("surveys.csv", ["hole", "depth", "azimuth", "dip"], [["A", 0, 10, 60], ["B", 0, 20, 70]])
    results = call_tool(name, **CALLS[name]).results
    assert without_rows(results) == results


def test_nothing_found_and_a_single_hole_are_told(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("t.csv", ASSAYS, [["A", 0, 1, 0.2], ["A", 1, 2, 0.1], ["B", 0, 1, 0.3]])
    found = call_tool("find_intercepts", path=path, column="Cu", cutoff=1)
    assert (found.results["best"], found.results["intercepts"]) == ([], 0)
    assert "no intercept of Cu >= 1" in found.summary
    one = call_tool("profile_intervals", path=write_rows("o.csv", ASSAYS[1:], [[0, 1, 2], [1, 3, 4]]), columns=["Cu"])
    assert list(one.results["top"].values()) == [{"metal": 10, "grade": pytest.approx(10 / 3)}]
