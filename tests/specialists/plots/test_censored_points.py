"""Results below a limit are counted in every caption, look unlike measured ones, and make no median."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.axes
import numpy as np
import pytest

from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.plots import censored
from outcrop_specialists.tools.registry import get_tool

WriteFile = Callable[[str, str], str]
BELOW, ROWS = 26, 40


@pytest.fixture
def assays(write_file: WriteFile) -> str:
    """Gold with 26 of 40 results below 1; copper, lead and depth all measured."""
    lines = [
        f"S{i},{500000 + 7 * i},{7000000 + 11 * (i % 9)},{'ab'[i % 2]},{i}," + ("<1" if i % 3 else f"{1.5 + i / 4}")
        + f",{20 + i},{50 - i}"
        for i in range(ROWS)
    ]  # fmt: skip
    return write_file("a.csv", "\n".join(["Sample,Easting,Northing,Rock,Depth,Au,Cu,Pb", *lines]) + "\n")


@pytest.fixture
def scattered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool, str]]:
    """Every scatter that is drawn: how many points, whether they are rings, and their mark."""
    from mpltern.ternary import TernaryAxes

    drawn: list[tuple[int, bool, str]] = []

    def watched(original: Any) -> Any:
        def scatter(self: Any, *places: Any, **look: Any) -> Any:
            is_ring = isinstance(look.get("facecolors"), str) and look["facecolors"] in ("none", "white")
            if len(np.atleast_1d(places[0])):
                drawn.append((len(places[0]), is_ring, str(look.get("marker", "o"))))
            return original(self, *places, **look)

        return scatter

    for kind in (matplotlib.axes.Axes, TernaryAxes):
        monkeypatch.setattr(kind, "scatter", watched(kind.scatter))
    return drawn


def draw(context: ToolContext, tool: str, path: str, **arguments: Any) -> ToolResult:
    return run_tool(get_tool(tool), context, {"path": path, **arguments})


PLOTS: list[tuple[str, dict[str, Any]]] = [
    ("plot_scatter", {"x": "Cu", "y": "Au"}),
    ("plot_scatter", {"x": "Au", "y": "Cu", "color": "Rock"}),
    ("plot_scatter", {"x": "Cu", "y": "Pb", "color": "Au"}),
    ("plot_map", {"color": "Au"}),
    ("plot_histogram", {"column": "Au"}),
    ("plot_box", {"column": "Au", "by": "Rock"}),
    ("plot_downhole", {"depth": "Depth", "columns": ["Au", "Cu"]}),
    ("plot_ternary", {"columns": ["Au", "Cu", "Pb"]}),
    ("plot_control_chart", {"column": "Au"}),
    ("plot_clusters", {"columns": ["Au", "Cu"], "label": "Rock"}),
    ("plot_probability", {"column": "Au"}),
]


@pytest.mark.parametrize(("tool", "arguments"), PLOTS)
def test_points_below_a_limit_are_counted_in_summary_and_alt(
    context: ToolContext, assays: str, tool: str, arguments: dict[str, Any]
) -> None:
    result = draw(context, tool, assays, **arguments)
    for text in (result.summary, result.results["alt"]):
        assert f"{BELOW} of them" in text
        assert "below a limit" in text


@pytest.mark.parametrize(("tool", "arguments"), [plot for plot in PLOTS if plot[0] in (
    "plot_scatter", "plot_map", "plot_box", "plot_downhole", "plot_ternary", "plot_probability")])  # fmt: skip
def test_points_below_a_limit_are_hollow(
    context: ToolContext, assays: str, scattered: list[tuple[int, bool, str]], tool: str, arguments: dict[str, Any]
) -> None:
    draw(context, tool, assays, **arguments)
    assert sum(count for count, is_ring, _ in scattered if is_ring) == BELOW
    assert any(not is_ring for _, is_ring, _ in scattered)


def test_a_column_without_limits_has_no_hollow_points(
    context: ToolContext, assays: str, scattered: list[tuple[int, bool, str]]
) -> None:
    result = draw(context, "plot_scatter", assays, x="Cu", y="Pb")
    assert "below" not in result.summary
    assert scattered == [(ROWS, False, "o")]


def test_a_median_below_the_limit_is_no_figure(context: ToolContext, assays: str) -> None:
    histogram = draw(context, "plot_histogram", assays, column="Au").results
    assert (histogram["median"], histogram["median_below"]) == (None, 1.0)
    assert "the median below a limit" in histogram["alt"]
    assert draw(context, "plot_box", assays, column="Au", by="Rock").results["medians"] == {"a": None, "b": None}


def test_a_median_above_the_limit_stays(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("b.csv", "Au,Cu\n" + "\n".join(f"{'<1' if i < 4 else i},{i}" for i in range(11)) + "\n")
    assert draw(context, "plot_histogram", path, column="Au").results["median"] == 5.0


def test_the_limit_is_a_line_in_the_histogram(
    context: ToolContext, assays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[float] = []
    original = matplotlib.axes.Axes.axvline
    monkeypatch.setattr(
        matplotlib.axes.Axes, "axvline", lambda self, at, **look: (lines.append(at), original(self, at, **look))[1]
    )
    draw(context, "plot_histogram", assays, column="Au")
    assert lines == [1.0]


def test_groups_in_a_triangle_have_the_marks_of_the_legend(
    context: ToolContext, assays: str, scattered: list[tuple[int, bool, str]]
) -> None:
    draw(context, "plot_ternary", assays, columns=["Cu", "Pb", "Depth"], color="Rock")
    assert {mark for _, _, mark in scattered} == {"o", "s"}


def test_an_outlier_is_drawn_once_where_every_value_is_a_point(
    context: ToolContext, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    original = matplotlib.axes.Axes.boxplot

    def boxplot(self: Any, *places: Any, **look: Any) -> Any:
        made.append(original(self, *places, **look))
        return made[-1]

    monkeypatch.setattr(matplotlib.axes.Axes, "boxplot", boxplot)
    path = write_file("c.csv", "v,g\n" + "\n".join(f"{i % 7},{'f' if i < 12 else 'm'}" for i in range(70)) + "\n99,f\n")
    draw(context, "plot_box", path, column="v", by="g")
    shown = [outliers.get_visible() for outliers in made[0]["fliers"]]
    assert sorted(shown) == [False, True]


def test_names_of_tops_beside_a_single_track_are_whole_and_depth_is_called_depth(
    context: ToolContext, assays: str, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    labels: list[str] = []
    text, label = matplotlib.axes.Axes.text, matplotlib.axes.Axes.set_ylabel
    monkeypatch.setattr(
        matplotlib.axes.Axes, "text", lambda self, x, y, s, **look: (texts.append(s), text(self, x, y, s, **look))[1]
    )
    monkeypatch.setattr(
        matplotlib.axes.Axes, "set_ylabel", lambda self, s, **look: (labels.append(s), label(self, s, **look))[1]
    )
    path = write_file("d.csv", "From (m),To (m),Cu\n" + "\n".join(f"{i},{i + 1},{i}" for i in range(9)) + "\n")
    tops = {"Base of Complete Oxidation": 2.0, "Top of Fresh Rock": 5.0}
    draw(context, "plot_downhole", path, depth="From (m)", to="To (m)", columns=["Cu"], tops=tops)
    assert [each.replace("\n", " ") for each in texts if "of" in each] == list(tops)
    assert labels[0].startswith("Depth")
    assert "m" in labels[0]


def test_limits_are_those_of_the_results_below_them(context: ToolContext, write_file: WriteFile) -> None:
    from outcrop_specialists.reading.tables import read_table

    path = write_file("e.csv", "Au\n" + "\n".join(["<1", "<2", "3", "4", ">10"] * 4) + "\n")
    found = censored.beyond(read_table(context, path), "Au")
    assert (int(found.below.sum()), int(found.above.sum()), found.highest) == (8, 4, 2.0)
    assert found.told() == ["8 of them below a limit, drawn at half of it", "4 above a limit, drawn at it"]
