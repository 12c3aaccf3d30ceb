"""Tool: gives a raster larger or smaller cells."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import (
    RasterArguments,
    open_raster,
    publish_raster,
    require_north_up,
    require_size,
)
from outcrop_specialists.tools.raster.warping import METHOD_HELP, Method, Target, chosen_method, warped


class Arguments(RasterArguments):
    cell_size: float | None = Field(default=None, gt=0, description="New side of a cell, in the raster's units.")
    factor: float | None = Field(
        default=None, gt=0, description="Or: new number of cells as a multiple of the old, 0.5 halves it each way."
    )
    method: Method = Field(default="auto", description=METHOD_HELP + " Larger cells of measured values: average.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError unless one of cell_size and factor is given, and for no cells or too many."""
    if (arguments.cell_size is None) == (arguments.factor is None):
        raise ArgumentError("cell_size", "give cell_size or factor, one of them")
    raster = open_raster(context, arguments.path)
    require_north_up(raster)
    wide, high = raster.cell_size
    if arguments.cell_size is not None:
        width, height = raster.width * wide / arguments.cell_size, raster.height * high / arguments.cell_size
    else:
        assert arguments.factor is not None
        width, height = raster.width * arguments.factor, raster.height * arguments.factor
    field = "cell_size" if arguments.cell_size is not None else "factor"
    require_size(round(width), round(height), field, "the result")
    method = chosen_method(raster, arguments.method, means_are_meant=width < raster.width)
    columns, lines = round(width), round(height)
    # The outline stays where it is: cells of the wanted size where they divide it, else of the nearest size that does.
    transform = raster.transform * raster.transform.scale(raster.width / columns, raster.height / lines)
    context.report(f"resampling {raster.bands} bands", 0, raster.bands)
    new = warped(raster, Target(transform, columns, lines, raster.crs), method)
    published = publish_raster(
        context, TOOL, [raster], arguments, new, f"{raster.path.name} with cells of {abs(transform.a):g}"
    )
    results: dict[str, Any] = {
        "from": [raster.width, raster.height],
        "to": [columns, lines],
        "cell_size": [abs(transform.a), abs(transform.e)],
        "bands": raster.bands,
        "type": new.bands[0].dtype.name,
        "nodata": new.nodata,
        "rule": f"{method}; nodata cells take no part; bounds kept, so that cells divide them evenly",
        "path": published.artifact.path,
    }
    told = (
        f"{raster.path.name} resampled from {raster.width} by {raster.height} to {columns} by {lines} cells by {method}"
    )
    return ToolResult(told, results, [published.artifact])


TOOL = Tool(
    name="resample_raster",
    version=1,
    description="Resamples a raster to larger or smaller cells: average, bilinear, cubic or median for measured "
    "values, nearest or mode for classes. Writes a GeoTIFF.",
    asked_for=("resample raster", "change cell size", "coarser raster", "downsample raster"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        pixel size; coarser; finer; resolution; make pixels bigger; larger cells; smaller pixels; downscale;
        upscale; reduce the file size of the image; aggregate pixels; degrade the resolution; change the
        resolution; 10 m to 30 m; too fine; too detailed; average blocks of pixels; shrink the image; lower the
        resolution; up-sample; fewer pixels; blocky; thin out the grid; simplify the dem; image too heavy;
        lighter image; bilinear; double the cell size; cubic; make the elevation model coarser; 30 m pixels to
        90 m; bigger pixels; larger pixels; reduce resolution; lower detail; lower-resolution image; average
        pixels; less detailed image; coarse; pixel from 10 m to 50 m; change the pixel; reduce the size of the
        image; smaller image; finer grid; refine the grid; increase resolution; interpolate the image to finer
        pixels; coarsen
        """
    ),
)
