"""A raster in another system keeps its values where they were, its classes and its nodata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyproj import Transformer

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


def test_values_are_found_where_they_were(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    lines, columns = np.mgrid[0:60, 0:50]
    values = columns * 1.0 + lines * 100
    values[30, 20] = -9999
    path = write_raster("r.tif", values, nodata=-9999)
    found = call_tool("reproject_raster", path=path, target_crs="EPSG:4283")
    written, profile = read_raster(found)
    assert profile["crs"].to_epsg() == 4283
    mover = Transformer.from_crs(28350, 4283, always_xy=True)
    for line, column in ((10, 10), (45, 33)):
        longitude, latitude = mover.transform(500_000 + (column + 0.5) * 10, 6_000_100 - (line + 0.5) * 10)
        across, down = ~profile["transform"] * (longitude, latitude)
        assert written[0, int(down), int(across)] == pytest.approx(column + 100 * line, abs=101)
    assert written.min() >= 0
    assert written.max() <= values.max()


def test_whole_numbers_stay_and_cells_outside_get_a_value_of_their_own(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    classes = np.random.default_rng(2).choice(np.array([0, 7, 255], dtype="uint8"), (40, 40))
    path = write_raster("c.tif", classes, left=300_000)
    written, profile = read_raster(call_tool("reproject_raster", path=path, target_crs="EPSG:32751"))
    assert profile["dtype"] == "uint8"
    assert profile["nodata"] not in (0, 7, 255)
    assert set(np.unique(written.compressed())) == {0, 7, 255}
    assert written.mask.any()


def test_a_system_is_needed_and_not_contradicted(
    call_tool: Call, write_raster: Callable[..., str], context: ToolContext
) -> None:
    bare = write_raster("b.tif", np.ones((3, 3)), crs=None)
    with pytest.raises(ArgumentError, match="states no reference system") as caught:
        call_tool("reproject_raster", path=bare, target_crs="EPSG:4326")
    assert caught.value.field == "source_crs"
    found = call_tool("reproject_raster", path=bare, target_crs="EPSG:4326", source_crs="EPSG:28350")
    assert (context.workspace / found.artifacts[0].path).is_file()
    own = write_raster("o.tif", np.ones((3, 3)))
    with pytest.raises(ArgumentError, match="leave source_crs out"):
        call_tool("reproject_raster", path=own, target_crs="EPSG:4326", source_crs="EPSG:28351")
    with pytest.raises(ArgumentError) as caught:
        call_tool("reproject_raster", path=own, target_crs="EPSG:4326", cell_size=1e-9)
    assert caught.value.field == "cell_size"
