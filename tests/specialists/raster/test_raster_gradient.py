"""Slope, aspect and Sobel gradient of planes are exact, and nodata is no number."""

from __future__ import annotations

from collections.abc import Callable
from math import atan, degrees, hypot
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Call = Callable[..., ToolResult]


def plane(to_east: float, to_north: float) -> Any:
    """Values on cells of 10, rising by so much per unit of length."""
    lines, columns = np.mgrid[0:6, 0:7]
    return columns * 10 * to_east - lines * 10 * to_north


def test_slope_and_aspect_of_a_plane_are_exact(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    path = write_raster("r.tif", plane(0.3, 0.4))
    slope, _ = read_raster(call_tool("raster_gradient", path=path))
    assert slope[0, 1:-1, 1:-1].compressed() == pytest.approx(degrees(atan(0.5)))
    assert slope.mask[0][0].all()
    aspect, _ = read_raster(call_tool("raster_gradient", path=path, method="aspect"))
    assert aspect[0, 2, 2] == pytest.approx((degrees(atan(0.3 / 0.4)) + 180) % 360)
    sobel, _ = read_raster(call_tool("raster_gradient", path=path, method="sobel"))
    assert sobel[0, 2, 2] == pytest.approx(hypot(3, 4))


def test_one_band_is_written_for_each_asked_for_and_nodata_has_no_gradient(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    steep = plane(1, 0)
    steep[2, 2] = -9999
    path = write_raster("r.tif", np.stack([plane(0, 1), steep, plane(1, 1)]), nodata=-9999)
    values, profile = read_raster(call_tool("raster_gradient", path=path, bands=[2]))
    assert profile["count"] == 1
    assert values[0, 4, 4] == pytest.approx(45)
    assert values.max() == pytest.approx(45)
    assert values.mask[0][1:4, 1:4].all()
    every, profile = read_raster(call_tool("raster_gradient", path=path))
    assert profile["count"] == 3
    assert every[0, 2, 2] == pytest.approx(45)


def test_a_slope_of_degrees_is_refused(call_tool: Call, write_raster: Callable[..., str]) -> None:
    path = write_raster("g.tif", plane(1, 0), crs="EPSG:4326", cell=0.1, left=118, top=-32)
    with pytest.raises(ArgumentError, match="cells in degrees"):
        call_tool("raster_gradient", path=path)
