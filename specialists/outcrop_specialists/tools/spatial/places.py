"""Where the rows of a table lie: which columns hold the coordinates, and distances between places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.columns.coordinates import Coordinates, find_coordinates, is_latitude, is_longitude
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.base import ToolArguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the Earth (GRS 80, IUGG)."""
X_HELP = "Longitude or easting column; found by name where not given."
Y_HELP = "Latitude or northing column; found by name where not given."
DISTANCE_RULE = {
    True: "great-circle distances in metres on a sphere of 6,371,008.8 m",
    False: "straight distances in the units of the coordinates",
}


class PlaceArguments(ToolArguments):
    """Arguments of a tool that reads a table of places."""

    path: str = Field(description="Table file, relative to the workspace.")
    x: str | None = Field(default=None, description=X_HELP, json_schema_extra={"x-role": "x-column"})
    y: str | None = Field(default=None, description=Y_HELP, json_schema_extra={"x-role": "y-column"})


@dataclass(frozen=True)
class Places:
    """The coordinates of a table's rows as float64, NaN where missing; geographic ones are in degrees."""

    table: Table
    columns: Coordinates
    x: Vector
    y: Vector

    @property
    def has_place(self) -> Vector:
        import numpy

        found: Vector = numpy.isfinite(self.x) & numpy.isfinite(self.y)
        return found

    @property
    def unit(self) -> str | None:
        return "m" if self.columns.is_geographic else self.table.units.get(self.columns.x)

    def points(self, rows: Vector) -> Vector:
        """Places of rows (mask or numbers) in a space where straight distance orders as real distance does: x and y, or
        for degrees points on the unit sphere."""
        import numpy

        x, y = self.x[rows], self.y[rows]
        if not self.columns.is_geographic:
            return numpy.column_stack([x, y])
        longitude, latitude = numpy.radians(x), numpy.radians(y)
        across = numpy.cos(latitude)
        return numpy.column_stack([across * numpy.cos(longitude), across * numpy.sin(longitude), numpy.sin(latitude)])

    def missing_note(self) -> list[str]:
        count = int((~self.has_place).sum())
        return [f"{count} rows without coordinates left out"] if count else []


def places_of(table: Table, x: str | None, y: str | None, prefix: str = "") -> Places:
    """Raises ArgumentError where the coordinate columns cannot be told, are not numbers, or where degrees cannot be
    degrees (swapped longitude and latitude)."""
    columns = _columns(table, x, y, prefix)
    places = Places(
        table,
        columns,
        numeric(table, columns.x, f"{prefix}x").to_numpy(),
        numeric(table, columns.y, f"{prefix}y").to_numpy(),
    )
    if not places.has_place.any():
        raise ArgumentError(f"{prefix}x", f"{table.path.name}: no row has both {columns.x!r} and {columns.y!r}")
    return places


def refuse_impossible_degrees(places: Places, field: str = "x") -> None:
    """Raises ArgumentError where longitude or latitude lies outside its range, saying so where the two are swapped."""
    import numpy

    if not places.columns.is_geographic:
        return
    name, x, y = places.table.path.name, places.columns.x, places.columns.y
    beyond_y = numpy.abs(places.y) > 90
    beyond_x = numpy.abs(places.x) > 360
    count = int((beyond_x | beyond_y).sum())
    if not count:
        return
    row = int(numpy.flatnonzero(beyond_x | beyond_y)[0])
    found = (
        f"{name}: {count} rows are outside longitude and latitude, first data row {row + 1} ({x!r} {places.x[row]:g}, "
    )
    found += f"{y!r} {places.y[row]:g})"
    swapped = int((beyond_y & (numpy.abs(places.x) <= 90)).sum())
    if swapped == count:
        found += f"; longitude and latitude look swapped: try x={y!r}, y={x!r}"
    raise ArgumentError(field, f"{found}; check_coordinates lists them" if swapped != count else found)


def chord(metres: float) -> float:
    """The straight line through the unit sphere that belongs to a great-circle distance."""
    from math import pi, sin

    return 2 * sin(min(metres / EARTH_RADIUS_M, pi) / 2)


def real_distance(places: Places, straight: Vector) -> Vector:
    """Distances as `DISTANCE_RULE` says, from straight ones between `Places.points`."""
    import numpy

    if not places.columns.is_geographic:
        return straight
    found: Vector = 2 * EARTH_RADIUS_M * numpy.arcsin(numpy.clip(straight / 2, 0, 1))
    return found


def _columns(table: Table, x: str | None, y: str | None, prefix: str) -> Coordinates:
    if (x is None) != (y is None):
        raise ArgumentError(f"{prefix}{'y' if y is None else 'x'}", "x and y go together: name both, or none")
    if x is None or y is None:
        found = find_coordinates(table)
        if found is None:
            reason = "no pair of columns is named like longitude and latitude or easting and northing"
            raise ArgumentError(f"{prefix}x", f"{table.path.name}: {reason}; name x and y")
        return found
    across, up = find_column(table, x, f"{prefix}x"), find_column(table, y, f"{prefix}y")
    named = is_longitude(across) or is_latitude(up) or is_latitude(across) or is_longitude(up)
    return Coordinates(across, up, is_geographic=named)
