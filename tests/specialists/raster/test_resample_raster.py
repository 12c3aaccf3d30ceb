"""Resampling: means without nodata, classes that stay classes, and a bounded size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Call = Callable[..., ToolResult]


def test_larger_cells_hold_the_mean_of_what_has_data(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    values = np.array([[1.0, 3, -9999, -9999], [5, 7, -9999, 4]])
    path = write_raster("r.tif", values, nodata=-9999)
    found = call_tool("resample_raster", path=path, factor=0.5)
    written, profile = read_raster(found)
    assert written[0].tolist() == [[4.0, 4.0]]
    assert profile["transform"].a == 20.0
    assert profile["crs"].to_epsg() == 28350
    assert found.results["rule"].startswith("average")


def test_classes_stay_classes(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any]
) -> None:
    classes = np.random.default_rng(1).choice(np.array([1, 5, 9], dtype="uint8"), (6, 6))
    path = write_raster("c.tif", classes, nodata=0)
    for arguments in ({"factor": 0.5}, {"cell_size": 20.0, "method": "mode"}, {"factor": 3}):
        written, profile = read_raster(call_tool("resample_raster", path=path, **arguments))
        assert set(np.unique(written.compressed())) <= {1, 5, 9}
        assert profile["dtype"] == "uint8"
        assert profile["nodata"] == 0


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"factor": 0.01}, "factor"), ({"factor": 1e6}, "factor"), ({"cell_size": 1e-4}, "cell_size"), ({}, "cell_size"),
     ({"factor": 1, "cell_size": 1}, "cell_size")],
)  # fmt: skip
def test_no_cells_and_too_many_are_refused(
    call_tool: Call, write_raster: Callable[..., str], arguments: dict[str, float], field: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        call_tool("resample_raster", path=write_raster("r.tif", np.ones((4, 4))), **arguments)
    assert caught.value.field == field
