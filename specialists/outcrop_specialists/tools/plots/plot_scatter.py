"""Draws one column against another, coloured by a third."""

from __future__ import annotations

from pydantic import Field

from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures, points
from outcrop_specialists.tools.plots.placing import colours_of, place, report


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    x: str = Field(description="Numeric column on the horizontal axis.", json_schema_extra={"x-role": "x-column"})
    y: str = Field(description="Numeric column on the vertical axis.", json_schema_extra={"x-role": "y-column"})
    color: str | None = Field(
        default=None,
        description="Column that colours the points: groups (text, labels) or a number.",
        json_schema_extra={"x-role": "by-column"},
    )
    log_x: bool = Field(
        default=False, description="Logarithmic horizontal axis; values that are not positive are left out."
    )
    log_y: bool = Field(
        default=False, description="Logarithmic vertical axis; values that are not positive are left out."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric and where no row can be drawn."""
    table = read_table(context, arguments.path)
    x, y = find_column(table, arguments.x, "x"), find_column(table, arguments.y, "y")
    color = None if arguments.color is None else find_column(table, arguments.color, "color")
    placed = place(table, x, y, log_x=arguments.log_x, log_y=arguments.log_y)
    colours = colours_of(table, color, placed)
    placed = placed.coloured_by(table, color, colours)
    title = f"{y} against {x}" + (f" by {color}" if color else "")

    context.report("drawing the scatter plot", 0, len(placed.x))
    figure = figures.new_figure(f"{title}, {table.path.name}")
    axes = figure.add_subplot()
    figures.style_axes(axes)
    for axis, values, is_log in ((axes.xaxis, placed.x, arguments.log_x), (axes.yaxis, placed.y, arguments.log_y)):
        if is_log:
            figures.set_log(axis, float(values.min()), float(values.max()))
    axes.set_xlabel(figures.axis_label(x, table.units.get(x)))
    axes.set_ylabel(figures.axis_label(y, table.units.get(y)))
    points.add_key(figure, axes, colours, points.draw(axes, placed.x, placed.y, colours, placed.hollow))
    figures.write_note(figure, placed.note(colours))

    made_of = features.parameters(arguments, x=x, y=y, color=color)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    results, notes = report(drawn, placed, x, y, colours, f"Scatter plot of {title}")
    text = f"scatter plot of {title}: {placed.note()}"
    return ToolResult(text, results, [drawn.artifact], [*table.notes, *notes])


TOOL = Tool(
    name="plot_scatter",
    version=2,
    description="Draw a scatter plot of one numeric column against another, linear or log axes, coloured by a third.",
    asked_for=(
        "scatter",
        "scatter plot",
        "plot against",
        "plot versus",
        "cross-plot",
        "x-y plot",
        "draw one column against another",
        "on log axes",
        "versus",
    ),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        cross plot; one variable against another; x versus y; points graph; relation between two variables as a
        picture; bivariate plot; xy graph; harker diagram; graph of; chart of two elements; visualise the
        relationship; coloured by; dot plot; scattergram; on the x axis; on the y axis; plot two variables; does
        it look linear; total alkali silica; TAS; discrimination diagram; log-log graph; binary diagram; picture
        of two columns; draw points; horizontal axis and vertical axis; pair of variables; against time; visual
        relation; graph Ni against Cr; diagram with silica on the horizontal; against each other; chart with two
        axes; against; versus; x-axis; relation drawn; dots; plot one element over another; points in a diagram;
        graph one thing against another; visualise two elements; variation diagram; picture of the relation
        between; harker; graph with colours by rock; classification diagram; over time; draw as points;
        scattered points; grade against depth as dots
        """
    ),
)
