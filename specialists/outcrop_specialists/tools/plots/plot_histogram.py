"""Draws how the values of one column are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.censored import Beyond, beyond, counts, draw_limits
from outcrop_specialists.tools.plots.placing import counted, reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MOST_BINS = 100
FEWEST_BINS = 5
WHOLE_NUMBERS_SHOWN = 30


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    column: str = Field(description="Numeric column to draw.", json_schema_extra={"x-role": "column"})
    bins: int | None = Field(
        default=None, ge=1, le=500, description="Number of bins; by the Freedman-Diaconis rule where not given."
    )
    log: bool = Field(
        default=False, description="Logarithmic axis and bins; values that are not positive are left out."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a column that is not numeric or has no value to draw."""
    import numpy

    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column, "column")
    values = numeric(table, name, "column").to_numpy()
    has_value = numpy.isfinite(values)
    is_drawn = has_value & (values > 0) if arguments.log else has_value
    left_out = counted({"missing": int((~has_value).sum()), "not_positive": int((has_value & ~is_drawn).sum())})
    if not is_drawn.any():
        raise ArgumentError("column", f"{table.path.name}: no value of {name!r} can be drawn: {reasons(left_out)}")
    drawn_values = values[is_drawn]
    found = beyond(table, name).of_rows(is_drawn)
    edges, rule = bin_edges(drawn_values, arguments.bins, log=arguments.log)

    context.report("drawing the histogram")
    figure = _draw(f"Histogram of {name}, {table.path.name}", drawn_values, found, edges, log=arguments.log)
    axes = figure.axes[0]
    axes.set_xlabel(figures.axis_label(name, table.units.get(name)))
    count = len(edges) - 1
    note = f"{len(drawn_values):,} values drawn in {count} bin{'s' if count > 1 else ''}"
    note = "; ".join([note, *found.told("hatched")])
    note += f"; {sum(left_out.values()):,} left out: {reasons(left_out)}" if left_out else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, column=name)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, f"Histogram of {name}")

    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": len(drawn_values),
        "points_left_out": sum(left_out.values()),
        "left_out_reasons": left_out,
        "column": name,
        **_figures(drawn_values, found, edges),
        **counts([found]),
        "rule": rule,
    }
    if results["median"] is None:
        results["median_below"] = found.highest
    results["alt"] = f"Histogram of {name}: {note}. {_described(results)}"
    lost = [f"{sum(left_out.values())} rows are not drawn: {reasons(left_out)}"] if left_out else []
    told = f"histogram of {name}: {note}{suspicions(table.frame, [name])}"
    return ToolResult(told, results, [drawn.artifact], [*table.notes, *lost, *drawn.notes])


def bin_edges(values: Vector, bins: int | None, *, log: bool) -> tuple[Vector, str]:
    """Edges of the bins, and the rule that made them: width 2 IQR / n^(1/3) (Freedman & Diaconis 1981), 5 to 100 bins.

    Where the IQR is zero Sturges' rule (1926) serves; few whole numbers have a bin each.
    """
    import numpy

    across = numpy.log10(values) if log else values
    low, high = float(across.min()), float(across.max())
    if bins is None and not log and high - low < WHOLE_NUMBERS_SHOWN and (values == numpy.round(values)).all():
        return numpy.arange(low - 0.5, high + 1), "one bin for each whole number"
    rule = "bins as asked for"
    if bins is None:
        quarter, three_quarters = numpy.percentile(across, [25, 75], method="linear")
        width = 2 * float(three_quarters - quarter) / len(across) ** (1 / 3)
        wanted = (high - low) / width if width > 0 else numpy.log2(len(across)) + 1
        bins = int(numpy.clip(numpy.ceil(wanted), FEWEST_BINS, MOST_BINS))
        rule = f"{'Freedman-Diaconis' if width > 0 else 'Sturges'} rule, {FEWEST_BINS} to {MOST_BINS} bins"
    if high == low:
        low, high = low - 0.5, high + 0.5
    edges = numpy.linspace(low, high, bins + 1)
    if not log:
        return edges, rule
    # The logarithm is not undone exactly: the outer edges must still hold the extremes.
    edges = 10**edges
    edges[0], edges[-1] = min(edges[0], values.min()), max(edges[-1], values.max())
    return edges, f"{rule}, of equal width in log10"


def _figures(values: Vector, found: Beyond, edges: Vector) -> dict[str, Any]:
    import numpy

    heights, _ = numpy.histogram(values, edges)
    fullest = int(heights.argmax())
    return {
        "bins": len(heights),
        "x_range": [float(values.min()), float(values.max())],
        "y_range": [0, int(heights.max())],
        "median": found.median(values),
        "fullest_bin": [float(edges[fullest]), float(edges[fullest + 1])],
    }


def _described(results: dict[str, Any]) -> str:
    low, high, start, end = (figures.short_number(value) for value in (*results["x_range"], *results["fullest_bin"]))
    told = results["median"]
    median = f"median {figures.short_number(told)}" if told is not None else "the median below a limit"
    most = results["y_range"][1]
    return f"From {low} to {high}, {median}, most values ({most:,}) between {start} and {end}."


def _draw(title: str, values: Vector, found: Beyond, edges: Vector, *, log: bool) -> Figure:
    import numpy
    from matplotlib.ticker import MaxNLocator

    figure = figures.new_figure(title)
    axes = figure.add_subplot()
    figures.style_axes(axes)
    if log:
        figures.set_log(axes.xaxis, float(edges[0]), float(edges[-1]))
    blue = figures.OKABE_ITO[0]
    if found.below.any():
        # Nobody measured these: a hatched part of each bar, under the part that was measured.
        below, measured = (numpy.histogram(values[rows], edges)[0] for rows in (found.below, ~found.below))
        look: dict[str, Any] = {"width": numpy.diff(edges), "align": "edge", "linewidth": 0.5}
        axes.bar(edges[:-1], below, color="white", edgecolor=blue, hatch="////", label="below a limit", **look)
        axes.bar(edges[:-1], measured, bottom=below, color=blue, edgecolor="white", label="measured", **look)
        draw_limits(axes, found, vertical=True)
    else:
        axes.hist(values, bins=edges.tolist(), color=blue, edgecolor="white", linewidth=0.5)
    median = found.median(values)
    if median is not None:
        axes.axvline(median, color=figures.OKABE_ITO[3], linewidth=1.4, label=f"median {figures.number_text(median)}")
    axes.legend(loc="best", fontsize=9, framealpha=0.9, title="median below a limit" if median is None else None)
    axes.set_ylabel("Number of rows")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.grid(False, axis="x")
    return figure


TOOL = Tool(
    name="plot_histogram",
    version=2,
    description="Draw a histogram of one numeric column, on a linear or logarithmic axis, with its median.",
    asked_for=("histogram", "distribution", "plot the distribution of", "frequency plot", "how values are spread"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        frequency distribution; bars; bar chart of values; shape of the distribution; bell curve; bimodal;
        skewed; distribution picture; how are the values distributed; frequency diagram; bin counts chart;
        spread picture; one peak or two; visualise the distribution; graph of frequencies; modes; unimodal; look
        of the data; counts in classes as bars; empirical distribution; density of values; tail; picture of one
        variable; is it bimodal, I'd like to see it; draw how often each range occurs; show the distribution;
        bars of frequency; visual distribution; see the shape; how is it distributed, as a picture; draw the
        distribution; distribution graph; number of samples in each class, drawn; symmetric or skewed; look at
        the distribution; distribution of grades; frequency bars; peaks; two humps; see the spread; bar graph
        """
    ),
)
