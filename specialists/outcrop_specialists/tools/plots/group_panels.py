"""Lays out a picture of groups: one column as bars, two as a scatter plot, up to six as pairs, more as components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_specialists.tools.multivariate.pca import principal_components
from outcrop_specialists.tools.plots import figures, points
from outcrop_specialists.tools.plots.colouring import Groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from outcrop_specialists.tools.multivariate.features import Features

    Matrix = NDArray[Any]

MOST_PANEL_COLUMNS = 6
LARGE_FROM_COLUMNS = 5
# Characters that fit beside or below one panel, by the number of panels across.
PANEL_LABEL_CHARS = {1: figures.LABEL_CHARS, 2: 32, 3: 21, 4: 20, 5: 15}
BINS = 30


@dataclass(frozen=True)
class View:
    """What is drawn: `values` (rows, axes) with a label for each axis; `is_log` where axes are logarithmic."""

    values: Matrix
    labels: list[str]
    is_log: bool
    is_projected: bool

    def ranges(self) -> dict[str, list[float]]:
        """Range of the first two axes."""
        columns = zip(("x_range", "y_range"), self.values.T, strict=False)
        return {key: [float(column.min()), float(column.max())] for key, column in columns}

    def describe(self) -> str:
        if self.is_projected:
            return f"Scatter plot of {' and '.join(self.labels)}"
        kind = {1: "Histogram", 2: "Scatter plot"}.get(len(self.labels), "Panels of pairs")
        return f"{kind} of {', '.join(self.labels)}"


def view_of(taken: Features, units: Mapping[str, str]) -> View:
    """The complete rows as they are drawn: logarithms on logarithmic axes in the data's units, clr as it is."""
    is_log = taken.transform in ("log10", "ln")
    if len(taken.columns) > MOST_PANEL_COLUMNS:
        found = principal_components(taken, 2, standardize=True)
        labels = [f"PC{number} ({share:.1%} of variance)" for number, share in enumerate(found.shares, start=1)]
        return View(found.scores[taken.is_complete], labels, is_log=False, is_projected=True)
    matrix = taken.values if taken.transform == "clr" else taken.original
    names = [f"clr({name})" if taken.transform == "clr" else name for name in taken.columns]
    labels = [figures.with_unit(name, units.get(original)) for name, original in zip(names, taken.columns, strict=True)]
    return View(matrix[taken.is_complete], labels, is_log, is_projected=False)


def draw_groups(view: View, groups: Groups, title: str, note: str) -> Figure:
    """A figure of the groups (one code for each row of the view) with a legend of their counts."""
    count = len(view.labels)
    size = figures.LARGE_INCHES if count >= LARGE_FROM_COLUMNS else figures.SIZE_INCHES
    figure = figures.new_figure(title, size)
    if count <= 2:
        axes = figure.add_subplot()
        figures.style_axes(axes)
        if count == 1:
            _draw_bars(axes, view, groups)
        else:
            _draw_pair(axes, view, groups, 0, 1)
        points.add_legend(axes, groups)
    else:
        _draw_pairs(figure, view, groups)
        # The upper right of a triangle of panels is free for the legend.
        points.add_legend(figure, groups)
    figures.write_note(figure, note)
    return figure


def _draw_pairs(figure: Figure, view: View, groups: Groups) -> None:
    """The lower triangle of all pairs; names only at the outer edge, scales shared along rows and columns."""
    side = len(view.labels) - 1
    grid = figure.subplots(side, side, sharex="col", sharey="row", squeeze=False)
    for row in range(side):
        for column in range(side):
            axes = grid[row][column]
            if column > row:
                axes.remove()
                continue
            figures.style_axes(axes)
            _draw_pair(axes, view, groups, column, row + 1)
            axes.tick_params(labelsize=8)
            axes.label_outer()


def _draw_pair(axes: Axes, view: View, groups: Groups, x: int, y: int) -> None:
    for axis, index in ((axes.xaxis, x), (axes.yaxis, y)):
        if view.is_log:
            figures.set_log(axis, float(view.values[:, index].min()), float(view.values[:, index].max()))
    chars = PANEL_LABEL_CHARS[max(1, len(view.labels) - 1)]
    axes.set_xlabel(figures.plain(view.labels[x], chars))
    axes.set_ylabel(figures.plain(view.labels[y], chars))
    points.draw(axes, view.values[:, x], view.values[:, y], groups)


def _draw_bars(axes: Axes, view: View, groups: Groups) -> None:
    """One column: a stacked histogram, so that groups cannot hide each other."""
    import numpy

    values = view.values[:, 0]
    low, high = float(values.min()), float(values.max())
    if view.is_log:
        figures.set_log(axes.xaxis, low, high)
        edges = numpy.geomspace(low, high if high > low else low * 1.1, BINS + 1)
    else:
        edges = numpy.linspace(low, high if high > low else low + 1, BINS + 1)
    stacks = [values[groups.codes == code] for code in (-1, *range(len(groups.names)))]
    colours = [figures.NO_VALUE_COLOUR, *groups.colours]
    axes.hist(stacks, bins=edges.tolist(), stacked=True, color=colours, edgecolor="white", linewidth=0.4)
    axes.set_xlabel(figures.plain(view.labels[0]))
    axes.set_ylabel("Number of rows")
