"""Texture equals numpy on each window, at edges and beside gaps too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult
from outcrop_specialists.tools.raster.neighbourhoods import LEVELS

Call = Callable[..., ToolResult]


@pytest.fixture
def values() -> Any:
    found = np.random.default_rng(8).normal(1e6, 3, (9, 8))
    found[4, 4] = np.nan
    return found


def expected(values: Any, figure: Callable[[Any], float]) -> Any:
    found = np.full(values.shape, np.nan)
    for line, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
        window = values[max(line - 1, 0) : line + 2, max(column - 1, 0) : column + 2]
        found[line, column] = figure(window[np.isfinite(window)])
    return found


def test_each_figure_equals_numpy(
    call_tool: Call, write_raster: Callable[..., str], read_raster: Callable[[ToolResult], Any], values: Any
) -> None:
    low, high = np.nanpercentile(values, [1, 99])

    def entropy(window: Any) -> float:
        classes = np.clip(((window - low) / (high - low) * LEVELS).astype(int), 0, LEVELS - 1)
        share = np.unique(classes, return_counts=True)[1] / len(classes)
        return float(-(share * np.log2(share)).sum())

    path = write_raster("r.tif", values, nodata=-9999)
    for method, figure in (("std", np.std), ("range", np.ptp), ("entropy", entropy)):
        written, _ = read_raster(call_tool("raster_texture", path=path, method=method, window=3))
        wanted = expected(values, figure)
        assert np.isnan(np.ma.filled(written[0], np.nan)).tolist() == np.isnan(wanted).tolist()
        assert written[0].compressed() == pytest.approx(wanted[np.isfinite(wanted)], abs=1e-6)


def test_a_flat_band_has_no_texture_and_an_empty_one_is_refused(
    call_tool: Call, write_raster: Callable[..., str]
) -> None:
    flat = write_raster("f.tif", np.ones((4, 4)))
    for method in ("std", "entropy", "range"):
        assert call_tool("raster_texture", path=flat, method=method, window=3).results["statistics"]["1"]["max"] == 0
    with pytest.raises(ArgumentError, match="is even"):
        call_tool("raster_texture", path=flat, window=4)
    with pytest.raises(ArgumentError, match="holds no data"):
        call_tool("raster_texture", path=write_raster("n.tif", np.full((3, 3), -1.0), nodata=-1))
