"""Draws three parts of a composition in a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures, points
from outcrop_specialists.tools.plots.censored import beyond, counts
from outcrop_specialists.tools.plots.colouring import Colouring, Groups, Scale, colouring
from outcrop_specialists.tools.plots.placing import counted, drawn_note, reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

CORNER_PAD = 14.0
"""Points between the corner of the triangle, with its ticks, and the name there."""


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=3,
        max_length=3,
        description="The three parts: top, left and right corner.",
        json_schema_extra={"x-role": "columns"},
    )
    color: str | None = Field(
        default=None,
        description="Column that colours the points: groups (text, labels) or a number.",
        json_schema_extra={"x-role": "by-column"},
    )
    scale: list[float] | None = Field(
        default=None,
        min_length=3,
        max_length=3,
        description="Factors by which the parts are multiplied first, such as [1, 10, 100]; stated on the figure.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric and where no row can be drawn."""
    import numpy

    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns)
    color = None if arguments.color is None else find_column(table, arguments.color, "color")
    if arguments.scale and min(arguments.scale) <= 0:
        raise ArgumentError("scale", "the factors must be positive")
    factors = numpy.array(arguments.scale or [1.0, 1.0, 1.0])
    values = features.take(table, names, "columns").original
    has_all = numpy.isfinite(values).all(axis=1)
    is_part = has_all & (values >= 0).all(axis=1) & (values.sum(axis=1) > 0)
    left_out = counted({"missing": int((~has_all).sum()), "negative or all zero": int((has_all & ~is_part).sum())})
    if not is_part.any():
        raise ArgumentError("columns", f"{table.path.name}: no row can be drawn: {reasons(left_out)}")
    parts = values[is_part] * factors
    parts = parts / parts.sum(axis=1, keepdims=True)
    colours: Colouring = None if color is None else colouring(table, color).of_rows(is_part)
    labels = [_label(table, name, factor) for name, factor in zip(names, factors, strict=True)]
    title = f"{' – '.join(names)}" + (f" by {color}" if color else "")

    found = [beyond(table, name, "columns").of_rows(is_part) for name in names]
    hollow = numpy.any([each.below for each in found], axis=0)

    context.report("drawing the ternary diagram")
    figure = _draw(f"{title}, {table.path.name}", parts, hollow, labels, colours)
    note = f"{drawn_note(len(parts), left_out)}; closed to 100 %"
    note += f", factors {', '.join(f'{factor:g}' for factor in factors)}" if arguments.scale else ""
    mark = "" if isinstance(colours, Scale) else "hollow"
    note = "; ".join([note, *(f"{each.name}: {told}" for each in found for told in each.told(mark))])
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, columns=names, color=color)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, f"Ternary diagram of {title}")
    middle = [float(value) for value in numpy.median(parts, axis=0)]
    units = sorted({table.units[name] for name in names if name in table.units})
    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": len(parts),
        "points_left_out": sum(left_out.values()),
        "left_out_reasons": left_out,
        "columns": names,
        "median_parts": dict(zip(names, middle, strict=True)),
        **counts(found),
        "rule": "parts divided by their sum",
        "alt": f"Ternary diagram of {title}: {note}. Median parts "
        + ", ".join(f"{name} {100 * value:.3g} %" for name, value in zip(names, middle, strict=True))
        + ".",
    }
    notes = [f"{sum(left_out.values())} rows are not drawn: {reasons(left_out)}"] if left_out else []
    if len(units) > 1 and not arguments.scale:
        notes.append(f"the parts are in different units ({', '.join(units)}); give scale to bring them to one")
    if colours is not None:
        results |= colours.describe()
        notes += colours.notes
    return ToolResult(
        f"ternary diagram of {title}: {note}", results, [drawn.artifact], [*table.notes, *notes, *drawn.notes]
    )


def _label(table: Table, name: str, factor: float) -> str:
    label = figures.plain(figures.with_unit(name, table.units.get(name)), 20)
    return label if factor == 1 else f"{label} × {factor:g}"


def _draw(title: str, parts: Vector, hollow: Vector, labels: list[str], colours: Colouring) -> Figure:
    import mpltern  # noqa: F401 - registers the projection
    import numpy

    figure = figures.new_figure(title)
    axes: Any = figure.add_subplot(projection="ternary", ternary_sum=100.0)
    axes.set_tlabel(labels[0])
    axes.set_llabel(labels[1])
    axes.set_rlabel(labels[2])
    for axis in (axes.taxis, axes.laxis, axes.raxis):
        # The names stand at the corners, clear of the ticks 0 and 100 there.
        axis.labelpad = CORNER_PAD
    axes.grid(True, color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9, color="#666666")
    t, left, right = (100 * parts).T
    look: dict[str, Any] = {"s": 16 if len(parts) <= 2_000 else 4, "alpha": 0.8, "linewidths": 0, "rasterized": True}
    if isinstance(colours, Groups):
        for code, colour in [(-1, figures.NO_VALUE_COLOUR), *enumerate(colours.colours)]:
            rows = colours.codes == code
            marker = "o" if code < 0 else points.marker_of(code, len(parts))
            _scatter(axes, (t, left, right), rows, hollow, colour, {**look, "marker": marker})
        points.add_legend(axes, colours)
    elif isinstance(colours, Scale):
        has = ~numpy.isnan(colours.values)
        axes.scatter(t[~has], left[~has], right[~has], color=figures.NO_VALUE_COLOUR, **look)
        drawn = axes.scatter(
            t[has], left[has], right[has], c=colours.values[has], cmap=figures.CONTINUOUS_MAP,
            vmin=colours.low, vmax=colours.high, **look,
        )  # fmt: skip
        points.add_key(figure, axes, colours, drawn)
    else:
        _scatter(axes, (t, left, right), numpy.ones(len(t), dtype=bool), hollow, figures.OKABE_ITO[0], look)
    return figure


def _scatter(
    axes: Any, parts: tuple[Vector, Vector, Vector], rows: Vector, hollow: Vector, colour: str, look: dict[str, Any]
) -> None:
    """Full marks, and rings for points of which some part is below a limit."""
    full, rings = rows & ~hollow, rows & hollow
    axes.scatter(*(part[full] for part in parts), color=colour, **look)
    ring = {**look, "linewidths": 0.9, "facecolors": "none", "edgecolors": colour}
    axes.scatter(*(part[rings] for part in parts), **ring)


TOOL = Tool(
    name="plot_ternary",
    version=2,
    description="Draw a ternary diagram of three parts, closed to 100 %, coloured by group or value.",
    asked_for=("ternary", "ternary diagram", "triangle plot", "three-component plot"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        triangle; triangular diagram; three components; three parts; three end members; QAP; sand silt clay; AFM
        diagram; piper; three-way composition; ternary; trilinear; a triangle with three corners; QFL; soil
        texture; SiO2, Al2O3 and Fe2O3 together; mixing of three sources; proportions of three; three-component
        composition graph; streckeisen; feldspar classification; apexes; A-CN-K; relative proportions of three
        oxides; corners; sand-silt-clay triangle; proportions on three corners; three elements at once;
        three-way; triangle of; Na, K and Ca; three oxides; triangle plot of; mixture of three; sum of three;
        three variables in a triangle; sediment classes; three end-members drawn; tri-plot; relative amounts of
        three; corner; three minerals; quartz, feldspar and lithics; carbonate, sulphate, chloride
        """
    ),
)
