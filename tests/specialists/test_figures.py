"""Figures: what is saved is opened again and checked, and text out of data stays text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.plots import figures, points
from outcrop_specialists.tools.plots.colouring import Groups, Scale, colouring, grouping
from outcrop_specialists.tools.plots.plot_scatter import TOOL


def table_of(**columns: object) -> Table:
    return Table(Path("t.csv"), pl.DataFrame(columns))


def figure_with(x: np.ndarray, y: np.ndarray, colours: Groups | Scale | None, scale: str = "linear") -> Figure:
    figure = figures.new_figure("title")
    axes = figure.add_subplot(xscale=scale, yscale=scale)
    points.add_key(figure, axes, colours, points.draw(axes, x, y, colours))
    return figure


def test_a_published_figure_is_measured_in_the_file(context: ToolContext) -> None:
    (context.workspace / "a.csv").write_text("x,y\n1,2\n3,4\n")
    table = read_table(context, "a.csv")
    figure = figure_with(np.array([1.0, 3.0]), np.array([2.0, 4.0]), None)
    drawn = figures.publish_figure(context, TOOL, table, {}, figure, "t")
    assert (drawn.width_px, drawn.height_px) == (1200, 900)
    assert imread(context.workspace / drawn.artifact.path).shape[:2] == (900, 1200)
    assert drawn.artifact.kind == "plot"


def test_a_figure_without_data_is_refused_and_not_published(context: ToolContext) -> None:
    (context.workspace / "a.csv").write_text("x,y\n1,2\n")
    figure = figures.new_figure("only a title")
    figures.style_axes(figure.add_subplot())
    with pytest.raises(DataError, match="shows no data"):
        figures.publish_figure(context, TOOL, read_table(context, "a.csv"), {}, figure, "t")
    assert list((context.workspace / "results").glob("*.png")) == []


def test_what_is_no_figure_is_refused(tmp_path: Path) -> None:
    broken, white = tmp_path / "broken.png", tmp_path / "white.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    imsave(white, np.ones((20, 20, 3)))
    with pytest.raises(DataError, match="cannot be opened"):
        figures.check(broken)
    with pytest.raises(DataError, match="shows no data"):
        figures.check(white)


@pytest.mark.parametrize("text", ["a$x^2$", "$", r"\frac{1}{2}$y$", "$$", "x_1^2"])
def test_dollar_signs_of_data_start_no_formula(text: str) -> None:
    figure = figures.new_figure(text)
    shown = figures.plain(text)
    assert not is_math_text(shown)
    figure.canvas.draw()


def test_long_names_are_wrapped_and_cut() -> None:
    shown = figures.plain("word " * 60, 20, 2).split("\n")
    assert len(shown) == 2
    assert all(len(line) <= 20 for line in shown)
    assert shown[1].endswith("…")
    assert figures.plain("x" * 50, 10, 1) == "x" * 8 + " …"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.05, "0.05"), (1200, "1200"), (7000500, "7000500"), (2e7, "2e7"), (-108.5, "-108.5"), (3e-7, "3e-7")],
)
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert figures.short_number(value) == text
    assert figures.number_text(value) == text.replace("-", "−")


def test_a_unit_is_added_once() -> None:
    assert figures.axis_label("Cu", "ppm") == "Cu (ppm)"
    assert figures.axis_label("Cu (ppm)", "ppm") == "Cu (ppm)"
    assert figures.axis_label("Cu") == "Cu"


@pytest.mark.parametrize(("low", "high", "expected"), [(10, 7000, {100, 1000}), (20, 150, {50, 100}), (3, 4, {3.5})])
def test_log_axes_have_labelled_ticks_whatever_they_span(low: float, high: float, expected: set[float]) -> None:
    axes = figures.new_figure("t").add_subplot()
    axes.plot([low, high], [low, high])
    figures.set_log(axes.xaxis, low, high)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    assert expected <= {round(float(tick), 6) for tick in ticks}
    assert len(ticks) >= 2


def test_signs_that_the_font_lacks_are_said(context: ToolContext) -> None:
    (context.workspace / "a.csv").write_text("x,y\n1,2\n3,4\n")
    figure = figure_with(np.array([1.0]), np.array([2.0]), None)
    figure.axes[0].set_xlabel("品位")
    with pytest.warns(UserWarning, match="missing from font"):
        drawn = figures.publish_figure(context, TOOL, read_table(context, "a.csv"), {}, figure, "t")
    assert len(drawn.notes) == 1
    assert "lacks 2 characters" in drawn.notes[0]


def test_text_labels_and_few_whole_numbers_are_groups_other_numbers_a_scale() -> None:
    table = table_of(
        rock=["a", "b", "b"] * 10, kind=[1, 2, 3] * 10, count=list(range(30)), cluster=list(range(30)), v=[0.5] * 30
    )
    rock, kind = colouring(table, "rock"), colouring(table, "kind")
    assert isinstance(rock, Groups)
    assert rock.counts() == {"b": 20, "a": 10}
    assert isinstance(kind, Groups)
    assert kind.names == ["1", "2", "3"]
    assert kind.colours == list(figures.OKABE_ITO[:3])
    assert isinstance(colouring(table, "count"), Scale)
    assert isinstance(colouring(table, "cluster"), Groups)
    assert isinstance(colouring(table, "v"), Scale)


def test_more_groups_than_colours_are_warned_of_and_the_smallest_share_one() -> None:
    few = grouping(table_of(g=[f"g{number % 9}" for number in range(90)]), "g")
    assert len(set(few.colours)) == 9
    assert few.notes == ("g has 9 groups, more than colours can tell apart",)
    names = [f"g{number}" for number in range(30) for _ in range(30 - number)]
    many = grouping(table_of(g=[*names, None]), "g")
    assert many.names[-1] == "11 other groups"
    assert many.colours[-1] == figures.OTHER_COLOUR
    assert sum(many.counts().values()) == len(names)
    assert many.without() == 1


def test_extremes_do_not_stretch_a_colour_scale_and_it_is_said() -> None:
    values = [*np.linspace(1, 10, 99).tolist(), 1e6]
    scale = colouring(table_of(v=values), "v")
    assert isinstance(scale, Scale)
    assert (scale.low, scale.high) == pytest.approx(tuple(np.percentile(values, [2, 98])))
    assert "2nd to the 98th percentile" in scale.notes[0]
    plain = colouring(table_of(v=np.linspace(0, 1, 50).tolist()), "v")
    assert isinstance(plain, Scale)
    assert (plain.low, plain.high, plain.notes) == (0, 1, ())


def test_millions_of_points_become_cells_that_hold_every_one() -> None:
    x, y = np.exp(np.random.default_rng(0).normal(size=(2, points.CELLS_FROM + 1)))
    figure = figure_with(x, y, None, "log")
    mesh = figure.axes[0].collections[0]
    counted = mesh.get_array()
    assert counted is not None
    assert counted.sum() == len(x)
    assert not figure.axes[0].get_lines()


def test_cells_show_the_mean_of_a_scale() -> None:
    count = points.CELLS_FROM + 2
    x = np.r_[np.zeros(count // 2), np.ones(count - count // 2)]
    values = np.r_[np.tile([1.0, 3.0], count // 4 + 1)[: count // 2], np.full(count - count // 2, 9.0)]
    mesh = figure_with(x, x, Scale("v", None, values, 0, 10)).axes[0].collections[0]
    shown = mesh.get_array()
    assert shown is not None
    assert sorted(shown.compressed().tolist()) == pytest.approx([2.0, 9.0], abs=1e-4)


def test_large_groups_are_drawn_mixed_and_each_point_once() -> None:
    count = points.SMALL_MARKS_FROM + 1
    groups = Groups("g", ["a", "b"], np.arange(count) % 2, ["#0072B2", "#E69F00"])
    axes = figure_with(np.arange(count), np.arange(count), groups).axes[0]
    assert [len(artist.get_offsets()) for artist in axes.collections] == [count]
    colours = axes.collections[0].get_facecolor()
    assert len(np.unique(colours[:1000, :3], axis=0)) == 2
