"""Tool: transforms a raster into another reference system."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.raster.rasters import (
    RasterArguments,
    open_raster,
    publish_raster,
    rasterio_module,
    require_size,
    statistics,
)
from outcrop_specialists.tools.raster.warping import METHOD_HELP, Method, Target, chosen_method, warped
from outcrop_specialists.tools.spatial.reference_systems import short_name, system_of


class Arguments(RasterArguments):
    target_crs: str = Field(description="Reference system wanted, as EPSG code, name or WKT.")
    source_crs: str | None = Field(
        default=None, description="Reference system of a raster that does not state its own."
    )
    method: Method = Field(default="auto", description=METHOD_HELP)
    cell_size: float | None = Field(
        default=None, gt=0, description="Side of a cell in the units of the target; like the source's where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where a reference system is missing or unknown, or there would be too many cells."""
    rasterio = rasterio_module()
    raster = open_raster(context, arguments.path)
    if raster.crs is None and arguments.source_crs is None:
        raise ArgumentError("source_crs", f"{raster.path.name} states no reference system; name the one it is in")
    notes = []
    source = raster.crs
    if arguments.source_crs is not None:
        given = rasterio.crs.CRS.from_wkt(system_of(arguments.source_crs, "source_crs").to_wkt())
        if source is not None and source != given:
            raise ArgumentError("source_crs", f"{raster.path.name} states {raster.system}; leave source_crs out")
        source = given
    wanted = system_of(arguments.target_crs, "target_crs")
    target = rasterio.crs.CRS.from_wkt(wanted.to_wkt())
    try:
        transform, width, height = rasterio.warp.calculate_default_transform(
            source, target, raster.width, raster.height, *raster.bounds, resolution=arguments.cell_size
        )
    except rasterio.errors.RasterioError as error:
        raise ArgumentError("target_crs", f"{raster.path.name} cannot be put into {wanted.name}: {error}") from error
    require_size(width, height, "cell_size", "the result")
    method = chosen_method(raster, arguments.method)
    context.report(f"reprojecting {raster.bands} bands", 0, raster.bands)
    moved = type(raster)(**{**vars(raster), "crs": source})
    new = warped(moved, Target(transform, width, height, target), method)
    published = publish_raster(context, TOOL, [raster], arguments, new, f"{raster.path.name} in {short_name(wanted)}")
    results: dict[str, Any] = {
        "from": [raster.width, raster.height, str(source.to_string())[:80]],
        "to": [width, height, short_name(wanted)],
        "cell_size": [abs(transform.a), abs(transform.e)],
        "bands": raster.bands,
        "type": new.bands[0].dtype.name,
        "nodata": new.nodata,
        "rule": f"{method} resampling; nodata cells take no part; x before y",
        "path": published.artifact.path,
    }
    band = statistics(new.bands[0].astype(float)) if new.bands[0].dtype.kind == "f" else None
    if band is not None and not band["valid"]:
        notes.append("CAUTION: no cell of band 1 has data after it")
    told = f"{raster.path.name} put into {wanted.name}: {width} by {height} cells by {method}"
    return ToolResult(told, results, [published.artifact], notes)


TOOL = Tool(
    name="reproject_raster",
    version=1,
    description="Transforms a raster into another reference system (EPSG code): all bands, nodata kept, nearest for "
    "classes. Writes a GeoTIFF.",
    asked_for=("reproject raster", "warp raster", "warp", "raster to another projection"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        change the projection of the image; warp; image to UTM; transform the DEM; image from degrees to metres;
        coordinate system of the image; gdalwarp; reproject the dem; other CRS for the grid; geotiff into
        another datum; scene in geographic coordinates; satellite image to national grid; convert the tif to
        EPSG; map projection of a picture; raster into metric coordinates; elevation model to another zone;
        regrid to another projection; reference system of the tif; change the datum of the grid; warp the scene;
        image in lon/lat converted into a zone; put the magnetic grid into our national projection; convert the
        dem; raster to UTM; image in degrees; grid into another coordinate system; raster projection; transform
        the picture; convert the grid to metres; image to another zone; grid to the national system; dem to UTM;
        picture into our coordinate system; re-project the image; different projection for the scene; convert
        the image; geotiff to UTM
        """
    ),
)
