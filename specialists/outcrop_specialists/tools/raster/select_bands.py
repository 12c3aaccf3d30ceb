"""Tool: takes bands out of a raster."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import (
    NewRaster,
    RasterArguments,
    open_raster,
    publish_raster,
    read_band,
    read_raw,
    require_bands,
)


class Arguments(RasterArguments):
    bands: list[int] = Field(min_length=1, max_length=1000, description="Band numbers, from 1, in the order wanted.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a band that there is not."""
    raster = open_raster(context, arguments.path)
    wanted = require_bands(raster, arguments.bands)
    kinds = {raster.types[band - 1] for band in wanted}
    nodata = {raster.nodata[band - 1] for band in wanted}
    is_alike = len(kinds) == 1 and len(nodata) == 1
    names = [raster.descriptions[band - 1] for band in wanted]
    notes = []
    if is_alike:
        new = NewRaster([read_raw(raster, band) for band in wanted], raster.transform, raster.crs, nodata.pop(), names)
    else:
        new = NewRaster([read_band(raster, band) for band in wanted], raster.transform, raster.crs, descriptions=names)
        notes.append(f"bands differ in type or nodata: all written as float64 with nodata {new.nodata:g}")
    listed = ", ".join(map(str, wanted[:20])) + (f" and {len(wanted) - 20} more" if len(wanted) > 20 else "")
    published = publish_raster(context, TOOL, [raster], arguments, new, f"Bands {listed} of {raster.path.name}")
    results: dict[str, Any] = {
        "bands_before": raster.bands,
        "bands": wanted[:20],
        "bands_after": len(wanted),
        "type": new.bands[0].dtype.name,
        "nodata": new.nodata,
        "path": published.artifact.path,
    }
    return ToolResult(f"bands {listed} of {raster.bands} taken", results, [published.artifact], notes)


TOOL = Tool(
    name="select_bands",
    version=1,
    description="Takes some bands of a raster, in the order given, values unchanged. Writes a GeoTIFF.",
    asked_for=("select bands", "extract bands", "keep bands"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        channel; single band; pick channels; red, green, blue; near infrared; RGB; split bands; band subset;
        only band 4; isolate the channel; separate the layers; false colour composite; layers of the image;
        reorder channels; drop channels; shortwave infrared; thermal channel; multispectral; take out a layer;
        first band; keep one layer of the stack; extract the infrared; true colour; panchromatic; thorium
        channel; bands needed only; export one layer; strip the other channels; isolate the SWIR layers;
        red-green-blue file from the scene; certain channels; just the infrared; one channel; separate a
        channel; channels only; only some layers; take the thermal band; layers from the stack; keep the red
        channel; a few channels of the image; visible bands; single layer; channel 3; pick a band; swir; export
        band
        """
    ),
)
