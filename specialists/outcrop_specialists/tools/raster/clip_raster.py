"""Tool: cuts a raster to a box."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import (
    NewRaster,
    RasterArguments,
    open_raster,
    publish_raster,
    rasterio_module,
    read_raw,
    require_north_up,
)
from outcrop_specialists.tools.spatial.reference_systems import system_of


class Arguments(RasterArguments):
    box: list[float] = Field(min_length=4, max_length=4, description="min x, min y, max x, max y.")
    box_crs: str | None = Field(default=None, description="Reference system of the box; the raster's where not given.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a box with exchanged corners or outside the raster."""
    rasterio = rasterio_module()
    raster = open_raster(context, arguments.path)
    require_north_up(raster)
    box = arguments.box
    if box[0] >= box[2] or box[1] >= box[3]:
        raise ArgumentError("box", "it goes min x, min y, max x, max y")
    if arguments.box_crs is not None:
        if raster.crs is None:
            raise ArgumentError("box_crs", f"{raster.path.name} states no reference system")
        from pyproj import Transformer

        mover = Transformer.from_crs(system_of(arguments.box_crs, "box_crs"), raster.crs.to_wkt(), always_xy=True)
        box = list(mover.transform_bounds(box[0], box[1], box[2], box[3]))
    left, top = ~raster.transform * (box[0], box[3])
    right, bottom = ~raster.transform * (box[2], box[1])
    # A cell belongs to the box when its centre does.
    first_column, last_column = sorted((round(left), round(right)))
    first_line, last_line = sorted((round(top), round(bottom)))
    first_column, first_line = max(first_column, 0), max(first_line, 0)
    last_column, last_line = min(last_column, raster.width), min(last_line, raster.height)
    if first_column >= last_column or first_line >= last_line:
        bounds = ", ".join(f"{value:.10g}" for value in raster.bounds)
        raise ArgumentError("box", f"it holds no cell centre of {raster.path.name}, whose bounds are {bounds}")
    bands = [
        read_raw(raster, band)[first_line:last_line, first_column:last_column] for band in range(1, raster.bands + 1)
    ]
    nodata = next((value for value in raster.nodata if value is not None), None)
    transform = raster.transform * rasterio.Affine.translation(first_column, first_line)
    new = NewRaster(bands, transform, raster.crs, nodata, raster.descriptions)
    published = publish_raster(context, TOOL, [raster], arguments, new, f"{raster.path.name} clipped")
    width, height = last_column - first_column, last_line - first_line
    results: dict[str, Any] = {
        "from": [raster.width, raster.height],
        "to": [width, height],
        "bands": raster.bands,
        "bounds": list(rasterio.transform.array_bounds(height, width, transform)),
        "rule": "cells whose centre lies in the box; values unchanged",
        "path": published.artifact.path,
    }
    told = f"{raster.path.name} clipped from {raster.width} by {raster.height} to {width} by {height} cells"
    return ToolResult(told, results, [published.artifact])


TOOL = Tool(
    name="clip_raster",
    version=1,
    description="Cuts a raster to a box given in its own or in another reference system. Writes a GeoTIFF.",
    asked_for=("clip raster", "crop raster", "cut raster to extent", "subset raster by box"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        crop; cut out; trim the image; area of interest; AOI; subset of the image; window; study area; licence
        area; extract a part of the scene; cut the DEM; bounding box; mask to extent; smaller piece of the
        raster; tile; restrict the image to the region; chop; section of the satellite picture; zoom to the
        tenement; only the part over; excerpt of the grid; remove the area outside; frame; limits of the
        concession; rectangle; snip; cookie cutter; study region; cut the DEM down to our permit; only retain
        the part of the scene around the mine; smaller area; only our area; cut the image; outside the area is
        not needed; part of the image; part of the dem; reduce the image to the area; only the area around;
        within the licence; portion of the image; region of interest; surroundings of the mine; cut out the
        tenement; limit the scene; subset; restrict the dem
        """
    ),
)
