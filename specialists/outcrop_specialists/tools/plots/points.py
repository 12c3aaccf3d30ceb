"""Draws points into axes: sized by how many there are, coloured by group or value, as cells where they are millions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.colouring import NO_GROUP, Colouring, Groups, Scale

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
# Marks with the factor of area that makes them look as large as a disc.
MARKERS = {"o": 1.0, "s": 0.9, "^": 1.2, "D": 0.8, "v": 1.2, "P": 1.4, "X": 1.4, "*": 2.2}
NO_VALUE = "no value"
# Groups beyond which a legend has one line in smaller type for each.
LONG_LEGEND = 12


def draw(axes: Axes, x: Vector, y: Vector, colours: Colouring, hollow: Vector | None = None) -> ColorizingArtist | None:
    """Draw points (finite x and y, axes already scaled); what a colour bar can be made of, where there is one.

    Points that are `hollow`, as their value is below a limit, are rings while points are large enough to show it.
    """
    import numpy

    if hollow is None or len(x) > SMALL_MARKS_FROM:
        hollow = numpy.zeros(len(x), dtype=bool)
    if isinstance(colours, Groups):
        _draw_groups(axes, x, y, colours, hollow)
        return None
    if len(x) > CELLS_FROM:
        return _draw_cells(axes, x, y, colours)
    if isinstance(colours, Scale):
        return _draw_scale(axes, x, y, colours, hollow)
    _scatter(axes, x, y, hollow, figures.OKABE_ITO[0], "o", len(x))
    return None


def _scatter(axes: Axes, x: Vector, y: Vector, hollow: Vector, colour: str, marker: str, of_points: int) -> None:
    """Discs, and rings where hollow, in one colour."""
    axes.scatter(x[~hollow], y[~hollow], color=colour, marker=marker, **_mark(of_points, marker))
    axes.scatter(x[hollow], y[hollow], edgecolors=colour, marker=marker, **_ring(of_points, marker))


def _ring(of_points: int, marker: str = "o") -> dict[str, Any]:
    look = {key: value for key, value in _mark(of_points, marker).items() if key != "edgecolors"}
    return {**look, "facecolors": "none", "linewidths": 0.9}


def add_key(figure: Figure, axes: Axes, colours: Colouring, drawn: ColorizingArtist | None) -> None:
    """A legend with counts beside the axes for groups; a colour bar for a scale or for counted cells."""
    if isinstance(colours, Groups):
        add_legend(axes, colours)
        return
    if isinstance(colours, Scale) and colours.without() and len(colours.values) <= CELLS_FROM:
        handle = _handle("o", figures.NO_VALUE_COLOUR, f"{NO_VALUE} ({colours.without():,})")
        axes.legend(handles=[handle], loc="best", fontsize=8, framealpha=0.9)
    if drawn is not None:
        from matplotlib.ticker import FuncFormatter

        extend = _beyond(colours) if colours else "neither"
        title = figures.with_unit(colours.title, colours.unit) if colours else "points in a cell"
        if colours and len(colours.values) > CELLS_FROM:
            title = f"{title}, mean in a cell"
        bar = figure.colorbar(drawn, ax=axes, extend=extend, shrink=0.85, pad=0.02)
        bar.set_label(figures.plain(title), fontsize=10)
        bar.ax.tick_params(labelsize=9, color="#666666")
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: figures.number_text(value)))


def add_legend(place: Axes | Figure, groups: Groups) -> None:
    """Every group with its colour, mark and count: right of the axes, or in the upper right of a figure of panels."""
    from matplotlib.axes import Axes

    lines, size = (1, 8) if len(groups.names) > LONG_LEGEND else (2, 9)
    handles = [
        _handle(
            marker_of(code, len(groups.codes)), groups.colours[code], f"{figures.plain(name, 22, lines)} ({count:,})"
        )
        for code, (name, count) in enumerate(groups.counts().items())
    ]
    if groups.without():
        handles.append(_handle("o", figures.NO_VALUE_COLOUR, f"{NO_VALUE} ({groups.without():,})"))
    look: dict[str, Any] = {
        "title": figures.plain(groups.title, 22),
        "fontsize": size,
        "title_fontsize": size,
        "borderaxespad": 0,
    }
    if isinstance(place, Axes):
        legend = place.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), **look)
    else:
        legend = place.legend(handles=handles, loc="upper right", bbox_to_anchor=(0.985, 0.93), **look)
    legend.get_frame().set_edgecolor("#CCCCCC")


def _draw_groups(axes: Axes, x: Vector, y: Vector, groups: Groups, hollow: Vector) -> None:
    if len(x) > SMALL_MARKS_FROM:
        _draw_mixed(axes, x, y, groups)
        return
    counts = groups.counts()
    lacking = groups.codes == NO_GROUP
    _scatter(axes, x[lacking], y[lacking], hollow[lacking], figures.NO_VALUE_COLOUR, "o", len(x))
    # The largest first, so that a small group is not hidden under it.
    for code in sorted(range(len(counts)), key=lambda code: -counts[groups.names[code]]):
        rows, marker = groups.codes == code, marker_of(code, len(x))
        _scatter(axes, x[rows], y[rows], hollow[rows], groups.colours[code], marker, len(x))


def _draw_mixed(axes: Axes, x: Vector, y: Vector, groups: Groups) -> None:
    """So many points that groups drawn one after the other would hide each other: drawn in a fixed random order."""
    import numpy
    from matplotlib.colors import to_rgba_array

    palette = to_rgba_array([*groups.colours, figures.NO_VALUE_COLOUR])
    order = numpy.random.default_rng(len(x)).permutation(len(x))
    axes.scatter(x[order], y[order], c=palette[groups.codes[order]], **_mark(len(x)))


def _draw_scale(axes: Axes, x: Vector, y: Vector, scale: Scale, hollow: Vector) -> ColorizingArtist:
    import numpy
    from matplotlib import colormaps

    lacking = numpy.isnan(scale.values)
    _scatter(axes, x[lacking], y[lacking], hollow[lacking], figures.NO_VALUE_COLOUR, "o", len(x))
    rings = hollow & ~lacking
    share = (scale.values[rings] - scale.low) / (scale.high - scale.low)
    colours = colormaps[figures.CONTINUOUS_MAP](numpy.clip(share, 0, 1))
    axes.scatter(x[rings], y[rings], **{**_ring(len(x)), "edgecolors": colours})
    # Ascending, so that the high values, which people look for, lie on top.
    full = numpy.flatnonzero(~lacking & ~hollow)
    order = full[numpy.argsort(scale.values[full], kind="stable")]
    return axes.scatter(
        x[order],
        y[order],
        c=scale.values[order],
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


def _mark(of_points: int, marker: str = "o") -> dict[str, Any]:
    area, opacity = next(((area, opacity) for bound, area, opacity in MARKS if of_points <= bound), SMALL_MARK)
    edge = {"edgecolors": "white", "linewidths": 0.3} if of_points <= MARKS[1][0] else {"linewidths": 0.0}
    return {"s": area * MARKERS[marker], "alpha": opacity, "rasterized": True, **edge}


def marker_of(code: int, of_points: int) -> str:
    """The mark of a group: a disc for all where points are many and small."""
    return "o" if of_points > SMALL_MARKS_FROM else list(MARKERS)[code % len(MARKERS)]


def _handle(marker: str, colour: str, label: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], marker=marker, linestyle="none", color=colour, markeredgecolor="white", markersize=7, label=label
    )


def _beyond(scale: Scale) -> Literal["both", "min", "max", "neither"]:
    import numpy

    under, over = bool(numpy.nanmin(scale.values) < scale.low), bool(numpy.nanmax(scale.values) > scale.high)
    if under and over:
        return "both"
    return "min" if under else "max" if over else "neither"
