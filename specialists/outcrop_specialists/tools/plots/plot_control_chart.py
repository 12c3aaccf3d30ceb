"""Draws results of a standard, a blank or any repeated measurement in order, with its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.inspection.conditions import rows_that_meet
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import censored, figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MOST_DRAWN = 5_000


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    column: str = Field(description="Numeric column with the results.", json_schema_extra={"x-role": "column"})
    by: str | None = Field(
        default=None,
        description="Column that names the standard (or kind of sample) of a row.",
        json_schema_extra={"x-role": "by-column"},
    )
    group: str | None = Field(default=None, description="The standard to draw: a value of `by`.")
    order: str | None = Field(
        default=None, description="Column to order by, such as a date or batch; file order without."
    )
    expected: float | None = Field(
        default=None, description="Certified value; the mean of the results where not given."
    )
    sd: float | None = Field(
        default=None, gt=0, description="Certified sd; that of the results (n - 1) where not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a column that is not numeric, an unknown group, and fewer than 2 results."""
    import numpy

    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column)
    rows = _rows(table, arguments)
    values = numeric(table, name).to_numpy()[rows]
    missing = int((~numpy.isfinite(values)).sum())
    found = censored.beyond(table, name).of_rows(rows).of_rows(numpy.isfinite(values))
    values = values[numpy.isfinite(values)]
    if len(values) < 2:
        raise ArgumentError(
            "column", f"{table.path.name}: {len(values)} results of {name!r} to draw, at least 2 are needed"
        )
    centre = float(values.mean()) if arguments.expected is None else arguments.expected
    sd = float(values.std(ddof=1)) if arguments.sd is None else arguments.sd
    if sd == 0:
        raise ArgumentError("sd", f"all {len(values)} results of {name!r} are the same, so their sd is 0; give sd")
    away = numpy.abs(values - centre) / sd
    beyond = {"2sd": int((away > 2).sum()), "3sd": int((away > 3).sum())}
    what = arguments.group or name
    title = f"Control chart of {name}" + (f", {arguments.group}" if arguments.group else "")

    context.report("drawing the control chart")
    figure = _draw(f"{title}, {table.path.name}", values, centre, sd, is_certified=arguments.expected is not None)
    axes = figure.axes[0]
    axes.set_ylabel(figures.axis_label(name, table.units.get(name)))
    axes.set_xlabel(f"Results in order of {arguments.order}" if arguments.order else "Results in order of the file")
    note = f"{len(values):,} results of {what}; {beyond['2sd']:,} beyond 2 sd, {beyond['3sd']:,} beyond 3 sd"
    note = "; ".join([note, *found.told()])
    note += f"; {missing:,} missing" if missing else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, column=name)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    bias = float(values.mean()) - centre
    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": len(values),
        "missing": missing,
        "centre": centre,
        "sd": sd,
        "mean": float(values.mean()),
        "bias": bias,
        "beyond": beyond,
        **censored.counts([found]),
        "rule": ("certified" if arguments.expected is not None else "observed mean")
        + " value, limits at 2 and 3 "
        + ("certified" if arguments.sd is not None else "observed (n - 1)")
        + " sd",
        "alt": f"{title}: {note}. Mean {values.mean():.6g}, centre {centre:.6g}, sd {sd:.6g}.",
    }
    return ToolResult(f"{title}: {note}", results, [drawn.artifact], [*table.notes, *drawn.notes])


def _rows(table: Table, arguments: Arguments) -> Vector:
    """Row numbers of the group, in the order asked for; rows without a value to order by come last."""
    import numpy
    import polars as pl

    mask = pl.Series([True] * table.frame.height, dtype=pl.Boolean)
    if arguments.by is not None:
        by = find_column(table, arguments.by, "by")
        if arguments.group is None:
            known = table.frame.get_column(by).drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
            raise ArgumentError(
                "group", f"name the standard to draw; {by!r} has {', '.join(known[:8])}{' …' * (len(known) > 8)}"
            )
        mask = rows_that_meet(table, by, "==", arguments.group)[0]
        if not mask.any():
            raise ArgumentError("group", f"{by!r} has no {arguments.group!r}")
    rows = numpy.flatnonzero(mask.to_numpy())
    if arguments.order is None:
        return rows
    column = table.frame.get_column(find_column(table, arguments.order, "order"))
    ranked = pl.DataFrame({"at": column.gather(rows), "row": rows}).sort("at", nulls_last=True, maintain_order=True)
    return ranked.get_column("row").to_numpy()


def _draw(title: str, values: Vector, centre: float, sd: float, *, is_certified: bool) -> Figure:
    import numpy

    figure = figures.new_figure(title, (10.0, 5.5))
    axes = figure.add_subplot()
    figures.style_axes(axes)
    at = numpy.arange(1, len(values) + 1)
    away = numpy.abs(values - centre) / sd
    # Beyond so many results every point beyond 2 sd is drawn, and of the others an even choice.
    shown = numpy.ones(len(values), dtype=bool)
    if len(values) > MOST_DRAWN:
        shown = (away > 2) | (at % (len(values) // MOST_DRAWN + 1) == 0)
    axes.axhline(
        centre, color="#333333", linewidth=1.2, label=f"{'certified' if is_certified else 'mean'} {centre:.6g}"
    )
    for times, colour in ((2, figures.OKABE_ITO[1]), (3, figures.OKABE_ITO[3])):
        for side in (-1, 1):
            label = f"± {times} sd" if side == 1 else None
            axes.axhline(centre + side * times * sd, color=colour, linewidth=1.0, linestyle="--", label=label)
    axes.plot(at[shown], values[shown], color="#999999", linewidth=0.5, zorder=2)
    for rows, colour, label in (
        (away <= 2, figures.OKABE_ITO[0], None),
        ((away > 2) & (away <= 3), figures.OKABE_ITO[1], f"beyond 2 sd ({int(((away > 2) & (away <= 3)).sum())})"),
        (away > 3, figures.OKABE_ITO[3], f"beyond 3 sd ({int((away > 3).sum())})"),
    ):
        drawn = rows & shown
        if drawn.any():
            axes.scatter(at[drawn], values[drawn], s=18, color=colour, linewidths=0, zorder=3, label=label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, framealpha=0.9, borderaxespad=0)
    return figure


TOOL = Tool(
    name="plot_control_chart",
    version=2,
    description="Draw a control chart of a standard, blank or repeated measurement: results in order with the "
    "certified or mean value and limits at 2 and 3 sd.",
    asked_for=("control chart", "shewhart chart", "plot the standards", "standards over time", "qc chart"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        shewhart; warning lines; two and three sigma lines; standards in time; drift in a picture; QC graph;
        time series of standards; CRM graph; performance over time; results in sequence; process control;
        batches in order; control lines; levey-jennings; accuracy over time picture; monitor; lab performance
        picture; graph of reference material results; sequence of blanks; trend of the control sample; cusum;
        mean and limits lines; picture of the certified values; blank results as a graph; quality control
        picture; out of control points; check samples by date; OREAS results through time with sigma limits;
        graph blanks in the order of analysis; reference material through time; sigma lines; limits at three
        sigma; standard over time; graph of QC; QC picture; by batch order; see the drift; drift drawn;
        performance graph; draw the standards; draw the blanks; results of controls in a chart; lab quality over
        time; in order of time; chart of the control samples; time chart; monitor the lab; over the months;
        action limits; picture of standards over time; plot QC results; control limits drawn
        """
    ),
)
