"""Tool: puts a raster on the grid of another one, so that their cells lie on each other."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import RasterArguments, open_raster, publish_raster
from outcrop_specialists.tools.raster.warping import METHOD_HELP, Method, Target, chosen_method, warped


class Arguments(RasterArguments):
    reference_path: str = Field(description="Raster whose grid (system, cells, bounds) is wanted.")
    method: Method = Field(default="auto", description=METHOD_HELP)


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where one of the rasters states no reference system or they do not meet."""
    raster, reference = open_raster(context, arguments.path), open_raster(context, arguments.reference_path)
    if (raster.crs is None) != (reference.crs is None):
        lacks = raster if raster.crs is None else reference
        raise ArgumentError("path", f"{lacks.path.name} states no reference system, the other does; reproject_raster "
                            "with source_crs gives it one")  # fmt: skip
    method = chosen_method(raster, arguments.method)
    target = Target(reference.transform, reference.width, reference.height, reference.crs)
    context.report(f"aligning {raster.bands} bands", 0, raster.bands)
    new = warped(raster, target, method)
    first = new.bands[0]
    filled = int(((first == first) & (first != new.nodata)).sum())
    if not filled:
        raise ArgumentError("reference_path", f"{raster.path.name} and {reference.path.name} do not overlap")
    title = f"{raster.path.name} on the grid of {reference.path.name}"
    published = publish_raster(context, TOOL, [raster, reference], arguments, new, title)
    results: dict[str, Any] = {
        "from": [raster.width, raster.height, raster.bands],
        "to": [reference.width, reference.height, len(new.bands)],
        "type": first.dtype.name,
        "nodata": new.nodata,
        "cells_with_data": filled,
        "rule": f"{method}; grid of the reference, bands and values of the source; outside it nodata",
        "path": published.artifact.path,
    }
    told = f"{raster.path.name} put on the {reference.width} by {reference.height} cells of {reference.path.name} by "
    f"{method}"
    return ToolResult(told, results, [published.artifact])


TOOL = Tool(
    name="align_rasters",
    version=1,
    description="Puts a raster on the grid of a reference raster (system, cell size, bounds) so that cells match for "
    "band math. Writes a GeoTIFF with the source's own bands.",
    asked_for=("align rasters", "align to", "match grids", "same grid as", "co-register rasters"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        match pixels; pixels do not line up; same grid; co-registration; same extent and resolution; snap; stack
        rasters; overlay images; different resolution images; bring two images onto one grid; coregister; pixel
        by pixel comparison; common grid; harmonise grids; line up; template grid; fit one image to another;
        magnetics and radiometrics on one grid; make two grids compatible; register; layer stack; superimpose;
        two scenes with unequal cells; shifted pixels; grids with offset; conform to the reference; cell by
        cell; both images onto identical pixels; gravity grid must match the dem cell for cell; identical
        pixels; pixels must match; onto the same pixels; put one grid onto the other; images are offset; combine
        grids of different resolution; make both images comparable; same pixel size and extent; pixel to pixel;
        cells must coincide; overlay two grids; fit to the other raster; different cells; image registration;
        match the raster to the reference; cell for cell; two grids
        """
    ),
)
