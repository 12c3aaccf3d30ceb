"""Draws columns against depth, side by side, one hole or well at a time: points, steps of intervals, or curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.censored import Beyond, beyond, counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MOST_TRACKS = 8
NARROWEST_INCHES = 5.4
"""So that title, names of tops and the note have room beside a single track."""
TOP_CHARS = 16
CURVE_FROM = 400
"""Samples from which a track without intervals is drawn as a curve: logs are sampled every few decimetres."""

Top = tuple[str, float]


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    depth: str = Field(
        description="Depth column, or the start of each interval.", json_schema_extra={"x-role": "y-column"}
    )
    columns: list[str] = Field(
        min_length=1,
        max_length=MOST_TRACKS,
        description="Numeric columns, a track for each.",
        json_schema_extra={"x-role": "columns"},
    )
    to: str | None = Field(default=None, description="End of each interval, where the table has intervals.")
    hole_column: str | None = Field(
        default=None, description="Column with the hole or well.", json_schema_extra={"x-role": "by-column"}
    )
    hole: str | None = Field(default=None, description="The hole to draw; needed where the table has several.")
    log: list[str] = Field(default=[], description="The columns drawn on a logarithmic axis.")
    tops: dict[str, float] = Field(
        default={}, max_length=30, description="Names of tops and their depths, drawn as lines."
    )


@dataclass(frozen=True)
class _Track:
    """What of one column is drawn: values, the depths they start and end at, and counts of the rest."""

    name: str
    values: Vector
    start: Vector
    end: Vector | None
    is_log: bool
    missing: int
    not_positive: int
    beyond: Beyond

    @property
    def is_curve(self) -> bool:
        """Whether the track is a line: then points below a limit are counted, but not marked."""
        return self.end is None and len(self.values) >= CURVE_FROM


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric, an unknown hole, and where nothing can be drawn."""
    import numpy

    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns)
    depth = find_column(table, arguments.depth, "depth")
    to = None if arguments.to is None else find_column(table, arguments.to, "to")
    logs = find_columns(table, arguments.log, "log") if arguments.log else []
    rows, hole = _rows_of_hole(table, arguments)
    start = numeric(table, depth, "depth").to_numpy()[rows]
    end = None if to is None else numeric(table, to, "to").to_numpy()[rows]
    has_depth = numpy.isfinite(start) if end is None else numpy.isfinite(start) & numpy.isfinite(end)
    if not has_depth.any():
        raise ArgumentError("depth", f"{table.path.name}: no row of it has a depth in {depth!r}")
    tracks = [
        _track(
            numeric(table, name, "columns").to_numpy()[rows],
            start,
            end,
            has_depth,
            beyond(table, name, "columns").of_rows(rows),
            is_log=name in logs,
        )
        for name in names
    ]
    empty = [track.name for track in tracks if not len(track.values)]
    if len(empty) == len(tracks):
        raise ArgumentError("columns", f"{table.path.name}: {', '.join(empty)} have no value to draw at any depth")
    title = f"{', '.join(names)} against depth" + (f", {hole}" if hole else "")

    context.report("drawing the downhole plot")
    figure = _draw(f"{title}, {table.path.name}", table, depth, tracks, list(arguments.tops.items()))
    drawn_count = sum(len(track.values) for track in tracks)
    note = "; ".join(_counted(track) for track in tracks)
    without_depth = int((~has_depth).sum())
    note += f"; {without_depth:,} rows have no depth" if without_depth else ""
    figures.write_note(figure, note)
    made_of = features.parameters(arguments, columns=names, depth=depth, to=to)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)
    low, high = float(start[has_depth].min()), float((start if end is None else end)[has_depth].max())
    ranges = {
        track.name: [float(track.values.min()), float(track.values.max())] for track in tracks if len(track.values)
    }
    spans = ", ".join(
        f"{name} {figures.short_number(a)} to {figures.short_number(b)}" for name, (a, b) in ranges.items()
    )
    results: dict[str, Any] = {
        **drawn.size(),
        "tracks": len(tracks),
        "points_drawn": drawn_count,
        "rows_without_depth": without_depth,
        "left_out": {t.name: t.missing + t.not_positive for t in tracks if t.missing + t.not_positive},
        "depth_range": [low, high],
        "ranges": ranges,
        **counts([track.beyond for track in tracks]),
        "alt": f"Downhole plot: {title}, depth down from {low:.6g} to {high:.6g}. {spans}. {note}.",
    }
    if hole:
        results["hole"] = hole
    notes = [f"{name} has no value to draw" for name in empty]
    notes += [
        f"{t.name}: {t.not_positive} values are not positive and left out of the log axis"
        for t in tracks
        if t.not_positive
    ]
    return ToolResult(
        f"downhole plot of {title}: {note}", results, [drawn.artifact], [*table.notes, *notes, *drawn.notes]
    )


def _rows_of_hole(table: Table, arguments: Arguments) -> tuple[Vector, str | None]:
    """Row numbers of the hole, all rows where there is no column of holes."""
    import numpy
    import polars as pl

    if arguments.hole_column is None:
        if arguments.hole is not None:
            raise ArgumentError("hole_column", "name the column that holds the holes")
        return numpy.arange(table.frame.height), None
    name = find_column(table, arguments.hole_column, "hole_column")
    holes = table.frame.get_column(name).cast(pl.String)
    known = holes.drop_nulls().unique(maintain_order=True).to_list()
    hole = arguments.hole if arguments.hole is not None else known[0] if len(known) == 1 else None
    if hole is None:
        raise ArgumentError("hole", f"{name!r} has {len(known)} holes ({', '.join(known[:5])} …); name the one to draw")
    if hole not in known:
        raise ArgumentError("hole", f"{name!r} has no {hole!r}; it has {', '.join(known[:8])}{' …' * (len(known) > 8)}")
    return numpy.flatnonzero((holes == hole).fill_null(False).to_numpy()), hole


def _track(
    values: Vector, start: Vector, end: Vector | None, has_depth: Vector, found: Beyond, *, is_log: bool
) -> _Track:
    import numpy

    has_value = numpy.isfinite(values) & has_depth
    is_drawn = has_value & (values > 0) if is_log else has_value
    order = numpy.argsort(start[is_drawn], kind="stable")
    return _Track(
        found.name,
        values[is_drawn][order],
        start[is_drawn][order],
        None if end is None else end[is_drawn][order],
        is_log,
        int((has_depth & ~numpy.isfinite(values)).sum()),
        int((has_value & ~is_drawn).sum()),
        found.of_rows(is_drawn).of_rows(order),
    )


def _counted(track: _Track) -> str:
    left = track.missing + track.not_positive
    told = [f"{track.name} {len(track.values):,} drawn", *track.beyond.told("" if track.is_curve else "hollow")]
    return ", ".join([*told, *([f"{left:,} left out"] if left else [])])


def _draw(title: str, table: Table, depth: str, tracks: list[_Track], tops: list[Top]) -> Figure:
    # Names of tops stand right of the last track and need room of their own.
    names = 1.2 if tops else 0.0
    figure = figures.new_figure(title, (min(max(2.2 * len(tracks) + 2.0 + names, NARROWEST_INCHES), 16.0), 9.0))
    axes = figure.subplots(1, len(tracks), sharey=True, squeeze=False)[0]
    for number, (place, track) in enumerate(zip(axes, tracks, strict=True)):
        figures.style_axes(place)
        _draw_track(place, track, figures.OKABE_ITO[number % 7])
        place.set_xlabel(figures.plain(figures.with_unit(track.name, table.units.get(track.name)), 20))
        place.xaxis.set_label_position("top")
        place.xaxis.tick_top()
        place.spines["top"].set_visible(True)
        place.spines["bottom"].set_visible(False)
        for _, at in tops:
            place.axhline(at, color="#444444", linewidth=0.8, linestyle="--")
    for name, at in tops:
        axes[-1].text(
            1.02,
            at,
            figures.plain(name, TOP_CHARS, 3),
            transform=axes[-1].get_yaxis_transform(),
            fontsize=8,
            va="center",
        )
    axes[0].set_ylabel(_depth_label(table, depth))
    # Depth grows downward, as in the ground.
    axes[0].invert_yaxis()
    return figure


def _depth_label(table: Table, depth: str) -> str:
    """`Depth (m)`; with the column's name where that says something else, such as From."""
    unit = table.units.get(depth)
    if "depth" in depth.casefold():
        return figures.axis_label(depth, unit)
    return figures.plain(f"{figures.with_unit('Depth', unit)}, column {depth}")


def _draw_track(axes: Axes, track: _Track, colour: str) -> None:
    import numpy

    if not len(track.values):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", fontsize=9, color="#777777")
        return
    if track.is_log:
        figures.set_log(axes.xaxis, float(track.values.min()), float(track.values.max()))
    if track.end is not None:
        axes.hlines(
            track.start, 0 if not track.is_log else track.values.min(), track.values, color=colour, linewidth=0.4
        )
        origin = numpy.full(
            len(track.values), track.values.min() if track.is_log else min(0.0, float(track.values.min()))
        )
        below, width, height = track.beyond.below, track.values - origin, track.end - track.start
        look: dict[str, Any] = {"align": "edge", "rasterized": True}
        axes.barh(
            track.start[~below], width[~below], height=height[~below], left=origin[~below], color=colour, alpha=0.75,
            linewidth=0, **look,
        )  # fmt: skip
        axes.barh(
            track.start[below], width[below], height=height[below], left=origin[below], facecolor="none",
            edgecolor=colour, linewidth=0.6, **look,
        )  # fmt: skip
    elif track.is_curve:
        axes.plot(*_with_gaps(track.values, track.start), color=colour, linewidth=0.6, rasterized=True)
    else:
        axes.plot(track.values, track.start, color=colour, linewidth=0.5, alpha=0.5)
        below = track.beyond.below
        axes.scatter(track.values[~below], track.start[~below], s=12, color=colour, linewidths=0)
        axes.scatter(
            track.values[below], track.start[below], s=14, facecolors="white", edgecolors=colour, linewidths=0.8,
            zorder=3,
        )  # fmt: skip


def _with_gaps(values: Vector, depth: Vector) -> tuple[Vector, Vector]:
    """A curve that is broken where samples are missing: a line across a gap would invent values."""
    import numpy

    steps = numpy.diff(depth)
    usual = float(numpy.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    breaks = numpy.flatnonzero(steps > 2.5 * usual) + 1 if usual else numpy.array([], dtype=int)
    return numpy.insert(values, breaks, numpy.nan), numpy.insert(depth, breaks, numpy.nan)


TOOL = Tool(
    name="plot_downhole",
    version=2,
    description="Draw columns against depth in tracks side by side for one hole or well, depth downward: log curves, "
    "samples or intervals, with tops as lines.",
    asked_for=("downhole plot", "strip log", "plot against depth", "depth plot", "well log", "down-hole"),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        log plot; depth profile; tracks; well display; strip; curves versus depth; composite log; gamma ray log
        picture; formation tops; picture of the well; grade down the hole; vertical profile; borehole plot; with
        depth; geological column; curve tracks; lithology log; display the logs; log panel; wireline curves side
        by side; profile along the hole; how does it change with depth, as a picture; assay profile; triple
        combo; core log; formation picks; markers; depth on the vertical axis; stratigraphic column; hole
        profile; geophysical curves drawn; downwards; gamma, density and neutron in tracks; draw grade versus
        depth for hole 12; versus depth; along the hole; curves drawn; with depth downwards; graph of a well;
        one hole drawn; show the hole; draw the log; show the well logs; picture of the hole; depth graph; show
        curves; grade along the hole; section of the hole; logs side by side; draw the assays of a hole; hole 7;
        well A; over depth; display the gamma; graphic log; log display; plot the log
        """
    ),
)
