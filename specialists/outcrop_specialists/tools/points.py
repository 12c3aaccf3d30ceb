"""Draws points into axes: sized by how many there are, coloured by group or value, as cells where they are millions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from outcrop_specialists.tools import figures
from outcrop_specialists.tools.colouring import NO_GROUP, Colouring, Groups, Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorizer import ColorizingArtist
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    Vector = NDArray[Any]

SMALL_MARKS_FROM = 50_000
CELLS_FROM = 1_000_000
CELLS_ACROSS = (240, 180)
# Upper bound of a number of points, and the area (square points) and opacity they are drawn with.
MARKS = ((300, 34.0, 0.9), (2_000, 16.0, 0.85), (10_000, 7.0, 0.7), (SMALL_MARKS_FROM, 3.0, 0.5))
SMALL_MARK = (1.0, 0.4)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
NO_VALUE = "no value"


def draw(axes: Axes, x: Vector, y: Vector, colours: Colouring) -> ColorizingArtist | None:
    """Draw points (finite x and y, axes already scaled); what a colour bar can be made of, where there is one."""
    if isinstance(colours, Groups):
        _draw_groups(axes, x, y, colours)
        return None
    if len(x) > CELLS_FROM:
        return _draw_cells(axes, x, y, colours)
    if isinstance(colours, Scale):
        return _draw_scale(axes, x, y, colours)
    axes.scatter(x, y, color=figures.OKABE_ITO[0], **_mark(len(x)))
    return None


def add_key(figure: Figure, axes: Axes, colours: Colouring, drawn: ColorizingArtist | None) -> None:
    """A legend with counts outside the axes for groups; a colour bar for a scale or for counted cells."""
    if isinstance(colours, Groups):
        add_legend(figure, colours)
        return
    if isinstance(colours, Scale) and colours.without() and len(colours.values) <= CELLS_FROM:
        handle = _handle("o", figures.NO_VALUE_COLOUR, f"{NO_VALUE} ({colours.without()})")
        axes.legend(handles=[handle], loc="best", fontsize=8, framealpha=0.9)
    if drawn is not None:
        from matplotlib.ticker import FuncFormatter

        title, extend = ("points in a cell", "neither")
        if isinstance(colours, Scale):
            title, extend = colours.title, _beyond(colours)
        bar = figure.colorbar(drawn, ax=axes, extend=extend, shrink=0.85, pad=0.02)
        bar.set_label(title, fontsize=10)
        bar.ax.tick_params(labelsize=9, color="#666666")
        if isinstance(colours, Scale):
            bar.formatter = FuncFormatter(lambda value, _: figures.number_text(value))


def add_legend(figure: Figure, groups: Groups, *, loc: Literal["upper right", "outside right upper"] = "outside right upper") -> None:
    """Every group with its colour, mark and count."""
    handles = [
        _handle(MARKERS[code % len(MARKERS)], groups.colours[code], f"{figures.plain(name, 22)} ({count:,})")
        for code, (name, count) in enumerate(groups.counts().items())
    ]
    if groups.without():
        handles.append(_handle("o", figures.NO_VALUE_COLOUR, f"{NO_VALUE} ({groups.without():,})"))
    legend = figure.legend(
        handles=handles, loc=loc, title=figures.plain(groups.title, 22), fontsize=9, title_fontsize=9
    )
    legend.get_frame().set_edgecolor("#CCCCCC")


def _draw_groups(axes: Axes, x: Vector, y: Vector, groups: Groups) -> None:
    lacking = groups.codes == NO_GROUP
    _draw_group(axes, x[lacking], y[lacking], figures.NO_VALUE_COLOUR, "o", len(x))
    counts = list(groups.counts().values())
    # The largest first, so that a small group is not hidden under it.
    for code in sorted(range(len(counts)), key=lambda code: -counts[code]):
        rows = groups.codes == code
        _draw_group(axes, x[rows], y[rows], groups.colours[code], MARKERS[code % len(MARKERS)], len(x))


def _draw_group(axes: Axes, x: Vector, y: Vector, colour: str, marker: str, of_points: int) -> None:
    if of_points > CELLS_FROM:
        axes.plot(x, y, ",", color=colour, rasterized=True)
    elif of_points > SMALL_MARKS_FROM:
        axes.scatter(x, y, color=colour, **_mark(of_points))
    else:
        axes.scatter(x, y, color=colour, marker=marker, **_mark(of_points))


def _draw_scale(axes: Axes, x: Vector, y: Vector, scale: Scale) -> ColorizingArtist:
    import numpy

    lacking = numpy.isnan(scale.values)
    axes.scatter(x[lacking], y[lacking], color=figures.NO_VALUE_COLOUR, **_mark(len(x)))
    # Ascending, so that the high values, which people look for, lie on top.
    order = numpy.argsort(scale.values[~lacking], kind="stable")
    return axes.scatter(
        x[~lacking][order],
        y[~lacking][order],
        c=scale.values[~lacking][order],
        cmap=figures.CONTINUOUS_MAP,
        vmin=scale.low,
        vmax=scale.high,
        **_mark(len(x)),
    )


def _draw_cells(axes: Axes, x: Vector, y: Vector, scale: Scale | None) -> ColorizingArtist:
    """Cells of equal size on the axes as scaled: their number of points, or the mean of the values in them."""
    import numpy
    from matplotlib.colors import LogNorm, Normalize

    norm: Normalize
    edges = [_edges(axes.get_xscale(), x, CELLS_ACROSS[0]), _edges(axes.get_yscale(), y, CELLS_ACROSS[1])]
    if scale is None:
        counted, *_ = numpy.histogram2d(x, y, bins=edges)
        cells, norm = counted, LogNorm(vmin=1, vmax=max(2.0, float(counted.max())))
    else:
        has = ~numpy.isnan(scale.values)
        counted, *_ = numpy.histogram2d(x[has], y[has], bins=edges)
        total, *_ = numpy.histogram2d(x[has], y[has], bins=edges, weights=scale.values[has])
        cells, norm = total / numpy.maximum(counted, 1), Normalize(scale.low, scale.high)
    shown = numpy.ma.masked_where(counted == 0, cells)
    return axes.pcolormesh(*edges, shown.T, norm=norm, cmap=figures.CONTINUOUS_MAP, rasterized=True)


def _edges(axis_scale: str, values: Vector, cells: int) -> Vector:
    import numpy

    low, high = float(values.min()), float(values.max())
    if axis_scale == "log":
        return numpy.geomspace(low, high if high > low else low * 10, cells + 1)
    return numpy.linspace(low, high if high > low else low + 1, cells + 1)


def _mark(of_points: int) -> dict[str, Any]:
    area, opacity = next(((area, opacity) for bound, area, opacity in MARKS if of_points <= bound), SMALL_MARK)
    edge = {"edgecolors": "white", "linewidths": 0.3} if of_points <= MARKS[1][0] else {"linewidths": 0.0}
    return {"s": area, "alpha": opacity, "rasterized": True, **edge}


def _handle(marker: str, colour: str, label: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], marker=marker, linestyle="none", color=colour, markeredgecolor="white", markersize=7, label=label
    )


def _beyond(scale: Scale) -> str:
    import numpy

    under, over = bool(numpy.nanmin(scale.values) < scale.low), bool(numpy.nanmax(scale.values) > scale.high)
    return {(True, True): "both", (True, False): "min", (False, True): "max", (False, False): "neither"}[under, over]
