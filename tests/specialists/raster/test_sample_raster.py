"""Values of a raster at the places of a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from pyproj import Transformer

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


@pytest.fixture
def raster(write_raster: Callable[..., str]) -> str:
    values = np.arange(12, dtype="float32").reshape(3, 4)
    values[1, 1] = -9999
    return write_raster("dem.tif", values, nodata=-9999)


def test_each_place_gets_its_cell(
    call_tool: Call, raster: str, write_rows: Callable[..., str], context: ToolContext
) -> None:
    rows = [[500_001, 6_000_099], [500_039.9, 6_000_070.1], [500_015, 6_000_085], [0, 0], [None, 6_000_085]]
    found = call_tool("sample_raster", path=write_rows("p.csv", ["easting", "northing"], rows), raster_path=raster)
    table = pl.read_csv(context.workspace / found.artifacts[0].path)
    assert table["dem"].to_list() == [0.0, 11.0, None, None, None]
    assert (found.results["on_raster"], found.results["outside"]) == (3, 1)


def test_degrees_are_transformed_only_when_their_system_is_said(
    call_tool: Call, raster: str, write_rows: Callable[..., str], context: ToolContext
) -> None:
    place = Transformer.from_crs(28350, 4283, always_xy=True).transform(500_025, 6_000_075)
    path = write_rows("g.csv", ["lon", "lat"], [list(place)])
    with pytest.raises(ArgumentError) as caught:
        call_tool("sample_raster", path=path, raster_path=raster)
    assert caught.value.field == "source_crs"
    found = call_tool("sample_raster", path=path, raster_path=raster, source_crs="EPSG:4283")
    assert pl.read_csv(context.workspace / found.artifacts[0].path)["dem"].to_list() == [10.0]


def test_no_place_on_the_raster_is_an_error(call_tool: Call, raster: str, write_rows: Callable[..., str]) -> None:
    with pytest.raises(ArgumentError, match=r"no place of p\.csv lies on dem\.tif"):
        call_tool("sample_raster", path=write_rows("p.csv", ["easting", "northing"], [[1, 1]]), raster_path=raster)
