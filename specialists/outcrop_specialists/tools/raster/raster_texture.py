"""Tool: texture of raster bands in a moving window."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.neighbourhoods import LEVELS, Texture, texture
from outcrop_specialists.tools.raster.rasters import (
    NewRaster,
    RasterArguments,
    open_raster,
    publish_raster,
    read_band,
    require_bands,
    statistics,
)

BANDS_TOLD = 3


class Arguments(RasterArguments):
    method: Texture = Field(default="std", description="std (standard deviation), entropy (bits) or range.")
    window: int = Field(default=7, ge=3, le=201, description="Side of the window in cells, an odd number.")
    bands: list[int] | None = Field(
        default=None, min_length=1, description="Band numbers, from 1; all where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for an even window and for a band without data."""
    import numpy

    if arguments.window % 2 == 0:
        raise ArgumentError("window", f"{arguments.window} is even; a window has a cell in its middle")
    raster = open_raster(context, arguments.path)
    wanted = require_bands(raster, arguments.bands)
    made = []
    for done, band in enumerate(wanted):
        context.report(f"{arguments.method} of band {band}", done, len(wanted))
        values = read_band(raster, band)
        if not numpy.isfinite(values).any():
            raise ArgumentError("bands", f"band {band} of {raster.path.name} holds no data")
        made.append(texture(values, arguments.window, arguments.method))
    names = [f"{arguments.method} of band {band}" for band in wanted]
    new = NewRaster(made, raster.transform, raster.crs, descriptions=names)
    published = publish_raster(context, TOOL, [raster], arguments, new, f"{arguments.method} of {raster.path.name}")
    figures = {str(band): statistics(values) for band, values in list(zip(wanted, made, strict=True))[:BANDS_TOLD]}
    how = {
        "std": "standard deviation with n",
        "range": "greatest less least value",
        "entropy": f"Shannon entropy in bits of {LEVELS} equal classes between the 1st and 99th percentile of the band",
    }[arguments.method]
    results: dict[str, Any] = {
        "bands": len(wanted),
        "statistics": figures,
        "nodata": new.nodata,
        "rule": f"{how}, of the cells with data in {arguments.window} by {arguments.window} (fewer at edges and "
        "gaps); no value for a cell without data",
        "path": published.artifact.path,
    }
    first = figures[str(wanted[0])]
    told = f"{arguments.method} in windows of {arguments.window} cells of {len(wanted)} band"
    told += f"{'s' if len(wanted) > 1 else ''}: band {wanted[0]} {first['min']:.6g} to {first['max']:.6g}"
    return ToolResult(told, results, [published.artifact])


TOOL = Tool(
    name="raster_texture",
    version=1,
    description="Texture of raster bands in a moving window: standard deviation, entropy or range, nodata respected. "
    "Writes a float64 GeoTIFF.",
    asked_for=("raster texture", "texture", "entropy", "roughness of the raster", "moving window"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        roughness; ruggedness; rugged terrain; local variability; focal statistics; neighbourhood; local
        standard deviation; moving kernel; local entropy; heterogeneity; smooth or rough; haralick; glcm; local
        range; surface roughness; topographic ruggedness; coarse and fine patterns; spatial variability in a
        window; busy areas; homogeneous areas; bumpy; local relief; focal filter; pattern of the image;
        complexity of the surface; kernel statistics; how uneven; granularity; variability around each pixel;
        jagged ground; how uneven the ground is around each pixel; local variability of backscatter; variation
        in the neighbourhood; local roughness; rough; smoothness; uneven; pixel neighbourhood; variability in a
        window; how rough is the terrain; spread of pixel values nearby; window statistics; radar; local
        contrast; lava or sediment by roughness; local heterogeneity; how much does it vary locally; pattern;
        rough surfaces
        """
    ),
)
