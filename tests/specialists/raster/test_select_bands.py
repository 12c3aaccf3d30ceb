"""Bands are taken in the order asked for, values unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


def test_bands_keep_values_type_and_place(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any], context: ToolContext
) -> None:
    bands = np.stack([np.full((3, 4), value, "int32") for value in (1, 2, -7)])
    path = write_raster("r.tif", bands, nodata=-7)
    found = call_tool("select_bands", path=path, bands=[3, 1])
    values, profile = read_raster(found)
    assert values.data[:, 0, 0].tolist() == [-7, 1]
    assert values.mask[0].all()
    assert (profile["dtype"], profile["crs"].to_epsg()) == ("int32", 28350)
    before = (context.workspace / found.artifacts[0].path).read_bytes()
    (context.workspace / found.artifacts[0].path).unlink()
    again = call_tool("select_bands", path=path, bands=[3, 1])
    assert (context.workspace / again.artifacts[0].path).read_bytes() == before


def test_a_band_that_there_is_not_is_named(call_tool: Call, write_raster: Callable[..., str]) -> None:
    path = write_raster("r.tif", np.ones((2, 3, 3)))
    for band in (0, 3, -1):
        with pytest.raises(ArgumentError, match=f"bands 1 to 2, not {band}"):
            call_tool("select_bands", path=path, bands=[band])
