"""Coordinates are transformed as pyproj does with x before y, and nothing about their system is guessed."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from pyproj import Transformer

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
ROWS = [["A", 138.9, -34.6], ["B", 139.0, -35.0], ["C", None, -35.0]]


@pytest.fixture
def degrees(write_rows: Callable[..., str]) -> str:
    return write_rows("p.csv", ["site", "lon", "lat"], ROWS)


def test_the_case_gives_its_easting_and_northing(call_tool: Call, degrees: str, context: ToolContext) -> None:
    found = call_tool("reproject", path=degrees, source_crs="EPSG:4326", target_crs="EPSG:3577")
    table = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert table.row(0)[3:] == pytest.approx((630228.43, -3794621.29), abs=1.0)
    assert table.row(2)[3:] == (None, None)
    assert (found.results["transformed"], found.results["without_coordinates"]) == (2, 1)


def test_there_and_back_again_is_where_it_was(call_tool: Call, degrees: str, context: ToolContext) -> None:
    there = call_tool("reproject", path=degrees, source_crs="4326", target_crs="28354").artifacts[0].path
    assert read_table(context, there).units == {"easting": "m", "northing": "m"}
    back = call_tool(
        "reproject", path=there, x="easting", y="northing", source_crs="EPSG:28354", target_crs="EPSG:4326"
    )
    table = pl.read_csv(context.workspace / back.artifacts[0].path)
    assert table["longitude"].to_list()[:2] == pytest.approx([138.9, 139.0], abs=1e-8)
    assert table["latitude"].to_list()[:2] == pytest.approx([-34.6, -35.0], abs=1e-8)


def test_names_that_are_taken_get_the_code(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext
) -> None:
    path = write_rows("e.csv", ["easting", "northing", "epsg"], [[500000, 6000000, 28354]])
    found = call_tool("reproject", path=path, target_crs="EPSG:28353")
    assert found.results["columns"] == ["easting_28353", "northing_28353"]
    x, y = Transformer.from_crs(28354, 28353, always_xy=True).transform(500000, 6000000)
    assert pl.read_csv(context.workspace / found.artifacts[0].path).row(0)[3:] == pytest.approx((x, y))


def test_an_unstated_system_is_asked_for_and_zones_are_not_mixed(
    call_tool: Call, degrees: str, write_rows: Callable[..., str]
) -> None:
    with pytest.raises(ArgumentError, match="name their datum") as caught:
        call_tool("reproject", path=degrees, target_crs="EPSG:3577")
    assert caught.value.field == "source_crs"
    grid = write_rows("g.csv", ["easting", "northing"], [[500000, 6000000]])
    with pytest.raises(ArgumentError, match="cannot be told from the numbers"):
        call_tool("reproject", path=grid)
    mixed = write_rows("m.csv", ["easting", "northing", "epsg"], [[500000, 6000000, 28354], [500000, 6000000, 28353]])
    with pytest.raises(ArgumentError, match="states 2 systems"):
        call_tool("reproject", path=mixed)


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({"source_crs": "EPSG:4326", "x": "lat", "y": "lon"}, "x", "swapped: try x='lon', y='lat'"),
        ({"source_crs": "EPSG:28354"}, "source_crs", "holds degrees"),
        ({"source_crs": "EPSG:99999999"}, "source_crs", "no coordinate reference system"),
        ({"source_crs": "EPSG:4326", "target_crs": "moon"}, "target_crs", "no coordinate reference system"),
        ({"source_crs": "EPSG:4326", "x": "lon"}, "y", "go together"),
    ],
)
def test_what_does_not_fit_is_refused(
    call_tool: Call, degrees: str, arguments: dict[str, str], field: str, reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason) as caught:
        call_tool("reproject", path=degrees, **arguments)
    assert caught.value.field == field


def test_grid_coordinates_that_fit_only_exchanged_are_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("s.csv", ["x", "y"], [[6171000, 307000], [6171500, 307500]])
    with pytest.raises(ArgumentError, match="other way round"):
        call_tool("reproject", path=path, source_crs="EPSG:28354")
    with pytest.raises(ArgumentError, match="outside the area of use"):
        call_tool("reproject", path=path, source_crs="EPSG:27700")
