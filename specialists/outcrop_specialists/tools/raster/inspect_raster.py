"""Tool: what a raster holds: size, reference system, and statistics of each band without its nodata cells."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import RasterArguments, open_raster, read_band, require_bands, statistics

BANDS_TOLD = 4


class Arguments(RasterArguments):
    bands: list[int] | None = Field(
        default=None, min_length=1, description="Band numbers, from 1; all where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises DataError for what is no raster, ArgumentError for a band that there is not."""
    raster = open_raster(context, arguments.path)
    wanted = require_bands(raster, arguments.bands)
    bands: dict[str, Any] = {}
    notes = []
    for done, band in enumerate(wanted[:BANDS_TOLD]):
        context.report(f"reading band {band}", done, len(wanted))
        bands[str(band)] = {
            "name": raster.descriptions[band - 1],
            "type": raster.types[band - 1],
            "nodata_value": raster.nodata[band - 1],
            **statistics(read_band(raster, band)),
        }
        if not bands[str(band)]["valid"]:
            notes.append(f"band {band} holds no data at all")
    if len(wanted) > BANDS_TOLD:
        notes.append(f"{len(wanted) - BANDS_TOLD} more bands are not listed; name them in bands")
    if raster.crs is None:
        notes.append("no reference system is stated")
    results: dict[str, Any] = {
        "width": raster.width,
        "height": raster.height,
        "bands": raster.bands,
        "crs": raster.system,
        "cell_size": list(raster.cell_size),
        "bounds": list(raster.bounds),
        "format": raster.driver,
        "statistics": bands,
        "rule": "cells that are nodata, masked, NaN or infinite are left out and counted; sd with n - 1",
    }
    first = bands[str(wanted[0])]
    told = f"{raster.width} by {raster.height} cells, {raster.bands} band{'s' if raster.bands > 1 else ''}, "
    told += raster.system or "no reference system"
    if first["valid"]:
        told += f"; band {wanted[0]}: {first['min']:.6g} to {first['max']:.6g}, mean {first['mean']:.6g}, "
        told += f"{first['nodata']} cells without data"
    return ToolResult(told, results, [], notes)


TOOL = Tool(
    name="inspect_raster",
    version=1,
    description="Inspects a raster (GeoTIFF, grid): size, bands, reference system, cell size, bounds, and per band "
    "minimum, mean, median, maximum and count without nodata and NaN.",
    asked_for=("inspect raster", "raster statistics", "what is in the raster", "describe the grid file"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        tiff; geotiff; dem; satellite image; image metadata; pixel size; resolution; number of bands; extent of
        the image; projection of the raster; grid info; gdalinfo; what is in the tif; nodata; range of the
        elevation model; minimum and maximum of the image; image properties; channels; spatial resolution; grid
        header; size in pixels; landsat scene; bounding box of the image; picture file; surface grid;
        geophysical grid; coordinate system of the image; elevation range; raster overview; remote sensing;
        aerial; describe the scene; value range of each band; image dimensions; about the satellite picture;
        highest and lowest elevation; facts about the image; how many layers; what resolution; grid file; look
        at the tif; which projection is the image in; how large is the image; size of the pixels; coverage of
        the image; about the dem; elevation limits of the dem; range of the pixel values; info on the raster;
        what does the image show; properties of the grid; how many bands; describe the raster; first look at the
        image; which area does the image cover; what is in the picture
        """
    ),
)
