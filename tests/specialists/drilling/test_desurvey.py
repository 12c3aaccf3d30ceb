"""Hole paths by minimum curvature: arcs of circles come out exactly, and what was assumed is said."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.drilling import paths

Call = Callable[..., ToolResult]
SURVEY = ["hole", "depth", "azimuth", "dip"]
COLLAR = ["hole", "X", "Y", "Z"]


@pytest.fixture
def rows_of(context: ToolContext) -> Callable[[ToolResult], list[dict[str, Any]]]:
    return lambda found: pl.read_csv(context.workspace / found.artifacts[0].path).rows(named=True)


def test_a_quarter_circle_comes_out_exactly() -> None:
    """From vertical to horizontal eastward over an arc of radius R: the end lies at (R, 0, R)."""
    radius = 100.0
    stations = paths.Stations(
        np.array([0, 0]), np.array([0.0, radius * pi / 2]), np.array([0.0, pi / 2]), np.array([pi / 2, pi / 2])
    )
    traced = paths.trace(stations)
    assert traced.places[1] == pytest.approx([radius, 0, radius])
    depth = np.array([radius * pi / 6, radius * pi / 3, radius * pi / 2 + 10])
    places, beyond = paths.at_depths(traced, np.zeros(3, int), depth)
    for place, angle in zip(places[:2], (pi / 6, pi / 3), strict=True):
        assert place == pytest.approx([radius * (1 - cos(angle)), 0, radius * sin(angle)], abs=1e-9)
    assert places[2] == pytest.approx([radius + 10, 0, radius])
    assert beyond.tolist() == [False, False, True]


def test_interpolated_stations_change_nothing_and_holes_do_not_mix() -> None:
    """Minimum curvature after Sawaryn and Thorogood: a station put on the arc leaves the end where it is."""
    rng = np.random.default_rng(1)
    hole = np.repeat([0, 1, 2], 6)
    depth = np.concatenate([np.concatenate([[0], np.sort(rng.uniform(1, 300, 5))]) for _ in range(3)])
    inclination, azimuth = rng.uniform(0, 1.2, 18), rng.uniform(0, 2 * pi, 18)
    traced = paths.trace(paths.Stations(hole, depth, inclination, azimuth))
    at_stations, _ = paths.at_depths(traced, hole, depth)
    assert at_stations == pytest.approx(traced.places, abs=1e-9)
    alone = paths.trace(paths.Stations(np.zeros(6, int), depth[6:12], inclination[6:12], azimuth[6:12]))
    assert alone.places == pytest.approx(traced.places[6:12], abs=1e-9)


def test_straight_holes_with_either_sign_and_from_vertical_agree(
    call_tool: Call, write_rows: Callable[..., str], rows_of: Callable[[ToolResult], list[dict[str, Any]]]
) -> None:
    collar = write_rows("c.csv", COLLAR, [[7, 1000, 2000, 300]])
    expected = [1000 + 100 * cos(radians(60)), 2000, 300 - 100 * sin(radians(60))]
    for name, angle in (("dip", 60), ("dip", -60), ("inclination", 30)):
        header = [*SURVEY[:3], name]
        survey = write_rows(f"s{name}{angle}.csv", header, [[7, 0, 90, angle], [7, 100, 90, angle]])
        found = call_tool("desurvey", path=survey, collar_path=collar)
        last = rows_of(found)[-1]
        assert [last["x"], last["y"], last["z"]] == pytest.approx(expected)
        assert any("say dip_convention" in note for note in found.notes)
        assert found.results["max_inclination_deg"][0] == pytest.approx(30)


def test_intervals_get_their_middle_and_what_has_no_survey_is_named(
    call_tool: Call, write_rows: Callable[..., str], rows_of: Callable[[ToolResult], list[dict[str, Any]]]
) -> None:
    survey = write_rows("s.csv", SURVEY, [["A", 0, 0, 90], ["A", 50, 0, 90]])
    collar = write_rows("c.csv", COLLAR, [["A", 10, 20, 100], ["B", 1, 1, 1]])
    assay = write_rows("a.csv", ["hole", "from", "to", "Cu"], [["A", 0, 10, 1], ["B", 0, 1, 1], ["A", 50, 60, 2]])
    found = call_tool("desurvey", path=survey, collar_path=collar, intervals_path=assay)
    rows = rows_of(found)
    assert [row["z"] for row in rows] == [95.0, None, 45.0]
    assert [row["Cu"] for row in rows] == [1, 1, 2]
    assert found.results["holes_without_survey"] == 1
    assert any("1 holes have no survey, their intervals no place: B" in note for note in found.notes)
    assert any("1 intervals lie below the last station" in note for note in found.notes)


def test_without_collar_places_are_relative_and_a_late_first_station_is_said(
    call_tool: Call, write_rows: Callable[..., str], rows_of: Callable[[ToolResult], list[dict[str, Any]]]
) -> None:
    found = call_tool("desurvey", path=write_rows("s.csv", SURVEY, [["A", 30, 0, 90], ["A", 60, 0, 90]]))
    assert [row["z"] for row in rows_of(found)] == [0.0, -30.0, -60.0]
    assert any("1 holes have no station at depth 0" in note for note in found.notes)


def test_what_contradicts_itself_is_not_guessed(call_tool: Call, write_rows: Callable[..., str]) -> None:
    mixed = write_rows("m.csv", SURVEY, [["A", 0, 0, 60], ["A", 9, 0, -60]])
    with pytest.raises(ArgumentError, match="1 positive and 1 negative") as caught:
        call_tool("desurvey", path=mixed)
    assert caught.value.field == "dip_convention"
    with pytest.raises(DataError, match="first in data row 2: 777"):
        call_tool("desurvey", path=write_rows("a.csv", SURVEY, [["A", 0, 0, 60], ["A", 9, 777, 60]]))
    rows = [["A", 0, 0, 60], ["A", 9, 0, 60], ["A", 9, 90, 60], ["B", 0, 0, 70], ["B", 0, 0, 70], ["B", 5, None, 70]]
    found = call_tool("desurvey", path=write_rows("d.csv", SURVEY, rows))
    assert (found.results["holes"], found.results["left_out"]) == (1, {"missing": 1, "repeated": 1})
    assert any("two directions at one depth: A" in note for note in found.notes)


def test_a_depth_far_beyond_all_others_is_suspected(call_tool: Call, write_rows: Callable[..., str]) -> None:
    rows = [[f"H{hole}", depth, 0, 90] for hole in range(40) for depth in (0, 200)]
    rows[-1][1] = 90000
    found = call_tool("desurvey", path=write_rows("s.csv", SURVEY, rows))
    assert any("SUSPECTED" in note and "90000 in H39" in note for note in found.notes)
