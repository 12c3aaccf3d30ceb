"""Nearest neighbours equal those by brute force, on the plane and on the sphere."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, cos, radians, sin, sqrt

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


def haversine(one: tuple[float, float], other: tuple[float, float]) -> float:
    (x1, y1), (x2, y2) = (tuple(map(radians, place)) for place in (one, other))
    half = sin((y2 - y1) / 2) ** 2 + cos(y1) * cos(y2) * sin((x2 - x1) / 2) ** 2
    return 2 * 6_371_008.8 * asin(sqrt(half))


def test_neighbours_in_the_same_table_equal_brute_force(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    points = np.random.default_rng(3).uniform(0, 100, (50, 2))
    points[7] = points[3]
    found = call_tool("nearest", path=write_rows("p.csv", ["x", "y"], points.tolist()))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    table = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert table["nearest_distance"].to_list() == pytest.approx(apart.min(axis=1).tolist())
    assert (table["nearest_row"] - 1).to_list() == apart.argmin(axis=1).tolist()
    assert found.results["same_place"] == 2
    assert found.results["distance"]["median"] == pytest.approx(np.median(apart.min(axis=1)))


def test_degrees_give_metres_along_the_sphere_and_columns_come_over(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    mine, theirs = [(179.9, 10.0), (0.0, 60.0)], [(-179.9, 10.0), (0.0, 61.0), (1.5, 60.0)]
    path = write_rows("p.csv", ["lon", "lat"], [*mine, (None, 1)])
    other = write_rows(
        "o.csv", ["name", "lon", "lat"], [[name, *place] for name, place in zip("abc", theirs, strict=True)]
    )
    found = call_tool("nearest", path=path, other_path=other, columns=["name"])
    table = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert table["nearest_name"].to_list() == ["a", "c", None]
    assert table["nearest_distance"].to_list()[:2] == pytest.approx(
        [haversine(mine[0], theirs[0]), haversine(mine[1], theirs[2])]
    )
    assert (found.results["unit"], found.results["without_coordinates"]) == ("m", 1)
    near = call_tool("nearest", path=path, other_path=other, max_distance=50_000.0)
    assert (near.results["with_neighbour"], near.results["too_far"]) == (1, 1)


def test_degrees_and_metres_are_not_mixed(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("p.csv", ["lon", "lat"], [[1, 1]])
    other = write_rows("o.csv", ["easting", "northing"], [[500000, 1]])
    with pytest.raises(ArgumentError, match="reproject") as caught:
        call_tool("nearest", path=path, other_path=other)
    assert caught.value.field == "other_x"
    alone = call_tool("nearest", path=path)
    assert alone.results["with_neighbour"] == 0
