"""Draws the correlations among columns as a coloured matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.statistics.correlations import correlations

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

MOST_COLUMNS = 60
NUMBERS_UP_TO = 16
PAIRS_TOLD = 5


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=2,
        max_length=MOST_COLUMNS,
        description="Numeric columns; all measurements where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    method: Literal["spearman", "pearson"] = Field(
        default="spearman", description="spearman (ranks) suits skewed concentrations; pearson is linear."
    )
    order: Literal["similar", "as_listed"] = Field(
        default="similar", description="similar puts correlated columns side by side (average linkage)."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric, and for fewer than two or too many of them."""
    import numpy

    table = read_table(context, arguments.path)
    names, chosen = features.chosen_columns(table, arguments.columns)
    if not 2 <= len(names) <= MOST_COLUMNS:
        raise ArgumentError("columns", f"{len(names)} columns; name 2 to {MOST_COLUMNS} of them")
    values = features.take(table, names, "columns").original
    varies = [
        bool(numpy.nanmin(column) < numpy.nanmax(column)) if numpy.isfinite(column).any() else False
        for column in values.T
    ]
    constant = [name for name, does in zip(names, varies, strict=True) if not does]
    names = [name for name in names if name not in constant]
    if len(names) < 2:
        raise ArgumentError(
            "columns", f"{table.path.name}: fewer than 2 of these columns vary: {', '.join(constant)} do not"
        )
    if constant:
        chosen.append(f"not drawn, since all values are the same or missing: {', '.join(constant)}")
    matrix = correlations(values[:, numpy.array(varies)], arguments.method, context.report).coefficients
    order = _similar(matrix) if arguments.order == "similar" else list(range(len(names)))
    names, matrix = [names[i] for i in order], matrix[numpy.ix_(order, order)]
    undefined = int(numpy.isnan(matrix[numpy.triu_indices(len(names), 1)]).sum())
    title = f"{arguments.method.capitalize()} correlations of {many(len(names), 'column')}"

    context.report("drawing the heat map")
    figure = _draw(f"{title}, {table.path.name}", names, matrix)
    note = f"{table.frame.height:,} rows, each pair over the rows that have both values"
    note += f"; {undefined} pairs without a coefficient are grey" if undefined else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, columns=names)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    strongest = _strongest(names, matrix)
    told = ", ".join(f"{a} and {b} {r:.3f}" for a, b, r in strongest)
    results: dict[str, Any] = {
        **drawn.size(),
        "columns": len(names),
        "pairs": len(names) * (len(names) - 1) // 2,
        "undefined": undefined,
        "strongest": {f"{a} / {b}": r for a, b, r in strongest},
        "rule": f"{arguments.method}, {note}",
        "alt": f"Heat map of {title}. Strongest: {told}.",
    }
    return ToolResult(f"{title}; strongest: {told}", results, [drawn.artifact], [*table.notes, *chosen, *drawn.notes])


def _similar(matrix: Matrix) -> list[int]:
    """The order of the leaves of an average-linkage tree over 1 - |r| (Sokal & Michener 1958)."""
    import numpy
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(matrix) < 3:
        return list(range(len(matrix)))
    distance = 1 - numpy.abs(numpy.nan_to_num(matrix, nan=0.0))
    numpy.fill_diagonal(distance, 0.0)
    return [int(leaf) for leaf in leaves_list(linkage(squareform(distance, checks=False), "average"))]


def _strongest(names: list[str], matrix: Matrix) -> list[tuple[str, str, float]]:
    import numpy

    rows, columns = numpy.triu_indices(len(names), 1)
    values = matrix[rows, columns]
    order = numpy.argsort(-numpy.abs(numpy.nan_to_num(values, nan=0.0)), kind="stable")[:PAIRS_TOLD]
    return [(names[rows[i]], names[columns[i]], float(values[i])) for i in order if not numpy.isnan(values[i])]


def _draw(title: str, names: list[str], matrix: Matrix) -> Figure:
    import numpy
    from matplotlib import colormaps
    from matplotlib.ticker import FixedLocator

    side = min(max(6.0, 0.32 * len(names) + 3.0), 14.0)
    figure = figures.new_figure(title, (side + 1.0, side))
    axes = figure.add_subplot()
    colours = colormaps["RdBu_r"].with_extremes(bad=figures.NO_VALUE_COLOUR)
    image = axes.imshow(numpy.ma.masked_invalid(matrix), cmap=colours, vmin=-1, vmax=1, interpolation="nearest")
    places, labels = range(len(names)), [figures.plain(name, 18, 1) for name in names]
    size = 9 if len(names) <= 30 else 7
    axes.set_xticks(places, labels, rotation=90, fontsize=size)
    axes.set_yticks(places, labels, fontsize=size)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if len(names) <= NUMBERS_UP_TO:
        for (row, column), value in numpy.ndenumerate(matrix):
            if not numpy.isnan(value):
                colour = "white" if abs(value) > 0.65 else "black"
                axes.text(
                    column, row, f"{value:.2f}".replace("-", "−"), ha="center", va="center", fontsize=7, color=colour
                )
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("correlation coefficient", fontsize=10)
    bar.ax.yaxis.set_major_locator(FixedLocator([-1, -0.5, 0, 0.5, 1]))
    bar.ax.tick_params(labelsize=9, color="#666666")
    return figure


TOOL = Tool(
    name="plot_heatmap",
    version=1,
    description="Draw the correlations among numeric columns as a heat map, similar columns side by side.",
    asked_for=("heatmap", "heat map", "correlation heatmap", "correlation matrix plot", "plot the correlations"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        correlation picture; coloured matrix; matrix of colours; colour table of correlations; correlogram;
        which elements go together, as a picture; grid of coefficients; visualise correlations; matrix image;
        element associations picture; red and blue matrix; clustered matrix; correlation chart; figure of the
        relations among all elements; colour-coded table; graphic of all pairs; overview picture of
        relationships; interrelationship graphic; similarity matrix; picture of how all the elements relate;
        coloured table of coefficients; colours for the coefficients; image of all correlations; relations of
        all elements drawn; colours show the correlation; all against all; graphic of associations; matrix
        drawn; coloured squares; one figure for all relations; red for positive; correlations as colours; visual
        matrix; all pairs; correlation figure; draw correlations
        """
    ),
)
