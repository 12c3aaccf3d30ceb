"""What a raster holds is told without its nodata cells, and what is no raster is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]


def test_nodata_and_nan_are_left_out(call_tool: Call, write_raster: Callable[..., str]) -> None:
    values = np.arange(12, dtype="float32").reshape(3, 4)
    values[0, 0], values[1, 1], values[2, 2] = -9999, np.nan, np.inf
    found = call_tool("inspect_raster", path=write_raster("r.tif", values, nodata=-9999))
    known = np.array([1, 2, 3, 4, 6, 7, 8, 9, 11], dtype=float)
    band = found.results["statistics"]["1"]
    assert (band["valid"], band["nodata"]) == (9, 3)
    assert [band[name] for name in ("min", "mean", "sd", "median", "max")] == pytest.approx(
        [1, known.mean(), known.std(ddof=1), 6, 11]
    )
    assert found.results["crs"] == "EPSG:28350"
    assert found.results["cell_size"] == [10.0, 10.0]


def test_a_band_without_data_and_many_bands_are_no_trouble(call_tool: Call, write_raster: Callable[..., str]) -> None:
    found = call_tool("inspect_raster", path=write_raster("n.tif", np.full((2, 2), -1.0), nodata=-1, crs=None))
    assert found.results["statistics"]["1"]["mean"] is None
    assert "band 1 holds no data at all" in found.notes
    many = call_tool("inspect_raster", path=write_raster("m.tif", np.ones((200, 2, 2))))
    assert many.results["bands"] == 200
    assert len(wire.dumps(many.as_json())) < 1600
    with pytest.raises(ArgumentError, match="bands 1 to 200, not 201"):
        call_tool("inspect_raster", path="m.tif", bands=[201])


def test_what_is_no_raster_or_leads_elsewhere_is_refused(
    call_tool: Call, write_raster: Callable[..., str], write_file: Callable[..., str], context: ToolContext
) -> None:
    with pytest.raises(DataError, match="cannot be read as a raster"):
        call_tool("inspect_raster", path=write_file("t.csv", "a,b\n1,2\n"))
    outside = context.workspace.parent / "secret.tif"
    (context.workspace / write_raster("r.tif", np.ones((2, 2)))).rename(outside)
    vrt = f'<VRTDataset rasterXSize="2" rasterYSize="2"><VRTRasterBand dataType="Float64" band="1"><SimpleSource>' \
          f'<SourceFilename>{outside}</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>'  # fmt: skip
    with pytest.raises(DataError, match="cannot be read as a raster"):
        call_tool("inspect_raster", path=write_file("r.vrt", vrt))


def test_without_rasterio_the_way_to_install_it_is_said(write_raster: Callable[..., str], context: ToolContext) -> None:
    path = write_raster("r.tif", np.ones((2, 2)))
    code = f"""
import sys; sys.modules["rasterio"] = None
from pathlib import Path
from outcrop_schemas.errors import DataError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool
w = Path({str(context.workspace)!r})
tool = get_tool("inspect_raster")
try:
    tool.run(ToolContext(w, w, w), tool.arguments(path={path!r}))
except DataError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert 'pip install "outcrop[raster]"' in found.stdout
