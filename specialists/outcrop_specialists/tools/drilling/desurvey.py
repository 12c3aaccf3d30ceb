"""Tool: works out where drill holes run, from collars and down-hole surveys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.drilling import paths
from outcrop_specialists.tools.drilling.collars import COLLAR_HELP, collars_of
from outcrop_specialists.tools.drilling.holes import ONE_HOLE, Beside, beside_of, role_column, shared_holes, told
from outcrop_specialists.tools.drilling.intervals import HOLE_HELP, SAME_DEPTH, Intervals, intervals_of
from outcrop_specialists.tools.drilling.surveys import SAID, Convention, Survey, survey_of
from outcrop_specialists.tools.multivariate.features import free_name

if TYPE_CHECKING:
    import polars as pl

# Doglegs are quoted per so many units of length.
DOGLEG_LENGTH = 30.0
# A hole this many times deeper than nearly all others is suspected of a mistyped depth.
FAR_TIMES = 3.0
AXES: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")


class Arguments(ToolArguments):
    path: str = Field(description="Table of survey stations (hole, depth, azimuth, dip), relative to the workspace.")
    collar_path: str | None = Field(
        default=None, description=COLLAR_HELP + " Without it places are relative to each hole's collar."
    )
    intervals_path: str | None = Field(
        default=None, description="Table of intervals that get coordinates; without it the stations get them."
    )
    position: Literal["middle", "from", "to"] = Field(
        default="middle", description="Point of an interval that is placed."
    )
    dip_convention: Convention | None = Field(
        default=None,
        description="How the angle is given: dip positive or negative downward, or inclination from vertical. Needed "
        "where the name or one sign throughout does not tell.",
    )
    hole: str | None = Field(default=None, description=HOLE_HELP)
    depth: str | None = Field(default=None, description="Column of measured depths; found by name where not given.")
    azimuth: str | None = Field(default=None, description="Column of azimuths in degrees; found by name if not given.")
    dip: str | None = Field(default=None, description="Column of dips or inclinations; found by name if not given.")
    collar_hole: str | None = Field(default=None, description="Hole column of the collar table.")
    intervals_hole: str | None = Field(default=None, description="Hole column of the table of intervals.")
    intervals_depth_from: str | None = Field(default=None, description="Upper depths of the table of intervals.")
    intervals_depth_to: str | None = Field(default=None, description="Lower depths of the table of intervals.")
    x: str | None = Field(default=None, description="Easting column of the collar table; found by name if not given.")
    y: str | None = Field(default=None, description="Northing column of the collar table; found by name if not given.")
    z: str | None = Field(default=None, description="Elevation column of the collar table; found by name if not given.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where columns or the sign of the dip cannot be told, DataError for impossible angles."""
    table = read_table(context, arguments.path)
    collar_table = read_table(context, arguments.collar_path) if arguments.collar_path is not None else None
    survey = survey_of(
        table,
        arguments.hole,
        arguments.depth,
        arguments.azimuth,
        arguments.dip,
        arguments.dip_convention,
        beside_of(collar_table, arguments.collar_hole, "collar_hole") if collar_table is not None else None,
    )
    beside = Beside(table.path.name, survey.frame["hole"]) if survey.frame["hole"][0] != ONE_HOLE else None
    notes = [*table.notes, *survey.notes]
    notes += [f"{count} stations left out: {reason.replace('_', ' ')}" for reason, count in survey.left_out.items()]
    inputs = [table]
    collars = None
    if collar_table is not None:
        collars, more = _collars(collar_table, arguments, beside)
        inputs.append(collar_table)
        notes += [
            *more,
            *shared_holes(survey.frame["hole"], collars["hole"]).notes(table.path.name, collar_table.path.name),
        ]
    frame, begun = _from_collar(survey.frame)
    if begun:
        notes.append(f"{begun} holes have no station at depth 0: taken as straight from the collar to the first one")
    notes += _suspected(frame)
    context.report(f"tracing {frame['hole'].n_unique()} holes", 0, frame.height)
    traced = _traced(frame)
    steepest = _doglegs(frame, traced)
    if arguments.intervals_path is None:
        placed, counts = _stations(frame, traced, steepest), {"rows": frame.height}
        axes: dict[str, str] = {axis: axis for axis in AXES}
        title = f"Hole paths of {table.path.name}"
    else:
        intervals = intervals_of(
            read_table(context, arguments.intervals_path),
            arguments.intervals_hole,
            arguments.intervals_depth_from,
            arguments.intervals_depth_to,
            "intervals_",
            beside,
        )
        inputs.append(intervals.table)
        axes = {str(axis): free_name(intervals.table.frame, axis) for axis in AXES}
        placed, counts, more = _intervals(intervals, frame, traced, arguments.position, axes)
        notes += more
        title = f"Intervals of {intervals.table.path.name} with coordinates"
    placed, without = _from_collars(placed, collars, axes)
    if without:
        notes.append(f"{without} rows have no collar with coordinates, so none themselves")
    units = _units(inputs)
    published = publish_frame(
        context,
        TOOL,
        inputs,
        arguments,
        placed.drop("hole_key", strict=False),
        title,
        units=units,
        resolved={
            "depth": survey.depth,
            "azimuth": survey.azimuth,
            "dip": survey.angle,
            "dip_convention": survey.convention,
        },
    )
    results = _results(survey, frame, steepest) | counts | {"without_place": without, "path": published.artifact.path}
    results["rule"] = (
        f"minimum curvature (Sawaryn & Thorogood 2005); {SAID[survey.convention]}; azimuth clockwise from north; z up"
        f"{'' if collars is not None else '; relative to the collar'}; straight on below the last station; dogleg per "
        f"{DOGLEG_LENGTH:g} units of depth; maxima as [value, hole, depth]"
    )
    return ToolResult(_said(results), results, [published.artifact], notes)


def _collars(table: Table, arguments: Arguments, beside: Beside | None) -> tuple[pl.DataFrame, list[str]]:
    import polars as pl

    collars = collars_of(table, arguments.collar_hole, beside=beside)
    columns = [collars.holes]
    for role in AXES:
        name = role_column(table, role, getattr(arguments, role), role)
        if name is None:
            raise ArgumentError(
                role,
                f"{table.path.name} has no projected coordinate {role}; name it, or reproject longitude and latitude",
            )
        columns.append(numeric(table, name, role).alias(f"collar_{role}"))
    return pl.DataFrame(columns).filter(pl.col("hole").is_not_null()), [*table.notes, *collars.notes]


def _from_collar(stations: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """With a station at depth 0 for every hole, and how many had to be added."""
    import polars as pl

    first = stations.group_by("hole").first().filter(pl.col("depth") > SAME_DEPTH).with_columns(depth=pl.lit(0.0))
    return pl.concat([stations, first.select(stations.columns)]).sort("hole", "depth"), first.height


def _suspected(frame: pl.DataFrame) -> list[str]:
    """Holes that reach so much deeper than the others that a depth is rather mistyped."""
    import polars as pl

    last = frame.group_by("hole").agg(pl.col("depth").max()).sort("depth", "hole", descending=True)
    usual = last["depth"].quantile(0.95, interpolation="linear") or 0.0
    far = last.filter(pl.col("depth") > FAR_TIMES * usual)
    if far.is_empty():
        return []
    each = told([f"{depth:g} in {hole}" for hole, depth in far.select("hole", "depth").rows()])
    return [f"SUSPECTED: stations more than {FAR_TIMES:g} times deeper than 95 % of the holes, kept: {each}"]


def _traced(frame: pl.DataFrame) -> paths.Paths:
    import numpy

    number = frame["hole"].rank("dense").cast(int).to_numpy() - 1
    inclination, azimuth = (numpy.radians(frame[name].to_numpy()) for name in ("inclination", "azimuth"))
    return paths.trace(paths.Stations(number, frame["depth"].to_numpy(), inclination, azimuth))


def _doglegs(frame: pl.DataFrame, traced: paths.Paths) -> pl.DataFrame:
    """Stations with the dogleg since the one above, in degrees and per `DOGLEG_LENGTH`."""
    import numpy
    import polars as pl

    dogleg = pl.Series("dogleg", numpy.degrees(traced.dogleg))
    above = pl.col("depth") - pl.col("depth").shift(1).over("hole")
    return frame.with_columns(dogleg).with_columns(dogleg_severity=pl.col("dogleg") / above * DOGLEG_LENGTH)


def _stations(frame: pl.DataFrame, traced: paths.Paths, doglegs: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    east, north, down = traced.places.T
    return frame.with_columns(
        hole_key=pl.col("hole"),
        x=pl.Series(east),
        y=pl.Series(north),
        z=pl.Series(-down),
        dogleg=doglegs["dogleg"],
        dogleg_severity=doglegs["dogleg_severity"],
    )


def _intervals(
    intervals: Intervals, frame: pl.DataFrame, traced: paths.Paths, position: str, names: dict[str, str]
) -> tuple[pl.DataFrame, dict[str, int], list[str]]:
    """All rows of the intervals' table with offsets from the collar, null where the hole has no survey."""
    import polars as pl

    depth = {"middle": (pl.col("start") + pl.col("end")) / 2, "from": pl.col("start"), "to": pl.col("end")}[position]
    holes = frame.select("hole").unique().sort("hole").with_row_index("number")
    wanted = intervals.frame.with_columns(at=depth).join(holes, on="hole", how="left")
    known = wanted.filter(pl.col("number").is_not_null() & pl.col("at").is_not_null())
    places, beyond = paths.at_depths(traced, known["number"].cast(pl.Int64).to_numpy(), known["at"].to_numpy())
    offsets = pl.DataFrame({"row": known["row"], "x": places[:, 0], "y": places[:, 1], "z": -places[:, 2]})
    joined = wanted.select("row", "hole", "at").join(offsets, on="row", how="left").sort("row")
    table = intervals.table
    placed = table.frame.with_columns(
        joined["hole"].alias("hole_key"),
        joined["at"].alias(free_name(table.frame, "depth_at")),
        *(joined[axis].alias(name) for axis, name in names.items()),
    )
    unsurveyed = wanted.filter(pl.col("number").is_null() & pl.col("hole").is_not_null())["hole"].unique().sort()
    notes = [*table.notes, *intervals.notes]
    if len(unsurveyed):
        notes.append(f"{len(unsurveyed)} holes have no survey, their intervals no place: {told(unsurveyed.to_list())}")
    if beyond.any():
        notes.append(f"{int(beyond.sum())} intervals lie below the last station of their hole: straight on from there")
    return placed, {"rows": table.frame.height, "holes_without_survey": len(unsurveyed)}, notes


def _from_collars(placed: pl.DataFrame, collars: pl.DataFrame | None, axes: dict[str, str]) -> tuple[pl.DataFrame, int]:
    """Offsets become coordinates where there are collars; how many rows have none."""
    import polars as pl

    if collars is not None:
        placed = placed.join(collars, left_on="hole_key", right_on="hole", how="left", maintain_order="left")
        placed = placed.with_columns(pl.col(name) + pl.col(f"collar_{axis}") for axis, name in axes.items())
        placed = placed.drop("collar_x", "collar_y", "collar_z")
    return placed, int(placed[axes["x"]].null_count())


def _units(inputs: list[Table]) -> dict[str, str]:
    units: dict[str, str] = {}
    for table in inputs:
        units = {**table.units, **units}
    return units | dict.fromkeys(("inclination", "azimuth", "dogleg"), "deg")


def _results(survey: Survey, frame: pl.DataFrame, doglegs: pl.DataFrame) -> dict[str, Any]:
    def at(column: str) -> list[Any] | None:
        place = doglegs[column].arg_max()
        if place is None:
            return None
        return list(doglegs.select(column, "hole", "depth").row(place))

    last = frame.row(frame["depth"].arg_max() or 0, named=True)
    return {
        "holes": frame["hole"].n_unique(),
        "stations": survey.frame.height,
        "single_station_holes": int((survey.frame["hole"].value_counts()["count"] == 1).sum()),
        "left_out": survey.left_out,
        "max_inclination_deg": at("inclination"),
        "max_dogleg_deg": at("dogleg"),
        "max_dogleg_severity": at("dogleg_severity"),
        "deepest_station": [last["depth"], last["hole"]],
        "dip_convention": survey.convention,
    }


def _said(results: dict[str, Any]) -> str:
    steepest, bent = results["max_inclination_deg"], results["max_dogleg_deg"]
    return (
        f"{results['holes']} holes traced from {results['stations']} stations, {results['rows']} rows placed; furthest "
        f"from vertical {steepest[0]:.6g} deg ({steepest[1]} at {steepest[2]:.6g}), largest dogleg "
        f"{bent[0]:.6g} deg ({bent[1]} at {bent[2]:.6g})"
    )


TOOL = Tool(
    name="desurvey",
    version=1,
    description="Desurveys drill holes: three-dimensional coordinates of survey stations or of intervals from collars, "
    "depths, azimuths and dips, by minimum curvature; largest dogleg and inclination from vertical.",
    asked_for=("desurvey", "hole path", "hole trace", "deviation survey", "minimum curvature", "how far from vertical"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        xyz along the hole; 3D position; three-dimensional hole path; deviation; bent hole; curved hole;
        trajectory; coordinates of each sample in the hole; true vertical depth; TVD; azimuth and dip to
        coordinates; where is the bottom of the hole; survey to coordinates; space position of the intercept;
        borehole geometry; well path; hole drifted; deviated well; inclination; dogleg; real location of samples
        at depth; tangent; trace of the drill hole; elevation of the sample; gyro; downhole survey measurements;
        how much does the hole wander; directional drilling; locate intervals in space; end point of the hole;
        crooked boreholes; plunge; holes deviate, where in space is each sample; azimuth and dip readings into
        easting, northing, elevation; vertical depth in a deviated well; where does the hole end;
        three-dimensional; positions of the samples in space; depth along hole to true depth; curved;
        coordinates at depth; hole orientation; bent; 3D coordinates; where exactly is the intercept; from
        measured depth to vertical depth; XYZ; how far did the hole drift; path in space; locate samples
        underground; convert downhole depth; inclined hole; drill path; where is the bottom; plan position at
        depth; spatial course of the hole
        """
    ),
)
