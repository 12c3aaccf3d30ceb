"""Rasters made in the workspace; the tests are skipped where rasterio is not installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from outcrop_specialists.tools.base import ToolContext, ToolResult

# Rasters are an extra: without its library there is nothing to test here.
collect_ignore_glob = [] if find_spec("rasterio") else ["test_*.py"]


@pytest.fixture
def write_raster(context: ToolContext) -> Callable[..., str]:
    """Write bands (one array or several) as GeoTIFF: cells of `cell`, upper left corner at (left, top)."""

    def write(
        name: str, bands: Any, *, crs: str | None = "EPSG:28350", nodata: float | None = None, cell: float = 10.0,
        left: float = 500_000.0, top: float = 6_000_100.0, kind: str | None = None,
    ) -> str:  # fmt: skip
        import rasterio

        array = np.asarray(bands, dtype=kind)
        array = array[None] if array.ndim == 2 else array
        transform = rasterio.transform.from_origin(left, top, cell, cell)
        with rasterio.open(
            context.workspace / name, "w", driver="GTiff", height=array.shape[1], width=array.shape[2],
            count=array.shape[0], dtype=array.dtype.name, crs=crs, transform=transform, nodata=nodata,
        ) as file:  # fmt: skip
            file.write(array)
        return name

    return write


@pytest.fixture
def read_raster(context: ToolContext) -> Callable[[ToolResult], Any]:
    """Bands (masked), and what the file says of itself, of the raster that a tool wrote."""

    def read(found: ToolResult) -> Any:
        import rasterio

        with rasterio.open(context.workspace / found.artifacts[0].path) as file:
            return file.read(masked=True), file.profile

    return read
