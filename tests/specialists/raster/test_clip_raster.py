"""A clipped raster holds the cells whose centre lies in the box, unchanged and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyproj import Transformer

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


@pytest.fixture
def path(write_raster: Callable[..., str]) -> str:
    return write_raster("r.tif", np.arange(80, dtype="int16").reshape(10, 8), nodata=-1)


def test_cells_in_the_box_are_kept_as_they_are(
    call_tool: Call, path: str, read_raster: Callable[[ToolResult], Any]
) -> None:
    found = call_tool("clip_raster", path=path, box=[500_014, 6_000_050, 500_046, 6_000_076])
    values, profile = read_raster(found)
    lines, columns = slice(2, 5), slice(1, 5)
    assert values[0].tolist() == np.arange(80).reshape(10, 8)[lines, columns].tolist()
    assert (profile["transform"].c, profile["transform"].f) == (500_010, 6_000_080)
    assert (profile["dtype"], profile["nodata"]) == ("int16", -1)


def test_a_box_in_another_system_is_transformed(call_tool: Call, path: str) -> None:
    box = Transformer.from_crs(28350, 4283, always_xy=True).transform_bounds(500_010, 6_000_050, 500_050, 6_000_080)
    found = call_tool("clip_raster", path=path, box=list(box), box_crs="EPSG:4283")
    assert found.results["to"] == [4, 3]


def test_a_box_beside_the_raster_is_refused_and_nothing_is_left_behind(
    call_tool: Call, path: str, context: ToolContext
) -> None:
    for box in ([0, 0, 1, 1], [500_050, 6_000_000, 500_000, 6_000_100]):
        with pytest.raises(ArgumentError) as caught:
            call_tool("clip_raster", path=path, box=box)
        assert caught.value.field == "box"
    assert not (context.workspace / "results").exists()
