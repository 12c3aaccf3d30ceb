"""Tool: looks for faults in coordinates: missing, zero, swapped, far off, at the same place, outside a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.spatial.places import PlaceArguments, Places, places_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

# Beyond the quartiles by so many interquartile ranges (Tukey's far fence) a coordinate is far off.
FAR_FENCE = 3.0
RULE = (
    "same place: x and y both equal; far off: beyond a quartile by more than 3 interquartile ranges; "
    "swapped: in place only with x and y exchanged; sign: in place only with the other sign; box: x then y"
)


class Arguments(PlaceArguments):
    box: list[float] | None = Field(
        default=None,
        min_length=4,
        max_length=4,
        description="Box that places should lie in: min x, min y, max x, max y.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where the coordinate columns cannot be told, or for a box with its corners exchanged."""
    table = read_table(context, arguments.path)
    places = places_of(table, arguments.x, arguments.y)
    if arguments.box and (arguments.box[0] > arguments.box[2] or arguments.box[1] > arguments.box[3]):
        raise ArgumentError("box", "it goes min x, min y, max x, max y")
    context.report(f"checking {table.frame.height} places", 0, table.frame.height)
    flags = _flags(places, arguments.box)
    frame = _listed(places, flags)
    rows = places.has_place
    x, y = places.x[rows], places.y[rows]
    results: dict[str, Any] = {
        "rows": len(rows),
        "x": places.columns.x,
        "y": places.columns.y,
        "coordinates": "longitude and latitude" if places.columns.is_geographic else "grid",
        "box": [float(x.min()), float(x.max()), float(y.min()), float(y.max())],
        "issues": {name: int(flag.sum()) for name, flag in flags.items()},
        "distinct_places": _distinct(x, y),
        "rule": RULE,
    }
    artifacts = []
    if not frame.is_empty():
        title = f"Issues of the coordinates of {table.path.name}"
        published = publish_frame(context, TOOL, [table], arguments, frame, title, units=table.units)
        artifacts.append(published.artifact)
        results["path"] = published.artifact.path
    issues = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in results["issues"].items() if count)
    box = results["box"]
    told = (
        f"{len(rows)} rows at {results['distinct_places']} places, {places.columns.x} {box[0]:.8g} to {box[1]:.8g}, "
        f"{places.columns.y} {box[2]:.8g} to {box[3]:.8g}: {issues or 'no issue found'}"
    )
    return ToolResult(told, results, artifacts, [*table.notes])


def _distinct(x: Vector, y: Vector) -> int:
    import polars as pl

    return pl.DataFrame({"x": x, "y": y}).n_unique()


def _flags(places: Places, box: list[float] | None) -> dict[str, Vector]:
    """Per issue a mask over the rows."""
    import numpy
    import polars as pl

    x, y, rows = places.x, places.y, places.has_place
    pairs = pl.DataFrame({"x": x, "y": y}).select(pl.struct("x", "y").is_duplicated()).to_series().to_numpy()
    zero = rows & ((x == 0) | (y == 0))
    bulk = rows & ~zero if (rows & ~zero).any() else rows
    fences = [_fence(values[bulk]) for values in (x, y)]

    def is_in(across: Vector, up: Vector) -> Vector:
        found: Vector = numpy.ones(len(x), bool)
        for values, (low, high), most in ((across, fences[0], 180.0), (up, fences[1], 90.0)):
            found &= (values >= low) & (values <= high)
            if places.columns.is_geographic:
                found &= numpy.abs(values) <= most
        return found

    off = rows & ~zero & ~is_in(x, y)
    swapped = off & is_in(y, x)
    sign = off & ~swapped & (is_in(-x, y) | is_in(x, -y) | is_in(-x, -y))
    flags = {
        "missing": ~rows,
        "zero": zero,
        "swapped": swapped,
        "sign": sign,
        "far_off": off & ~swapped & ~sign,
        "same_place": rows & pairs,
    }
    if places.columns.is_geographic:
        flags["beyond_degrees"] = rows & ((numpy.abs(x) > 180) | (numpy.abs(y) > 90))
    if box:
        inside = (x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])
        flags["outside_box"] = rows & ~inside
    return flags


def _fence(values: Vector) -> tuple[float, float]:
    import numpy

    low, high = numpy.percentile(values, [25, 75])
    return float(low - FAR_FENCE * (high - low)), float(high + FAR_FENCE * (high - low))


def _listed(places: Places, flags: dict[str, Vector]) -> pl.DataFrame:
    """A line for each row with an issue: its number (from 1), its coordinates and its issues."""
    import polars as pl

    columns = {name: pl.Series(flag) for name, flag in flags.items()}
    issues = pl.concat_str(
        [pl.when(pl.col(f"is_{name}")).then(pl.lit(name)) for name in columns], separator="; ", ignore_nulls=True
    )
    frame = pl.DataFrame({f"is_{name}": flag for name, flag in columns.items()}).with_columns(
        pl.int_range(1, pl.len() + 1).alias("row"),
        places.table.frame.get_column(places.columns.x).alias("x_value"),
        places.table.frame.get_column(places.columns.y).alias("y_value"),
    )
    found = frame.filter(pl.any_horizontal(f"is_{name}" for name in columns))
    return found.select("row", pl.col("x_value").alias(places.columns.x), pl.col("y_value").alias(places.columns.y),
                        issues.alias("issues"))  # fmt: skip


TOOL = Tool(
    name="check_coordinates",
    version=1,
    description="Checks coordinates: bounding box, missing and zero ones, longitude and latitude swapped, wrong sign, "
    "places far from the others, rows at the same place, outside a given box. Lists the rows in a CSV.",
    asked_for=("check coordinates", "bounding box", "extent of the coordinates", "rows at the same place",
               "shared coordinates", "duplicate locations", "swapped coordinates", "wrong coordinates"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        wrong location; plotted in the wrong place; lat and long swapped; in the sea; in the ocean; zero zero;
        off the map; outside the licence; outside the area; location errors; GPS errors; position errors;
        mislocated; coordinates missing; stacked points; extent; bounding rectangle; sign of the longitude;
        hemisphere; typos in coordinates; far away from all the others; are the positions plausible; same spot;
        x and y flipped; validate the locations; samples on top of each other; where is the survey area; spatial
        outliers; suspicious positions; null island; wrong continent; area covered by the sampling; do any
        points fall outside; stations fall outside the permit; dots land in the Atlantic; do two holes share a
        position; outside of the property; in the wrong country; position is impossible; same position;
        misplaced; wrong place; are the locations correct; x and y mixed up; latitude and longitude exchanged;
        where do the coordinates lie; far off; shared position; locations with errors; zeros as coordinates;
        strange location; location quality; extent of the survey; suspicious location; samples outside the area;
        point far away; identical coordinates; in the water; plausibility of positions; sits on top of another;
        wrong hemisphere; check locations; in Africa
        """
    ),
)  # fmt: skip
