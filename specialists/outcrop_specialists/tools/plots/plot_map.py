"""Draws where rows lie, by longitude and latitude or by grid coordinates, coloured by a column."""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians
from typing import TYPE_CHECKING

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import coordinates
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.coordinates import Coordinates
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures, points
from outcrop_specialists.tools.plots.colouring import Colouring
from outcrop_specialists.tools.plots.placing import Placed, colours_of, place, report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A map this many times taller than wide gets an upright page.
TALL_FROM = 1.25
# Near a pole the width of a degree goes to zero; the drawing must not.
STEEPEST_LATITUDE = 85.0
MARGIN = 1.08
LONGEST_SHAPE = 1.6
# The width of a map of a single place.
SINGLE_PLACE_DEGREES = 0.01
SINGLE_PLACE_UNITS = 100.0
OUTSIDE = "outside the range of longitude and latitude"


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    x: str | None = Field(
        default=None,
        description="Longitude or easting column; found by name where not given.",
        json_schema_extra={"x-role": "x-column"},
    )
    y: str | None = Field(
        default=None,
        description="Latitude or northing column; found by name where not given.",
        json_schema_extra={"x-role": "y-column"},
    )
    color: str | None = Field(
        default=None,
        description="Column that colours the points: groups (text, labels, cluster) or a number.",
        json_schema_extra={"x-role": "by-column"},
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where the coordinate columns cannot be told or hold no place."""
    table = read_table(context, arguments.path)
    where, notes = _coordinates(table, arguments)
    color = None if arguments.color is None else find_column(table, arguments.color, "color")
    placed, where = _place(table, where)
    colours = colours_of(table, color, placed)
    placed = placed.coloured_by(table, color, colours)
    title = f"Map of {color}" if color else "Map of the locations"

    context.report("drawing the map", 0, len(placed.x))
    figure = _draw(table, where, placed, colours, f"{title}, {table.path.name}")
    made_of = features.parameters(arguments, x=where.x, y=where.y, color=color)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    results, more_notes = report(drawn, placed, where.x, where.y, colours, title)
    results["coordinates"] = "longitude and latitude" if where.is_geographic else "grid, equal scale on both axes"
    text = f"{title} by {where.x} and {where.y}: {placed.note()}"
    return ToolResult(text, results, [drawn.artifact], [*table.notes, *notes, *more_notes])


def _coordinates(table: Table, arguments: Arguments) -> tuple[Coordinates, list[str]]:
    if arguments.x is None and arguments.y is None:
        found = coordinates.find_coordinates(table)
        if found is None:
            reason = "no pair of columns is named like longitude and latitude or easting and northing"
            raise ArgumentError("x", f"{table.path.name}: {reason}; name them in x and y")
        return found, []
    if arguments.x is None or arguments.y is None:
        raise ArgumentError("x" if arguments.x is None else "y", "give both x and y, or neither")
    x, y = find_column(table, arguments.x, "x"), find_column(table, arguments.y, "y")
    notes = []
    if coordinates.is_latitude(x) and coordinates.is_longitude(y):
        x, y = y, x
        notes.append(f"x and y were exchanged: {x} is a longitude, {y} a latitude")
    return Coordinates(x, y, coordinates.is_longitude(x) and coordinates.is_latitude(y)), notes


def _place(table: Table, where: Coordinates) -> tuple[Placed, Coordinates]:
    """The points that can be drawn. Degrees beyond the globe are left out; where all are, they are grid coordinates."""
    placed = place(table, where.x, where.y)
    if not where.is_geographic:
        return placed, where
    is_on_globe = (abs(placed.x) <= 360) & (abs(placed.y) <= 90)
    if is_on_globe.all():
        return placed, where
    if not is_on_globe.any():
        if (abs(placed.x) <= 90).all() and (abs(placed.y) <= 360).all():
            raise ArgumentError(
                "y", f"{table.path.name}: {where.x} and {where.y} look exchanged: no latitude is within 90"
            )
        return placed, replace(where, is_geographic=False)
    return placed.of_points(is_on_globe, {**placed.left_out, OUTSIDE: int((~is_on_globe).sum())}), where


def _draw(table: Table, where: Coordinates, placed: Placed, colours: Colouring, title: str) -> Figure:
    stretch = _stretch(placed) if where.is_geographic else 1.0
    x_limits, y_limits = _frame(placed, stretch, is_geographic=where.is_geographic)
    is_tall = (y_limits[1] - y_limits[0]) * stretch > TALL_FROM * (x_limits[1] - x_limits[0])
    figure = figures.new_figure(title, figures.TALL_INCHES if is_tall else figures.SIZE_INCHES)
    axes = figure.add_subplot(xlim=x_limits, ylim=y_limits)
    figures.style_axes(axes)
    axes.set_aspect(stretch, adjustable="box")
    axes.set_xlabel(figures.axis_label(where.x, table.units.get(where.x, "°" if where.is_geographic else None)))
    axes.set_ylabel(figures.axis_label(where.y, table.units.get(where.y, "°" if where.is_geographic else None)))
    points.add_key(figure, axes, colours, points.draw(axes, placed.x, placed.y, colours, placed.hollow))
    _close_frame(axes)
    figures.write_note(figure, placed.note(colours))
    return figure


def _stretch(placed: Placed) -> float:
    """How much longer a degree of latitude is than one of longitude, at the middle of the map."""
    middle = min(abs(float(placed.y.max() + placed.y.min()) / 2), STEEPEST_LATITUDE)
    return 1.0 / cos(radians(middle))


def _frame(placed: Placed, stretch: float, *, is_geographic: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of x and y around the points with a margin, never a sliver however the points lie."""
    x_low, x_high, y_low, y_high = (
        float(value) for value in (placed.x.min(), placed.x.max(), placed.y.min(), placed.y.max())
    )
    width, height = (x_high - x_low) * MARGIN, (y_high - y_low) * MARGIN * stretch
    if width == height == 0:
        width = height = SINGLE_PLACE_DEGREES if is_geographic else SINGLE_PLACE_UNITS
    width, height = max(width, height / LONGEST_SHAPE), max(height, width / LONGEST_SHAPE) / stretch
    x, y = (x_low + x_high) / 2, (y_low + y_high) / 2
    bottom, top = y - height / 2, y + height / 2
    if is_geographic:
        bottom, top = max(bottom, -90.0), min(top, 90.0)
    return (x - width / 2, x + width / 2), (bottom, top)


def _close_frame(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
        axes.spines[side].set_color("#666666")


TOOL = Tool(
    name="plot_map",
    version=2,
    description=(
        "Draw a map of the rows' locations by longitude and latitude or easting and northing, coloured by a column "
        "such as a group label or a grade."
    ),
    asked_for=(
        "map",
        "draw a map",
        "plot on a map",
        "show on a map",
        "map by longitude and latitude",
        "where are the samples",
        "locations",
        "spatial distribution",
        "geographic plot",
    ),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        where are they; locations; geographic; spatial pattern; show the area; bubble map; sites; points in
        space; plan view; where are the high values; distribution in space; location map; geochemical map;
        coordinates plot; layout of the holes; collar plan; overview of the survey area; map view;
        geographically; display positions; spatially; region; hot spots on a map; chart of stations; where was
        it sampled; picture of the sample positions; cartography; which part of the area is enriched; bird's
        eye; draw the sites; sampling coverage; in plan; high grades by position; northeast corner; scatter of
        locations; put the sites on a plan, size or colour by lead; where geographically does it peak; draw
        where; plan; plan of the holes; where do high values occur; on the ground; show locations; map of; sites
        on a map; where; draw the locations; collar map; on a plan; arsenic by place; spatial picture;
        geographical picture; picture of the locations; survey map; dots on a map; see the sites; spatial view;
        positions drawn; from above; coordinates drawn; where are anomalies; display by location; wells on a
        map; pattern across the area
        """
    ),
)
