"""Tool: the distance from each place to its nearest neighbour, in the same table or another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.multivariate.features import free_name
from outcrop_specialists.tools.spatial.places import (
    DISTANCE_RULE,
    PlaceArguments,
    Places,
    chord,
    places_of,
    real_distance,
    refuse_impossible_degrees,
)

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]


class Arguments(PlaceArguments):
    other_path: str | None = Field(
        default=None, description="Table whose nearest row is wanted; the table itself (other rows) where not given."
    )
    columns: list[str] | None = Field(
        default=None, min_length=1, description="Columns of the nearest row to bring over (from the other table)."
    )
    max_distance: float | None = Field(
        default=None, gt=0, description="Farther neighbours do not count; metres for longitude and latitude."
    )
    other_x: str | None = Field(default=None, description="Longitude or easting column of the other table.")
    other_y: str | None = Field(default=None, description="Latitude or northing column of the other table.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where coordinates cannot be told or are of different kinds."""
    import numpy
    import polars as pl

    table = read_table(context, arguments.path)
    places = places_of(table, arguments.x, arguments.y)
    other = places
    if arguments.other_path is not None:
        other = places_of(read_table(context, arguments.other_path), arguments.other_x, arguments.other_y, "other_")
    for each, field in ((places, "x"), (other, "other_x")):
        refuse_impossible_degrees(each, field)
    if places.columns.is_geographic != other.columns.is_geographic:
        raise ArgumentError("other_x", "one table has degrees, the other grid coordinates; reproject one of them")
    brought = find_columns(other.table, arguments.columns or [], "columns")
    context.report(f"looking for the neighbours of {table.frame.height} places", 0, table.frame.height)
    distance, neighbour = _nearest(places, other, is_self=other is places, limit=arguments.max_distance)
    has = neighbour >= 0
    frame = table.frame.with_columns(
        pl.Series(free_name(table.frame, "nearest_distance"), distance).fill_nan(None),
        pl.Series(free_name(table.frame, "nearest_row"), numpy.where(has, neighbour + 1, -1)).replace(-1, None),
        *_brought(table.frame, other, brought, neighbour),
    )
    inputs = [table] if other is places else [table, other.table]
    units = {**table.units, **({"nearest_distance": places.unit} if places.unit else {})}
    title = f"{table.path.name} with the nearest of {other.table.path.name}"
    published = publish_frame(context, TOOL, inputs, arguments, frame, title, units=units, like=table)
    found = distance[has]
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "with_neighbour": int(has.sum()),
        "without_coordinates": int((~places.has_place).sum()),
        "too_far": int((places.has_place & ~has).sum()),
        "same_place": int((found == 0).sum()),
        "unit": places.unit,
        "rule": f"{DISTANCE_RULE[places.columns.is_geographic]}; quantiles linear; nearest_row counts data rows from 1",
        "path": published.artifact.path,
    }
    told = f"{int(has.sum())} of {table.frame.height} places have a neighbour in {other.table.path.name}"
    if len(found):
        low, median, high = (float(numpy.percentile(found, part)) for part in (0, 50, 100))
        results["distance"] = {"min": low, "median": median, "mean": float(found.mean()), "max": high}
        unit = f" {places.unit}" if places.unit else ""
        told += f": {low:.6g} to {high:.6g}{unit} away, median {median:.6g}"
    notes = [*table.notes, *places.missing_note()]
    if other is not places:
        notes += [*other.table.notes, *(f"{other.table.path.name}: {note}" for note in other.missing_note())]
    return ToolResult(told, results, [published.artifact], notes)


def _nearest(places: Places, other: Places, *, is_self: bool, limit: float | None) -> tuple[Vector, Vector]:
    """Distance (NaN without one) and row number (-1) of the nearest row of `other` for each row."""
    import numpy
    from scipy.spatial import cKDTree

    rows, others = numpy.flatnonzero(places.has_place), numpy.flatnonzero(other.has_place)
    distance = numpy.full(len(places.x), numpy.nan)
    neighbour = numpy.full(len(places.x), -1, dtype=numpy.int64)
    if is_self and len(rows) < 2:
        return distance, neighbour
    tree = cKDTree(other.points(others))
    found = tree.query(places.points(rows), k=[1, 2] if is_self else [1])
    straight, index = numpy.asarray(found[0]), numpy.asarray(found[1])
    if is_self:
        # Of several rows at one place the row itself need not come first.
        is_own = others[index[:, 0]] == rows
        index = numpy.where(is_own, index[:, 1], index[:, 0])
        straight = numpy.where(is_own, straight[:, 1], straight[:, 0])
    else:
        straight, index = straight[:, 0], index[:, 0]
    within: Vector = numpy.ones(len(rows), bool)
    if limit is not None:
        within = numpy.asarray(straight <= (chord(limit) if places.columns.is_geographic else limit))
    distance[rows[within]] = real_distance(places, straight[within])
    neighbour[rows[within]] = others[index[within]]
    return distance, neighbour


def _brought(frame: pl.DataFrame, other: Places, names: list[str], neighbour: Vector) -> list[pl.Series]:
    import numpy
    import polars as pl

    rows = pl.Series(numpy.where(neighbour < 0, 0, neighbour))
    has = pl.Series(neighbour >= 0)
    found = []
    for name in names:
        column = other.table.frame.get_column(name).gather(rows)
        found.append(column.set(~has, None).alias(free_name(frame, f"nearest_{name}")))
    return found


TOOL = Tool(
    name="nearest",
    version=1,
    description="Distance from each place of a table to its nearest neighbour, in the same table (sample spacing) or "
    "in another one (nearest hole, nearest outcrop), whose columns can be brought over.",
    asked_for=("nearest neighbour", "nearest", "closest point", "distance to", "sample spacing", "join by distance"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        closest; how far away; distance between; proximity; neighbours; near to; spacing of samples; spacing of
        holes; nearest drillhole; how close is; next well; distance to the fault; distance to the river; buffer;
        within a radius; attach the closest station; assign to the nearest; sampling density; spatial join;
        which is next to; isolated samples; how dense is the sampling; adjacent; closest known deposit; distance
        in metres between two point sets; pair up by location; vicinity; within 500 m; surrounding; kilometres
        from; average separation; near the mine; twin holes; matching soil samples to drill collars by position;
        upwind source; how dense is our drilling; which stream sample is beside which deposit; distance to the
        closest road; how far is each; beside; density of the drilling; distance to; the closest well; which is
        closest; next to; within reach of; hole spacing; how far to the next; spacing; closest to; drill
        spacing; distance from the river; near the fault; neighbour; which samples are close to; sampling
        interval; how close together; near a road; close by; who is next; minimum distance; distances
        """
    ),
)
