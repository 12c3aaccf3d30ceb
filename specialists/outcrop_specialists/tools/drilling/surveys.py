"""Reads survey stations: which angle is meant, what cannot be used, and the collars that holes start from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.columns.choice import find_column, numeric, numeric_columns
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.drilling.holes import Beside, holes_of, refuse_several_holes, roles_in, told, told_hole
from outcrop_specialists.tools.drilling.intervals import SAME_DEPTH

if TYPE_CHECKING:
    import polars as pl

Convention = Literal["positive_down", "negative_down", "from_vertical"]

_NAMES = {
    "depth": "at depth md measureddepth distance surveydepth depthat stationdepth mdepth",
    "azimuth": "az azi azim azimuth bearing brg azimut azimuthtrue azimuthgrid",
    "dip": "dip plunge dipangle",
    "inclination": "inc incl inclination deviation dev drift zenith zenithangle",
}
SAID = {
    "positive_down": "dip positive downward (90 = straight down)",
    "negative_down": "dip negative downward (-90 = straight down)",
    "from_vertical": "inclination from vertical (0 = straight down)",
}


@dataclass(frozen=True)
class Survey:
    """Usable stations by hole and depth: `hole`, `depth`, `azimuth`, `inclination` (degrees, from vertical).

    `convention` is how the file gives the angle. `left_out` counts rows by reason, `dropped` names holes that
    contradict themselves.
    """

    table: Table
    frame: pl.DataFrame
    depth: str
    azimuth: str
    angle: str
    convention: Convention
    left_out: dict[str, int]
    dropped: list[str]
    notes: list[str]


def survey_of(
    table: Table,
    hole: str | None,
    depth: str | None,
    azimuth: str | None,
    angle: str | None,
    convention: Convention | None,
    beside: Beside | None = None,
) -> Survey:
    """Raises ArgumentError where a column or the sign of the dip cannot be told, DataError for impossible angles."""
    import polars as pl

    depth = _column(table, depth, "depth", ("depth",))
    azimuth = _column(table, azimuth, "azimuth", ("azimuth",))
    angle = _column(table, angle, "dip", ("dip", "inclination"))
    roles = roles_in(table) if hole is None else {}
    name, said = told_hole(table, hole, "hole", roles, beside)
    if name is None and hole is None:
        refuse_several_holes(table, numeric(table, depth, "depth"), roles, "hole")
    holes, notes = holes_of(table, name)
    notes = [*said, *notes]
    frame = pl.DataFrame(
        [
            holes,
            numeric(table, depth, "depth").alias("depth"),
            numeric(table, azimuth, "azimuth").alias("azimuth"),
            numeric(table, angle, "dip").alias("angle"),
        ]
    )
    _refuse_impossible(table, frame, azimuth, angle)
    is_given = convention is not None
    convention = convention or _convention(table, frame["angle"], angle)
    if not is_given:
        notes.append(f"{angle!r} taken as {SAID[convention]}; say dip_convention if it is not")
    inclination = {
        "positive_down": 90 - pl.col("angle"),
        "negative_down": 90 + pl.col("angle"),
        "from_vertical": pl.col("angle"),
    }[convention]
    frame = frame.with_columns(inclination=inclination)
    # A vertical hole has no azimuth: blank is as good as any.
    is_vertical = pl.col("inclination").is_in([0.0, 180.0]).fill_null(False)
    frame = frame.with_columns(pl.when(is_vertical).then(pl.col("azimuth").fill_null(0.0)).otherwise("azimuth"))
    lacks = pl.any_horizontal(pl.col("hole", "depth", "azimuth", "inclination").is_null())
    left_out = {
        "missing": int(frame.select(lacks.sum()).item()),
        "above_collar": int(frame.select((~lacks & (pl.col("depth") < 0)).sum()).item()),
    }
    usable = frame.filter(~lacks & (pl.col("depth") >= 0)).unique(maintain_order=True).sort("hole", "depth")
    left_out["repeated"] = frame.height - sum(left_out.values()) - usable.height
    too_close = (pl.col("hole") == pl.col("hole").shift(1)) & (pl.col("depth") - pl.col("depth").shift(1) < SAME_DEPTH)
    dropped = usable.filter(too_close.fill_null(False))["hole"].unique().sort().to_list()
    if dropped:
        usable = usable.filter(~pl.col("hole").is_in(dropped))
        notes.append(f"{len(dropped)} holes left out, two directions at one depth: {told(dropped)}")
    if usable.is_empty():
        raise ArgumentError("path", f"{table.path.name} has no survey station with hole, depth, azimuth and {angle}")
    counted = {reason: count for reason, count in left_out.items() if count}
    return Survey(table, usable.drop("angle"), depth, azimuth, angle, convention, counted, dropped, notes)


def _column(table: Table, wanted: str | None, field: str, kinds: tuple[str, ...]) -> str:
    if wanted is not None:
        return find_column(table, wanted, field)
    known = {word for kind in kinds for word in _NAMES[kind].split()}
    found = [name for name in numeric_columns(table) if _key(name) in known]
    if len(found) == 1:
        return found[0]
    what = f"could be {' or '.join(map(repr, found[:5]))}" if found else "no column is named like one"
    raise ArgumentError(field, f"{table.path.name}: {what}; name the column")


def _refuse_impossible(table: Table, frame: pl.DataFrame, azimuth: str, angle: str) -> None:
    import polars as pl

    for name, column, least, most in ((azimuth, "azimuth", -360, 360), (angle, "angle", -90, 180)):
        wrong = frame.select((~pl.col(column).is_between(least, most)).fill_null(False)).to_series().arg_true()
        if len(wrong):
            value = frame[column][wrong[0]]
            raise DataError(
                f"{table.path.name}: {len(wrong)} values of {name!r} are no angle in degrees, the first in data row "
                f"{wrong[0] + 1}: {value:g}; mend or filter these rows"
            )


def _convention(table: Table, angles: pl.Series, name: str) -> Convention:
    """From the name (inclination is from vertical) or from one sign throughout; else it has to be said."""
    if _key(name) in _NAMES["inclination"].split():
        return "from_vertical"
    known = angles.drop_nulls()
    positive, negative = int((known > 0).sum()), int((known < 0).sum())
    if (positive and negative) or not (positive or negative):
        raise ArgumentError(
            "dip_convention",
            f"{table.path.name}: {name!r} has {positive} positive and {negative} negative dips, so which way is down "
            "cannot be told; say positive_down, negative_down or from_vertical",
        )
    return "positive_down" if positive else "negative_down"


def _key(name: str) -> str:
    return "".join(re.findall(r"[a-z]+", re.sub(r"[(\[].*", "", name).casefold()))
