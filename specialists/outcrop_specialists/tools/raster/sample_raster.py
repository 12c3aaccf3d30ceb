"""Tool: the values of a raster at the places of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.multivariate.features import free_name
from outcrop_specialists.tools.raster.rasters import PATH_HELP, Raster, open_raster, read_band, require_bands
from outcrop_specialists.tools.spatial.places import PlaceArguments, Places, places_of, refuse_impossible_degrees
from outcrop_specialists.tools.spatial.reference_systems import stated_system, system_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]


class Arguments(PlaceArguments):
    raster_path: str = Field(description=PATH_HELP)
    bands: list[int] | None = Field(
        default=None, min_length=1, description="Band numbers, from 1; all where not given."
    )
    source_crs: str | None = Field(
        default=None, description="Reference system of the table's coordinates; the raster's where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where coordinates cannot be told, are of another kind than the raster's, or where no place
    lies on the raster."""
    import numpy
    import polars as pl

    table = read_table(context, arguments.path)
    raster = open_raster(context, arguments.raster_path)
    wanted = require_bands(raster, arguments.bands)
    places = places_of(table, arguments.x, arguments.y)
    refuse_impossible_degrees(places)
    notes = [*table.notes, *places.missing_note()]
    column, line = _cells(places, raster, arguments, notes)
    inside = places.has_place & (column >= 0) & (line >= 0) & (column < raster.width) & (line < raster.height)
    if not inside.any():
        bounds = ", ".join(f"{value:.10g}" for value in raster.bounds)
        raise ArgumentError("x", f"no place of {table.path.name} lies on {raster.path.name} (bounds {bounds}); are "
                            "they in one reference system? source_crs names that of the table")  # fmt: skip
    frame = table.frame
    counts = {}
    for done, band in enumerate(wanted):
        context.report(f"sampling band {band}", done, len(wanted))
        values = numpy.full(len(inside), numpy.nan)
        values[inside] = read_band(raster, band)[line[inside].astype(int), column[inside].astype(int)]
        name = free_name(frame, f"{raster.path.stem}_b{band}" if raster.bands > 1 else raster.path.stem)
        frame = frame.with_columns(pl.Series(name, values).fill_nan(None))
        counts[name] = int(numpy.isfinite(values).sum())
    title = f"{table.path.name} with values of {raster.path.name}"
    published = publish_frame(
        context, TOOL, [table], arguments, frame, title, units=table.units, like=table, files=[raster.path],
        resolved={"x": places.columns.x, "y": places.columns.y},
    )  # fmt: skip
    outside = int((places.has_place & ~inside).sum())
    if outside:
        notes.append(f"{outside} places lie outside the raster")
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "on_raster": int(inside.sum()),
        "outside": outside,
        "with_value": dict(list(counts.items())[:5]),
        "rule": "value of the cell that holds the place; blank where it has no data",
        "path": published.artifact.path,
    }
    first, count = next(iter(counts.items()))
    told = f"{count} of {table.frame.height} places have a value of {first}; {outside} lie outside {raster.path.name}"
    return ToolResult(told, results, [published.artifact], notes)


def _cells(places: Places, raster: Raster, arguments: Arguments, notes: list[str]) -> tuple[Vector, Vector]:
    """Column and line (floats, floored) of each place."""
    import numpy

    x, y = places.x.copy(), places.y.copy()
    given = arguments.source_crs or stated_system(places.table)
    if given is not None:
        if raster.crs is None:
            raise ArgumentError("source_crs", f"{raster.path.name} states no reference system to transform into")
        from pyproj import Transformer

        mover = Transformer.from_crs(system_of(given, "source_crs"), raster.crs.to_wkt(), always_xy=True)
        rows = places.has_place
        x[rows], y[rows] = mover.transform(x[rows], y[rows])
    elif raster.crs is not None and raster.crs.is_geographic != places.columns.is_geographic:
        kinds = ("degrees", "metres or feet")
        mine, other = kinds if places.columns.is_geographic else kinds[::-1]
        raise ArgumentError("source_crs", f"{places.columns.x!r} holds {mine}, {raster.path.name} has {other}; name "
                            "the reference system of the table")  # fmt: skip
    else:
        notes.append(
            f"coordinates taken as in the reference system of the raster, {raster.system or 'which is not stated'}"
        )
    inverse = ~raster.transform
    column = inverse.a * x + inverse.b * y + inverse.c
    line = inverse.d * x + inverse.e * y + inverse.f
    finite = numpy.isfinite(column) & numpy.isfinite(line)
    return numpy.where(finite, numpy.floor(column), -1), numpy.where(finite, numpy.floor(line), -1)


TOOL = Tool(
    name="sample_raster",
    version=1,
    description="Reads the values of a raster at the coordinates of a table's rows and adds them as columns.",
    asked_for=("sample raster", "raster values at points", "extract raster values", "elevation at the samples"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        elevation from the DEM; altitude of each sample; height at each location; look up pixel values; values
        under the points; extract to points; raster to points; pixel at the site; attach the elevation; magnetic
        value at the samples; drape; z from the terrain model; topography at the collars; satellite value at
        each station; intersect points with raster; grid value at position; add a raster attribute to samples;
        what is the altitude; add height to the table; read the image at coordinates; point extraction; overlay
        points on a grid; collar heights; geophysics at the soil sites; slope at each sample; read the magnetic
        intensity at each soil site; add ground elevation to the collars; image value at each station; height of
        the collars; pixel value for each sample; elevation of each; grid value at each sample; terrain height
        at the wells; from the dem; add the altitude; what does the image say at the sites; look up in the grid;
        take values from the raster; pick up the value; what is the elevation of; gravity at each station;
        raster value to the table; extract from the image; ground level; assign the pixel; z coordinate; add the
        geophysical value to each sample
        """
    ),
)
