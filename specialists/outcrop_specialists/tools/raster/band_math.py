"""Tool: computes a new band from an expression over the bands of a raster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.expressions.computing import compute
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import (
    NewRaster,
    Raster,
    RasterArguments,
    open_raster,
    publish_raster,
    read_band,
    statistics,
)

if TYPE_CHECKING:
    import polars as pl

# Bands are held together as float64: 1.6 GB.
MOST_VALUES = 200_000_000


class Arguments(RasterArguments):
    expression: str = Field(
        min_length=1,
        max_length=2000,
        description="Formula over the bands b1, b2…: (b4 - b3) / (b4 + b3), log10(b1), if_else(b1 > 5, 1, 0); + - * "
        "/ **, "
        "comparisons, and, or, not, abs sqrt exp log log10 round min max clip; mean(b1), percentile(b1, 95) of the "
        "band.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError, naming the place, for what is no allowed expression or names a band that there is not."""
    import numpy

    raster = open_raster(context, arguments.path)
    frame = _bands(context, raster)
    context.report(f"computing {arguments.expression[:60]}", raster.bands, raster.bands)
    computed = compute(Table(raster.path, frame), arguments.expression)
    if computed.kind not in ("integer", "number", "boolean"):
        raise ArgumentError("expression", f"gives {computed.kind} values; a raster holds numbers")
    if not computed.columns:
        raise ArgumentError("expression", f"names no band; {raster.path.name} has b1 to b{raster.bands}")
    values = computed.values.cast(float).to_numpy().reshape(raster.height, raster.width)
    new = NewRaster([numpy.asarray(values)], raster.transform, raster.crs, _free_nodata(values), [arguments.expression])
    published = publish_raster(context, TOOL, [raster], arguments, new, f"{arguments.expression} of {raster.path.name}")
    figures = statistics(values)
    results: dict[str, Any] = {
        "width": raster.width,
        "height": raster.height,
        "bands_used": computed.columns[:20],
        **figures,
        "nodata_value": new.nodata,
        "undefined": computed.undefined,
        "rule": "float64; a cell without data in any band used has none in the result; sd with n - 1",
        "path": published.artifact.path,
    }
    told = f"{arguments.expression}: {figures['valid']} of {values.size} cells have a value"
    if figures["valid"]:
        told += f", {figures['min']:.6g} to {figures['max']:.6g}, mean {figures['mean']:.6g}"
    notes = [note.replace(" rows", " cells") for note in computed.notes]
    return ToolResult(told, results, [published.artifact], notes)


def _bands(context: ToolContext, raster: Raster) -> pl.DataFrame:
    """The cells of all bands as columns b1, b2…, null where there is no data."""
    import polars as pl

    if raster.width * raster.height * raster.bands > MOST_VALUES:
        raise ArgumentError(
            "path", f"{raster.path.name} holds {raster.bands} bands of {raster.width} by {raster.height} cells, more "
            f"than the {MOST_VALUES:,} values worked on together; clip it or select_bands",
        )  # fmt: skip
    columns = []
    for band in range(1, raster.bands + 1):
        context.report(f"reading band {band}", band - 1, raster.bands)
        columns.append(pl.Series(f"b{band}", read_band(raster, band).ravel()).fill_nan(None))
    return pl.DataFrame(columns)


def _free_nodata(values: Any) -> float:
    """A nodata value that is no result: a cell of -9999 that was computed must stay one."""
    import numpy

    for candidate in (-9999.0, -99999.0, -3.4e38):
        if not (values == candidate).any():
            return candidate
    return float(numpy.finfo(numpy.float64).min)


TOOL = Tool(
    name="band_math",
    version=1,
    description="Computes a new band from a formula over the bands b1, b2… of a raster (ratios, indices such as NDVI, "
    "logarithms, conditions). Nodata stays nodata. Writes a float64 GeoTIFF.",
    asked_for=("band math", "band ratio", "raster calculator", "NDVI", "raster index"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        band ratio; vegetation index; NDVI; iron oxide ratio; clay ratio; spectral index; map algebra; raster
        calculator; combine bands; divide bands; difference of two bands; channel arithmetic; hydroxyl; ferrous;
        gossan; alteration mapping; image arithmetic; normalised difference; water index; NDWI; mask pixels by a
        condition; pixel formula; highlight iron; aster; sentinel; landsat; subtract one image from another;
        spectral; vegetation; greenness; reflectance; compute per pixel; burn index; scale the pixel values;
        thorium potassium ratio image; snow; clay minerals from satellite; calculation with channels; threshold
        an image; vegetation greenness; quotient of the clay channels, per pixel; difference between two images;
        formula on pixels; index from satellite channels; compute with pixels; compute with the image; mask the
        water; iron from the satellite; minerals from satellite; divide one channel by another; channel ratio;
        alteration minerals in the image; plants; where do plants grow; clay; pixel arithmetic; raster formula;
        mathematical operation on the grid; multiply the raster; add two grids; ferric; moisture index; band
        combination; log of the raster; conditions on pixels; dem above a height
        """
    ),
)
