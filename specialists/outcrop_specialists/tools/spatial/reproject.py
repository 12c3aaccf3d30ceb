"""Tool: transforms coordinates from one reference system into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.spatial import reference_systems as systems
from outcrop_specialists.tools.spatial.places import PlaceArguments, Places, places_of, refuse_impossible_degrees

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyproj import CRS

    Vector = NDArray[Any]

MOSTLY = 0.5


class Arguments(PlaceArguments):
    target_crs: str = Field(default="EPSG:4326", description="Reference system wanted, as EPSG code, name or WKT.")
    source_crs: str | None = Field(
        default=None,
        description="Reference system of the coordinates, as EPSG code, name or WKT. Needed unless a column "
        "(crs, epsg) states it; a zone is never guessed.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where a reference system is unknown or does not fit the coordinates."""
    import numpy
    import polars as pl
    from pyproj import Transformer

    table = read_table(context, arguments.path)
    places = places_of(table, arguments.x, arguments.y)
    refuse_impossible_degrees(places)
    notes = [*table.notes, *places.missing_note()]
    source = _source(places, arguments)
    target = systems.system_of(arguments.target_crs, "target_crs")
    _refuse_misfit(places, source)
    transformer = Transformer.from_crs(source, target, always_xy=True)
    rows = places.has_place
    context.report(f"transforming {int(rows.sum())} places", 0, len(rows))
    across, up = numpy.full(len(rows), numpy.nan), numpy.full(len(rows), numpy.nan)
    across[rows], up[rows] = transformer.transform(places.x[rows], places.y[rows])
    operation = transformer.get_last_used_operation().description
    failed = rows & ~(numpy.isfinite(across) & numpy.isfinite(up))
    across[failed] = up[failed] = numpy.nan
    if failed.all() or failed.sum() == rows.sum():
        raise ArgumentError("target_crs", f"no place of {table.path.name} can be transformed into {target.name}")
    if failed.any():
        notes.append(f"{int(failed.sum())} places cannot be transformed and are left blank")
    if "ballpark" in operation.casefold():
        notes.append("CAUTION: only a rough transformation between the datums is known (metres to hundreds of metres)")
    names = _names(table.frame.columns, target)
    frame = table.frame.with_columns(
        pl.Series(name, values).fill_nan(None) for name, values in zip(names, (across, up), strict=True)
    )
    outside = systems.share_inside(target, across[rows & ~failed], up[rows & ~failed])
    if outside is not None and outside < 1:
        notes.append(f"{1 - outside:.4g} of the places lie outside the area of use of {target.name}")
    units = {**table.units, **dict.fromkeys(names, systems.axis_unit(target))}
    title = f"{table.path.name} in {systems.short_name(target)}"
    published = publish_frame(
        context, TOOL, [table], arguments, frame, title, units=units, like=table,
        resolved={"x": places.columns.x, "y": places.columns.y, "source_crs": systems.short_name(source)},
    )  # fmt: skip
    transformed = int((rows & ~failed).sum())
    results: dict[str, Any] = {
        "rows": len(rows),
        "transformed": transformed,
        "without_coordinates": int((~rows).sum()),
        "failed": int(failed.sum()),
        "source": f"{systems.short_name(source)} {source.name}",
        "target": f"{systems.short_name(target)} {target.name}",
        "columns": list(names),
        "x_range": [float(numpy.nanmin(across)), float(numpy.nanmax(across))],
        "y_range": [float(numpy.nanmin(up)), float(numpy.nanmax(up))],
        "accuracy_m": transformer.accuracy if transformer.accuracy >= 0 else None,
        "rule": f"{operation[:120]}; x before y",
        "path": published.artifact.path,
    }
    told = (
        f"{transformed} of {len(rows)} places transformed from {source.name} to {target.name}: columns "
        f"{names[0]} and {names[1]} added"
    )
    return ToolResult(told, results, [published.artifact], notes)


def _source(places: Places, arguments: Arguments) -> CRS:
    text = arguments.source_crs or systems.stated_system(places.table)
    if text is None:
        x, y = places.columns.x, places.columns.y
        hint = (
            f"{x!r} and {y!r} are degrees; name their datum, such as EPSG:4326 (WGS 84) or EPSG:4283 (GDA94)"
            if places.columns.is_geographic
            else f"the zone of {x!r} and {y!r} cannot be told from the numbers; give a code such as {systems.EXAMPLES}"
        )
        raise ArgumentError("source_crs", f"{places.table.path.name} does not state its reference system: {hint}")
    found = systems.system_of(text, "source_crs")
    if places.columns.is_geographic and not found.is_geographic:
        raise ArgumentError("source_crs", f"{found.name} has metres or feet, {places.columns.x!r} holds degrees")
    return found


def _refuse_misfit(places: Places, source: CRS) -> None:
    """Coordinates that fit their system only the other way round are swapped; that is not repaired but said."""
    import numpy

    rows = places.has_place
    x, y = places.x[rows], places.y[rows]
    if source.is_geographic and bool((numpy.abs(y) > 90).any()):
        swapped = bool((numpy.abs(x) <= 90).all())
        advice = f"longitude and latitude look swapped: try x={places.columns.y!r}, y={places.columns.x!r}"
        raise ArgumentError("x", f"{places.table.path.name}: latitudes beyond 90 degrees in {places.columns.y!r}; "
                            + (advice if swapped else "these are no degrees, name their projected system"))  # fmt: skip
    inside = systems.share_inside(source, x, y)
    if inside is None or inside >= MOSTLY:
        return
    turned = systems.share_inside(source, y, x)
    name, across, up = places.table.path.name, places.columns.x, places.columns.y
    if turned is not None and turned > MOSTLY:
        raise ArgumentError("x", f"{name}: {across!r} and {up!r} fit {source.name} only the other way round, they look "
                            f"swapped: try x={up!r}, y={across!r}")  # fmt: skip
    raise ArgumentError(
        "source_crs",
        f"{name}: {1 - inside:.3g} of the places lie outside the area of use of {source.name} "
        f"({source.area_of_use.name[:80] if source.area_of_use else ''}); this is hardly their system",
    )


def _names(taken: list[str], target: CRS) -> tuple[str, str]:
    names = ("longitude", "latitude") if target.is_geographic else ("easting", "northing")
    if not {name.casefold() for name in taken} & set(names):
        return names
    code = systems.short_name(target).rpartition(":")[2].replace(" ", "_")
    found = f"{names[0]}_{code}", f"{names[1]}_{code}"
    while set(found) & set(taken):
        found = f"{found[0]}_", f"{found[1]}_"
    return found


TOOL = Tool(
    name="reproject",
    version=1,
    description="Transforms the coordinates of a table into another reference system (EPSG codes): longitude "
    "and latitude to easting and northing, UTM or national grids to WGS 84, between datums. Adds two columns.",
    asked_for=("reproject", "convert coordinates", "transform coordinates", "to UTM", "to WGS 84", "easting and "
    "northing",
               "EPSG"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        projection; coordinate system; CRS; datum shift; degrees to metres; latitude and longitude to UTM; UTM
        zone; lat/lon; geographic to projected; decimal degrees; grid coordinates; Gauss-Krüger; national grid;
        transform positions; GPS to map grid; eastings and northings to degrees; MGA; ED50; NAD27; ETRS; old
        maps datum; metric coordinates; convert the locations; GDA; change of reference system; WGS84 lat long
        columns for Google Earth; spatial reference; zone 33; map projection of points; local grid; convert
        position to longitude; planar coordinates; to MGA zone 51; need lat and lon for Google Earth; shift the
        wells from NAD27; into degrees; into UTM; into metres; into another coordinate system; from local datum;
        convert positions; coordinates for GPS; lat and long from easting and northing; which zone; geographic
        coordinates; degrees minutes; another datum; transform the positions of the wells; coordinates in
        metres; change the system of coordinates; for use in a GIS; for use in a GPS; to longitude and latitude;
        from Gauss-Kruger; Lambert; eastings
        """
    ),
)  # fmt: skip
