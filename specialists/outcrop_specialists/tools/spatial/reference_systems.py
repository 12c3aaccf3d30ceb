"""Coordinate reference systems through pyproj, always with x (longitude, easting) before y."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyproj import CRS

    Vector = NDArray[Any]

CRS_COLUMNS = frozenset(
    ["crs", "epsg", "epsgcode", "srs", "srid", "crsname", "coordsys", "coordinatesystem", "coordinatereferencesystem"]
)
EXAMPLES = "EPSG:4326 (WGS 84 degrees), EPSG:28350 (GDA94 / MGA zone 50), EPSG:32633 (WGS 84 / UTM zone 33N)"


def system_of(text: str, field: str) -> CRS:
    """Raises ArgumentError for what is no coordinate reference system."""
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    given = f"EPSG:{text.strip()}" if text.strip().isdigit() else text.strip()
    try:
        return CRS.from_user_input(given)
    except CRSError as error:
        raise ArgumentError(
            field, f"{text!r} is no coordinate reference system; give a code such as {EXAMPLES}"
        ) from error


def stated_system(table: Table) -> str | None:
    """The system that a column of the table states, where all rows state the same one.

    Raises ArgumentError where they state several: zones are not mixed.
    """
    names = [name for name in table.frame.columns if re.sub(r"[^a-z]", "", name.casefold()) in CRS_COLUMNS]
    if len(names) != 1:
        return None
    stated = table.frame.get_column(names[0]).drop_nulls().cast(str).unique().sort()
    if len(stated) > 1:
        listed = ", ".join(stated.head(5))
        raise ArgumentError("source_crs", f"{table.path.name}: {names[0]!r} states {len(stated)} systems ({listed}); "
                            "filter_rows by it and reproject each part")  # fmt: skip
    return str(stated[0]) if len(stated) and table.frame.get_column(names[0]).null_count() == 0 else None


def share_inside(system: CRS, x: Vector, y: Vector) -> float | None:
    """Share of the points that lie in the area of use of the system; None where it has none."""
    import numpy
    from pyproj import Transformer

    area = system.area_of_use
    if area is None or not len(x):
        return None
    to_degrees = Transformer.from_crs(system, system.geodetic_crs or "EPSG:4326", always_xy=True)
    longitude, latitude = to_degrees.transform(x, y)
    is_in = (latitude >= area.south - 1) & (latitude <= area.north + 1)
    if area.west <= area.east:
        is_in &= (longitude >= area.west - 1) & (longitude <= area.east + 1)
    else:
        is_in &= (longitude >= area.west - 1) | (longitude <= area.east + 1)
    return float(numpy.mean(is_in & numpy.isfinite(longitude)))


def axis_unit(system: CRS) -> str:
    names = {"metre": "m", "degree": "deg", "US survey foot": "ft", "foot": "ft"}
    unit = system.axis_info[0].unit_name if system.axis_info else ""
    return names.get(unit, unit)


def short_name(system: CRS) -> str:
    """`EPSG:28350` where it has a code, else its name."""
    authority = system.to_authority()
    return ":".join(authority) if authority else system.name
