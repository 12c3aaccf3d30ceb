"""Draws a column's distribution for each group as box plots side by side."""

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
from outcrop_specialists.tools.plots.colouring import Groups, grouping
from outcrop_specialists.tools.plots.placing import drawable, reasons
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

# Up to so many values of a group are drawn as points beside its box: where there are few, a box says too much.
POINTS_FROM_FEW = 40
SHOWN_CHARS = 300
RULE = (
    "box from the lower to the upper quartile, linear (type 7), with the median; whiskers to the farthest value within "
    "1.5 IQR of the box (Tukey 1977), values beyond as points"
)


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    column: str = Field(description="Numeric column to draw.", json_schema_extra={"x-role": "column"})
    by: str | None = Field(
        default=None,
        description="Column whose values make the groups; one box of all rows without it.",
        json_schema_extra={"x-role": "by-column"},
    )
    log: bool = Field(default=False, description="Logarithmic axis; values that are not positive are left out.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for a column that is not numeric or has no value to draw."""
    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column, "column")
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    values = numeric(table, name, "column").to_numpy()
    groups = grouping(table, by) if by else None
    rows, left_out = drawable(values, groups, log=arguments.log)
    if not rows.any():
        raise ArgumentError("column", f"{table.path.name}: no value of {name!r} can be drawn: {reasons(left_out)}")
    found = beyond(table, name)
    masks = _masks(rows, groups, name)
    parts = {group: values[mask] for group, mask in masks.items()}
    limited = {group: found.of_rows(mask) for group, mask in masks.items()}
    title = f"{name} by {by}" if by else f"Box plot of {name}"

    context.report("drawing the box plot")
    colours = groups.colours if groups else [figures.OKABE_ITO[0]]
    figure = _draw(f"{title}, {table.path.name}", parts, limited, found.of_rows(rows), colours, log=arguments.log)
    axes = figure.axes[0]
    axes.set_ylabel(figures.axis_label(name, table.units.get(name)))
    if by:
        axes.set_xlabel(figures.axis_label(by))
    note = f"{int(rows.sum()):,} values in {len(parts)} group{'s' if len(parts) > 1 else ''}"
    has_points = any(len(part) <= POINTS_FROM_FEW for part in parts.values())
    note = "; ".join([note, *found.of_rows(rows).told("points hollow" if has_points else "")])
    note += f"; {sum(left_out.values()):,} left out: {reasons(left_out)}" if left_out else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, column=name, by=by)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)

    middles = {group: limited[group].median(part) for group, part in parts.items()}
    medians, omitted = bounded.fitting(middles, SHOWN_CHARS)
    told = bounded.named([f"{group} {_median(median)} (n {len(parts[group]):,})" for group, median in medians.items()])
    more = {"medians_not_shown": omitted} if omitted else {}
    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": int(rows.sum()),
        "points_left_out": sum(left_out.values()),
        "left_out_reasons": left_out,
        "column": name,
        "medians": medians,
        **more,
        **counts([found.of_rows(rows)]),
        "rule": RULE,
    }
    results["alt"] = f"Box plot of {name}: {note}. Medians: {told}."
    lost = [f"{sum(left_out.values())} rows are not drawn: {reasons(left_out)}"] if left_out else []
    notes = [*table.notes, *lost, *(groups.notes if groups else ()), *drawn.notes]
    return ToolResult(f"box plot of {title}: {note}{suspicions(table.frame, [name])}", results, [drawn.artifact], notes)


def _median(median: float | None) -> str:
    return "below a limit" if median is None else f"{median:.6g}"


def _masks(rows: Vector, groups: Groups | None, name: str) -> dict[str, Vector]:
    """The rows of each group that has any, in the order of its legend."""
    if groups is None:
        return {name: rows}
    masks = {group: rows & (groups.codes == code) for code, group in enumerate(groups.names)}
    return {group: mask for group, mask in masks.items() if mask.any()}


def _draw(
    title: str, parts: dict[str, Vector], limited: dict[str, Beyond], found: Beyond, colours: list[str], *, log: bool
) -> Figure:
    import numpy

    crowded = len(parts) > 8 or max(map(len, parts)) > 12
    figure = figures.new_figure(title, figures.LARGE_INCHES if crowded else figures.SIZE_INCHES)
    axes = figure.add_subplot()
    figures.style_axes(axes)
    if log:
        everything = numpy.concatenate(list(parts.values()))
        figures.set_log(axes.yaxis, float(everything.min()), float(everything.max()))
    places = list(range(1, len(parts) + 1))
    boxes = axes.boxplot(
        list(parts.values()),
        positions=places,
        widths=0.6,
        patch_artist=True,
        medianprops={"color": "black", "linewidth": 1.4},
        flierprops={"marker": "o", "markersize": 3, "markerfacecolor": "none", "alpha": 0.5},
    )
    for place, box, outliers, (group, part) in zip(places, boxes["boxes"], boxes["fliers"], parts.items(), strict=True):
        colour = colours[(place - 1) % len(colours)]
        box.set(facecolor=colour, alpha=0.55, edgecolor="#444444")
        if len(part) <= POINTS_FROM_FEW:
            # Every value is drawn beside the box, so an outlier would be drawn twice.
            outliers.set_visible(False)
            aside = place + numpy.random.default_rng(place).uniform(-0.16, 0.16, len(part))
            below = limited[group].below
            look: dict[str, Any] = {"s": 10, "edgecolors": "#444444", "linewidths": 0.4, "zorder": 3}
            axes.scatter(aside[~below], part[~below], color=colour, **look)
            axes.scatter(aside[below], part[below], facecolors="none", **look)
    draw_limits(axes, found, vertical=False)
    if found.highest is not None:
        axes.legend(loc="best", fontsize=8, framealpha=0.9)
    labels = [f"{figures.plain(group, 16)}\nn {len(part):,}" for group, part in parts.items()]
    axes.set_xticks(places, labels, rotation=60 if crowded else 0, ha="right" if crowded else "center", fontsize=8)
    axes.grid(False, axis="x")
    return figure


TOOL = Tool(
    name="plot_box",
    version=2,
    description="Draw box plots of one numeric column for each group of another, linear or log, with counts.",
    asked_for=("box plot", "boxplot", "box plots by group", "compare distributions", "box and whisker"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        whiskers; boxes; side by side; compare groups in a picture; distribution per group; quartiles in a
        picture; tukey plot; spread by lithology chart; visual comparison of groups; one box per rock type;
        median and quartile graph; group comparison chart; graph of the grade by rock type; violin; candlestick;
        for each formation a box; illustrate the difference between groups; range per category drawn; figure of
        ranges by category; medians next to each other; visualise by group; contrast rock types graphically;
        visual comparison among rock units; illustrate spread by aquifer; spread by group; draw quartiles; boxes
        for each unit; compare units visually; medians by unit drawn; draw by group; groups side by side;
        distribution by rock type drawn; visual differences between classes; graph of ranges by unit; a picture
        of the groups' spread; whisker; compare distributions graphically; ranges by lithology; illustrate; by
        formation
        """
    ),
)
