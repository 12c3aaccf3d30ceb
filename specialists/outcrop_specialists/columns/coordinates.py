"""Finds the columns of a table that say where or which a row is, by their roles, so that they are not analysed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_specialists.columns.choice import numeric_columns
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.columns.roles import NAMES
from outcrop_specialists.columns.units import split_unit

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table

PLACES = frozenset(("longitude", "latitude", "x", "y", "z", "depth_from", "depth_to", "depth"))
NAMING = PLACES | {"hole_id", "sample_id", "id", "cluster"}


@dataclass(frozen=True)
class Coordinates:
    """A pair of coordinate columns; geographic ones are longitude and latitude in degrees."""

    x: str
    y: str
    is_geographic: bool


def find_coordinates(table: Table) -> Coordinates | None:
    """The first longitude and latitude by name (whatever value one row may have), else x and y by role."""
    names = numeric_columns(table)
    longitude, latitude = next(filter(is_longitude, names), None), next(filter(is_latitude, names), None)
    if longitude is not None and latitude is not None:
        return Coordinates(longitude, latitude, is_geographic=True)
    roles = {profile.name: profile.role for profile in profile_table(table)}
    x, y = (next((name for name in names if roles[name] == role), None) for role in ("x", "y"))
    return None if x is None or y is None else Coordinates(x, y, is_geographic=False)


def is_longitude(name: str) -> bool:
    return _key(name) in NAMES["longitude"]


def is_latitude(name: str) -> bool:
    return _key(name) in NAMES["latitude"]


def naming_columns(table: Table) -> list[str]:
    """Numeric columns that say where or which a row is (places, identifiers, group labels) rather than measure it.

    A `Y` without an `X` is rather yttrium than a place.
    """
    profiles, numeric = profile_table(table), set(numeric_columns(table))
    roles = {profile.role for profile in profiles}
    naming = NAMING if {"x", "y"} <= roles else NAMING - {"x", "y"}
    return [profile.name for profile in profiles if profile.role in naming and profile.name in numeric]


def _key(name: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", split_unit(name)[0].casefold()))
