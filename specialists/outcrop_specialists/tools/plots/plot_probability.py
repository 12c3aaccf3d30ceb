"""Draws values against normal probabilities: populations and outliers show as breaks in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.colouring import Groups, grouping
from outcrop_specialists.tools.plots.placing import drawable, reasons
from outcrop_specialists.tools.plots.points import add_legend, marker_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

SHARES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
POINTS_DRAWN = 20_000
GROUPS_TOLD = 8
RULE = (
    "normal quantiles of (i - 3/8) / (n + 1/4) (Blom 1958); values below a limit keep their rank, and their points, at "
    "the limit, are hollow"
)


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    column: str = Field(description="Numeric column to draw.", json_schema_extra={"x-role": "column"})
    by: str | None = Field(
        default=None,
        description="Column whose values make the groups, each with a line of its own.",
        json_schema_extra={"x-role": "by-column"},
    )
    log: bool = Field(default=True, description="Logarithmic axis of values; what is not positive is left out.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a column that is not numeric or has fewer than 3 values to draw."""
    import numpy

    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column, "column")
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    values, below = _values(table, name)
    groups = grouping(table, by) if by else None
    rows, left_out = drawable(values, groups, log=arguments.log)
    if rows.sum() < 3:
        raise ArgumentError(
            "column", f"{table.path.name}: fewer than 3 values of {name!r} can be drawn: {reasons(left_out)}"
        )
    title = f"Probability plot of {name}" + (f" by {by}" if by else "")

    context.report("drawing the probability plot")
    figure = _draw(f"{title}, {table.path.name}", values, below, rows, groups, log=arguments.log)
    figure.axes[0].set_ylabel(figures.axis_label(name, table.units.get(name)))
    censored = int((below & rows).sum())
    note = f"{int(rows.sum()):,} values drawn"
    note += f", {censored:,} of them below a limit (hollow)" if censored else ""
    note += f"; {sum(left_out.values()):,} left out: {reasons(left_out)}" if left_out else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, column=name, by=by)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    kept = values[rows]
    low, median, high = (float(each) for each in numpy.percentile(kept, [5, 50, 95], method="linear"))
    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": int(rows.sum()),
        "below_limit": censored,
        "points_left_out": sum(left_out.values()),
        "left_out_reasons": left_out,
        "column": name,
        "groups": dict(list(groups.of_rows(rows).counts().items())[:GROUPS_TOLD]) if groups else None,
        "rule": RULE,
        "alt": f"{title}: {note}. 5 % lie below {low:.6g}, half below {median:.6g}, 95 % below {high:.6g}.",
    }
    results = {key: value for key, value in results.items() if value is not None}
    lost = [f"{sum(left_out.values())} rows are not drawn: {reasons(left_out)}"] if left_out else []
    notes = [*table.notes, *lost, *(groups.notes if groups else ()), *drawn.notes]
    return ToolResult(f"{title}: {note}{suspicions(table.frame, [name])}", results, [drawn.artifact], notes)


def _values(table: Table, name: str) -> tuple[Vector, Vector]:
    """Values, at the limit where they are below one, and which these are."""
    found = censored_values(table, name)
    return found.values.to_numpy(), found.below.to_numpy()


def _draw(title: str, values: Vector, below: Vector, rows: Vector, groups: Groups | None, *, log: bool) -> Figure:
    import numpy
    from scipy.stats import norm

    figure = figures.new_figure(title)
    axes = figure.add_subplot()
    figures.style_axes(axes)
    if log:
        figures.set_log(axes.yaxis, float(values[rows].min()), float(values[rows].max()))
    parts = [rows] if groups is None else [rows & (groups.codes == code) for code in range(len(groups.names))]
    colours = groups.colours if groups else [figures.OKABE_ITO[0]]
    for code, (part, colour) in enumerate(zip(parts, colours, strict=False)):
        marker = marker_of(code, int(rows.sum()))
        order = numpy.lexsort((~below[part], values[part]))
        count = len(order)
        if not count:
            continue
        at = norm.ppf((numpy.arange(1, count + 1) - 0.375) / (count + 0.25))
        drawn = numpy.unique(numpy.linspace(0, count - 1, min(count, POINTS_DRAWN)).astype(int))
        up, hollow = values[part][order][drawn], below[part][order][drawn]
        size = 14 if count <= 2_000 else 5
        axes.scatter(
            at[drawn][~hollow], up[~hollow], s=size, color=colour, marker=marker, linewidths=0, rasterized=True
        )
        axes.scatter(
            at[drawn][hollow],
            up[hollow],
            s=size,
            facecolors="none",
            edgecolors=colour,
            marker=marker,
            linewidths=0.6,
            rasterized=True,
        )
    axes.set_xticks(norm.ppf(SHARES), [f"{100 * share:g}" for share in SHARES])
    axes.set_xlabel("Share of values at or below, % (normal probability scale)")
    if groups:
        add_legend(axes, groups.of_rows(rows))
    return figure


TOOL = Tool(
    name="plot_probability",
    version=1,
    description="Draw a normal or log-normal probability plot of one numeric column, by group if asked: populations "
    "and outliers show as breaks.",
    asked_for=("probability plot", "normal probability", "q-q plot", "qq plot", "cumulative probability plot"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        normal distribution check; is it lognormal; straight line; q-q; quantile plot; populations as breaks;
        cumulative frequency; cumulative distribution; CDF; probability paper; normality; breaks in slope;
        mixture of populations; inflection; normal scores; gaussian or not; background and anomalous population
        by eye; percentiles axis; is it normally distributed; threshold from a graph; rankit; lepeltier; fit to
        a normal curve, drawn; kinks; separate populations graphically; graphical test for normality; breaks
        between background and ore populations on a cumulative graph; cumulative graph; normality picture; is it
        normal; is it gaussian, graphically; percentile graph; distribution against the normal; straightness;
        cumulative curve; log-normal; mixed populations graph; several populations on one graph; sigma axis;
        cumulative percent; bends; kink; graphical threshold
        """
    ),
)
