"""Curves of a log: completeness, gaps, steps, stuck and impossible values."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


def test_completeness_gaps_and_impossible_values_are_counted(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    rows: list[list[object]] = [[100 + depth * 0.5, depth + 20.0, 2.5, 8.0 + depth] for depth in range(60)]
    for place in (0, 1, 10, 11, 12, 30, 59):
        rows[place][1] = None
    rows[5][1], rows[20][2], rows[21][2] = -3.0, 3.4, 0.5
    found = call_tool("check_curves", path=write_rows("log.csv", ["DEPT", "GR", "RHOB", "CALI"], rows))
    curves = {row["curve"]: row for row in pl.read_csv(context.workspace / found.artifacts[0].path).rows(named=True)}
    gamma = curves["GR"]
    assert (gamma["count"], gamma["missing"], gamma["gaps"], gamma["longest_gap_rows"]) == (53, 7, 2, 3)
    assert (gamma["first_depth"], gamma["last_depth"]) == (101.0, 129.0)
    assert (gamma["below"], gamma["above"]) == (1, 0)
    assert (curves["RHOB"]["below"], curves["RHOB"]["above"], curves["RHOB"]["longest_stuck"]) == (1, 1, 38)
    assert found.results["depth_range"] == [100.0, 129.5]
    assert (found.results["step"], found.results["irregular_steps"]) == (0.5, 0)
    assert {name for name, _ in found.results["flagged"]} == {"GR", "RHOB"}


def test_units_decide_what_is_possible(
    call_tool: Call, write_file: Callable[[str, str], str], context: ToolContext
) -> None:
    text = "DEPTH,DEN,DT,NPHI\nm,kg/m3,us/m,%\n" + "".join(
        f"{depth},{2500 + depth},{200 + depth},30\n" for depth in range(9)
    )
    found = call_tool("check_curves", path=write_file("log.csv", text))
    curves = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert curves["out_of_range"].to_list() == [0, 0, 0]
    assert curves["range_high"].to_list() == [3000, 790, 100]
    assert found.results["unit"] == "m"


def test_odd_steps_are_said_and_an_upward_log_has_its_ends_right(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    rows = [[depth, depth * 2.0] for depth in (10, 9, 8, 8, 7, 5, 4, 3, 2, 1, 0)]
    rows[0][1] = None
    found = call_tool("check_curves", path=write_rows("up.csv", ["depth", "v"], rows))
    assert (found.results["direction"], found.results["irregular_steps"]) == ("upward", 2)
    assert any("1 of 10 steps of 'depth' are zero" in note for note in found.notes)
    curve = pl.read_csv(context.workspace / found.artifacts[0].path).row(0, named=True)
    assert (curve["first_depth"], curve["last_depth"], curve["gaps"]) == (0.0, 9.0, 0)


def test_empty_curves_and_many_curves_stay_small(call_tool: Call, write_rows: Callable[..., str]) -> None:
    names = [f"C{number}" for number in range(400)]
    rows = [[depth, *range(depth, depth + 400)] for depth in range(3)]
    found = call_tool("check_curves", path=write_rows("wide.csv", ["DEPT", *names], rows))
    assert found.results["curves"] == 400
    assert len(wire.dumps(found.results)) < 1200


def test_a_table_without_depth_is_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("t.csv", ["site", "v"], [["a", 1], ["b", 2]])
    with pytest.raises(ArgumentError) as caught:
        call_tool("check_curves", path=path)
    assert caught.value.field == "depth"
    with pytest.raises(ArgumentError, match="no curve beside"):
        call_tool("check_curves", path=path, depth="v")
