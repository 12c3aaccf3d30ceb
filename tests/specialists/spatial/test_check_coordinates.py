"""Faults of coordinates are counted by kind and listed by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Call = Callable[..., ToolResult]


@pytest.fixture
def places() -> list[list[float | None]]:
    rng = np.random.default_rng(2)
    return [[float(x), float(y)] for x, y in zip(rng.uniform(118, 119, 60), rng.uniform(-33, -32, 60), strict=True)]


def test_each_kind_of_fault_is_found(
    call_tool: Call,
    write_rows: Callable[..., str],
    read_rows: Callable[[str], list[list[str]]],
    places: list[list[float | None]],
) -> None:
    odd = [[-32.5, 118.5], [118.5, 32.5], [0, 0], [None, -32.5], places[0], [10.0, 50.0]]
    found = call_tool(
        "check_coordinates", path=write_rows("p.csv", ["lon", "lat"], [*places, *odd]), box=[118, -33, 119, -32]
    )
    assert found.results["issues"] == {
        "missing": 1,
        "zero": 1,
        "swapped": 1,
        "sign": 1,
        "far_off": 1,
        "same_place": 2,
        "beyond_degrees": 1,
        "outside_box": 4,
    }
    rows = {row[0]: row[3] for row in read_rows(found.artifacts[0].path)[1:]}
    assert rows == {
        "1": "same_place",
        "61": "swapped; beyond_degrees; outside_box",
        "62": "sign; outside_box",
        "63": "zero; outside_box",
        "64": "missing",
        "65": "same_place",
        "66": "far_off; outside_box",
    }
    assert len(wire.dumps(found.as_json())) < 1200


def test_sound_coordinates_have_a_box_and_no_file(
    call_tool: Call, write_rows: Callable[..., str], places: list[list[float | None]]
) -> None:
    found = call_tool("check_coordinates", path=write_rows("p.csv", ["x", "y"], places))
    array = np.array(places, dtype=float)
    assert found.results["box"] == [array[:, 0].min(), array[:, 0].max(), array[:, 1].min(), array[:, 1].max()]
    assert (found.artifacts, found.results["distinct_places"]) == ([], 60)


def test_what_cannot_be_told_is_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("p.csv", ["a", "b"], [[1, 2]])
    with pytest.raises(ArgumentError, match="name x and y"):
        call_tool("check_coordinates", path=path)
    with pytest.raises(ArgumentError) as caught:
        call_tool("check_coordinates", path=path, x="a", y="b", box=[5, 0, 1, 1])
    assert caught.value.field == "box"
