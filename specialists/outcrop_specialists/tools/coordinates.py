"""Finds the coordinate columns of a table by their names, and knows columns that name a row rather than measure it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_specialists.tools.columns import numeric_columns

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.tools.reading import Table

_DATUM = r"(dd|deg|degrees|decimal|wgs84|gda94|gda2020|nad83|nad27|etrs89)?"
_GRID = r"(m|ft|utm|mga|mga94|mga2020|coord|coords|coordinate|coordinaat|collar)?"
_LONGITUDE = re.compile(rf"(x|decimal)?(longitude|long|lon|lng){_DATUM}")
_LATITUDE = re.compile(rf"(y|decimal)?(latitude|lat){_DATUM}")
_EASTING = re.compile(rf"(utm|mga|x)?(eastings?|east|utmx|utme){_GRID}|xutm")
_NORTHING = re.compile(rf"(utm|mga|y)?(northings?|north|utmy|utmn){_GRID}|yutm")
_X = re.compile(rf"x{_GRID}")
_Y = re.compile(rf"y{_GRID}")

PAIRS = ((_LONGITUDE, _LATITUDE, True), (_EASTING, _NORTHING, False), (_X, _Y, False))
_IDENTIFIER = re.compile(r"(.*[\s_.-])?(id|no\.?|nr|number|index|row)", re.IGNORECASE)
_CAMEL_IDENTIFIER = re.compile(r".*[a-z](Id|ID|No|Nr)")
_LABEL = re.compile(r"cluster\d*")


@dataclass(frozen=True)
class Coordinates:
    """A pair of coordinate columns; geographic ones are longitude and latitude in degrees."""

    x: str
    y: str
    is_geographic: bool


def find_coordinates(table: Table) -> Coordinates | None:
    """The first pair of numeric columns whose names say longitude/latitude, else easting/northing, else x/y."""
    return next(iter(_pairs(table)), None)


def naming_columns(table: Table) -> list[str]:
    """Numeric columns that say where or which a row is: coordinates in pairs, running numbers, group labels.

    A `Y` without an `X` is yttrium and stays a measurement.
    """
    placed = {name for pair in _pairs(table) for name in (pair.x, pair.y)}
    return [name for name in numeric_columns(table) if name in placed or _names_rows(table.frame.get_column(name))]


def is_longitude(name: str) -> bool:
    return _LONGITUDE.fullmatch(_bare(name)) is not None


def is_latitude(name: str) -> bool:
    return _LATITUDE.fullmatch(_bare(name)) is not None


def _pairs(table: Table) -> Iterator[Coordinates]:
    names = {name: _bare(name) for name in numeric_columns(table)}
    for x_pattern, y_pattern, is_geographic in PAIRS:
        x = next((name for name, bare in names.items() if x_pattern.fullmatch(bare)), None)
        y = next((name for name, bare in names.items() if y_pattern.fullmatch(bare)), None)
        if x is not None and y is not None:
            yield Coordinates(x, y, is_geographic)


def _names_rows(column: pl.Series) -> bool:
    if _LABEL.fullmatch(_bare(column.name)):
        return True
    says_identifier = _IDENTIFIER.fullmatch(column.name) or _CAMEL_IDENTIFIER.fullmatch(column.name)
    return bool(says_identifier and column.dtype.is_integer() and column.is_unique().all())


def _bare(name: str) -> str:
    """Letters and digits of a name, without a unit in brackets."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"[(\[].*?[)\]]", "", name.casefold()))
