"""Tool: slope, aspect or gradient magnitude of raster bands."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.neighbourhoods import Gradient, gradient
from outcrop_specialists.tools.raster.rasters import (
    NewRaster,
    RasterArguments,
    open_raster,
    publish_raster,
    read_band,
    require_bands,
    require_north_up,
    statistics,
)

BANDS_TOLD = 3


class Arguments(RasterArguments):
    method: Gradient = Field(
        default="slope",
        description="slope (degrees, of elevations in the units of the cells), aspect (degrees from north, downhill), "
        "sobel (magnitude of the change per cell).",
    )
    bands: list[int] | None = Field(
        default=None, min_length=1, description="Band numbers, from 1; all where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for slope and aspect of a raster in degrees, whose cells have no length."""
    raster = open_raster(context, arguments.path)
    require_north_up(raster)
    if arguments.method != "sobel" and raster.crs is not None and raster.crs.is_geographic:
        raise ArgumentError("method", f"{raster.path.name} has cells in degrees, which have no length; "
                            "reproject_raster first, or use sobel")  # fmt: skip
    wanted = require_bands(raster, arguments.bands)
    made = []
    for done, band in enumerate(wanted):
        context.report(f"{arguments.method} of band {band}", done, len(wanted))
        made.append(gradient(read_band(raster, band), *raster.cell_size, arguments.method))
    names = [f"{arguments.method} of band {band}" for band in wanted]
    new = NewRaster(made, raster.transform, raster.crs, descriptions=names)
    published = publish_raster(context, TOOL, [raster], arguments, new, f"{arguments.method} of {raster.path.name}")
    figures = {str(band): statistics(values) for band, values in list(zip(wanted, made, strict=True))[:BANDS_TOLD]}
    results: dict[str, Any] = {
        "bands": len(wanted),
        "statistics": figures,
        "nodata": new.nodata,
        "rule": "3 by 3 cells (Horn 1981); no value where one of them has no data, nor along the edge"
        + ("; flat cells have no aspect" if arguments.method == "aspect" else "") + "; sd with n - 1",
        "path": published.artifact.path,
    }  # fmt: skip
    first = figures[str(wanted[0])]
    told = f"{arguments.method} of {len(wanted)} band{'s' if len(wanted) > 1 else ''} of {raster.path.name}"
    if first["valid"]:
        told += f": band {wanted[0]} {first['min']:.6g} to {first['max']:.6g}, mean {first['mean']:.6g}"
    return ToolResult(told, results, [published.artifact])


TOOL = Tool(
    name="raster_gradient",
    version=1,
    description="Slope, aspect or Sobel gradient of raster bands, nodata respected. Writes a float64 GeoTIFF with "
    "one band for each band asked for.",
    asked_for=("slope", "aspect", "gradient of the raster", "sobel", "edge detection"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        steepness; slope angle; how steep; hillslope; direction of the slope; facing; exposure; terrain; relief;
        edges; edge filter; lineaments; topographic derivative; horizontal derivative; gradient of magnetics;
        inclination of the ground; which way does it face; downhill direction; steep terrain; morphometry;
        landslide; hillside; contacts in the grid; sharp changes; escarpment; faults in the image; structural
        edges; north-facing; derivative; terrain analysis; boundaries in the image; rate of change of elevation;
        sobel; cliffs; flat areas; ramps; ground too steep to drill; bring out lineaments by edge filtering;
        which slopes face north; steep; slopes; inclination; edges of the image; orientation of the hillside;
        how hilly; terrain steepness; edge enhancement; find sharp boundaries; compass direction of the slope;
        lineament; drill pad; slope map; too steep; flat enough; accessible; gradient magnitude; flanks; fault
        lines in magnetics; sides of the valley
        """
    ),
)
