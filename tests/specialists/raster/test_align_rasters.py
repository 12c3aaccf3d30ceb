"""An aligned raster has the grid of the reference and the bands, type and values of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Call = Callable[..., ToolResult]


def test_the_grid_is_the_references_and_the_rest_the_sources(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    classes = np.stack([np.full((10, 10), 3, "uint8"), np.full((10, 10), 9, "uint8")])
    source = write_raster("s.tif", classes, nodata=0, left=500_020)
    reference = write_raster("r.tif", np.ones((7, 5), "float32"), cell=20.0)
    found = call_tool("align_rasters", path=source, reference_path=reference)
    values, profile = read_raster(found)
    assert (profile["count"], profile["dtype"], profile["nodata"]) == (2, "uint8", 0)
    assert (profile["width"], profile["height"], profile["transform"].a) == (5, 7, 20.0)
    assert values.mask[0][:, 0].all()
    assert set(values[1].compressed()) == {9}


def test_rasters_apart_or_without_a_system_are_refused(call_tool: Call, write_raster: Callable[..., str]) -> None:
    source, far = write_raster("s.tif", np.ones((3, 3))), write_raster("f.tif", np.ones((3, 3)), left=700_000)
    bare = write_raster("b.tif", np.ones((3, 3)), crs=None)
    with pytest.raises(ArgumentError, match="do not overlap"):
        call_tool("align_rasters", path=source, reference_path=far)
    with pytest.raises(ArgumentError, match=r"b\.tif states no reference system"):
        call_tool("align_rasters", path=source, reference_path=bare)
