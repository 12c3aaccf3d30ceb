"""Objectives on drill holes of ../shared/data, with the tool calls that a good analyst would make."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
OBJECTIVES = Path(__file__).parents[2].parent / "shared" / "data" / "objectives.json"
RELATIVE = 1e-3


@pytest.fixture
def facts() -> Callable[[str], dict[str, Any]]:
    if not OBJECTIVES.is_file():
        pytest.skip("../shared/data/objectives.json is not here")
    known = {each["id"]: each["facts"] for each in json.loads(OBJECTIVES.read_text())}
    return lambda name: known[name]


def test_drill_tables_are_put_together_checked_and_ranked(
    call_tool: Call,
    shared_file: Callable[[str], str],
    facts: Callable[[str], dict[str, Any]],
    context: ToolContext,
) -> None:
    fact = facts("O2")
    assay, collar, survey = (shared_file(f"files/babbitt_{name}.csv") for name in ("assay", "collar", "survey"))
    checked = call_tool("check_intervals", path=assay, columns=["CU"], collar_path=collar).results
    assert checked["rows"] == fact["assay_rows"]
    assert checked["holes"] == fact["holes"]
    assert checked["issues"]["overlap"] == fact["overlaps"]
    assert checked["deepest_to"][1] == fact["max_TO"]
    assert checked["assayed"]["CU"]["unassayed_share"] == pytest.approx(fact["unassayed_length_share"], rel=RELATIVE)
    assert checked["collars"]["without_collar"] == 0
    assert checked["unit"] is None

    found = call_tool("profile_intervals", path=assay, columns=["CU"], collar_path=collar)
    (copper,) = found.results["columns"]
    assert copper["grade"] == pytest.approx(fact["length_weighted_Cu"], rel=RELATIVE)
    assert copper["holes_with_value"] == fact["holes_with_Cu"]
    assert copper["median_hole_grade"] == pytest.approx(fact["median_hole_grade"], rel=RELATIVE)
    top = found.results["top"]
    assert list(top) == [hole for hole, _ in fact["top5_by_metal"]]
    assert [each["metal"] for each in top.values()] == pytest.approx(
        [metal for _, metal in fact["top5_by_metal"]], rel=RELATIVE
    )
    assert [each["grade"] for each in top.values()] == pytest.approx(fact["top5_grade"], rel=RELATIVE)
    holes = pl.read_csv(context.workspace / found.artifacts[0].path, infer_schema_length=None)
    assert holes.height == fact["holes"]
    # The numeric identifier among text ones keeps its collar.
    assert holes.filter(pl.col("hole") == "34873")["XCOLLAR"].item() == 2296021.09

    placed = call_tool("desurvey", path=survey, collar_path=collar, intervals_path=assay)
    assert (placed.results["rows"], placed.results["without_place"]) == (fact["assay_rows"], 0)
    chart = call_tool("plot_map", path=found.artifacts[0].path, color="CU_grade")
    assert chart.artifacts[0].path.endswith(".png")
    assert chart.results["points_drawn"] == fact["holes"]


def test_collars_are_summarised_by_type_and_checked(
    call_tool: Call,
    shared_file: Callable[[str], str],
    facts: Callable[[str], dict[str, Any]],
    context: ToolContext,
) -> None:
    fact = facts("O6")
    collars = shared_file("files/gswa_collars.csv")
    checked = call_tool("check_coordinates", path=collars).results
    assert checked["rows"] == fact["rows"]
    assert checked["box"] == pytest.approx(fact["bbox"], rel=RELATIVE)
    assert checked["issues"]["same_place"] == fact["rows_sharing_coordinates"]

    # The placeholder is 0.1 as a 32-bit float: a range finds it, equality would not.
    near = {"path": collars, "column": "MaxDepth", "operator": "between", "value": [0.0999, 0.1001]}
    assert call_tool("filter_rows", **near).results["rows_after"] == fact["placeholder_0.1_m"]
    known = call_tool("filter_rows", **near, keep="others")
    for kind, count in fact["types"].items():
        one = call_tool("filter_rows", path=collars, column="HoleType", operator="==", value=kind)
        assert one.results["rows_after"] == count
    summary = call_tool(
        "summarize", path=known.artifacts[0].path, columns=["MaxDepth"], by="HoleType", percentiles=[50]
    )
    written = pl.read_csv(context.workspace / summary.artifacts[0].path, infer_schema_length=None)
    depths = {row["HoleType"]: row for row in written.rows(named=True)}
    for kind, median in fact["median_without_placeholder"].items():
        assert depths[kind]["p50"] == pytest.approx(median, rel=RELATIVE)
        assert depths[kind]["max"] == pytest.approx(fact["max"][kind], rel=RELATIVE)
    for kind, missing in fact["missing_depth"].items():
        assert depths[kind]["missing"] == missing
    chart = call_tool("plot_map", path=collars, color="HoleType")
    assert chart.results["points_drawn"] == fact["rows"]
