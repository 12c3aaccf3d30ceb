"""Box, probability, heat map, downhole, ternary and control plots: what is drawn is counted and was computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.stats import spearmanr

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

WriteRows = Callable[..., str]
RANDOM = np.random.default_rng(3)


@pytest.fixture
def draw(context: ToolContext) -> Callable[..., ToolResult]:
    """Run a plotting tool; its file is opened again and its result is small."""

    def call(tool: str, path: str, **arguments: Any) -> ToolResult:
        result = run_tool(get_tool(tool), context, {"path": path, **arguments})
        pixels = imread(context.workspace / result.artifacts[0].path)
        assert pixels.shape[:2] == (result.results["height_px"], result.results["width_px"])
        assert result.artifacts[0].kind == "plot"
        assert result.results["alt"]
        assert len(wire.dumps(result.results)) < 1_200
        return result

    return call


def table(write_rows: WriteRows, rows: int = 60) -> str:
    values = np.exp(RANDOM.normal(size=(rows, 3)))
    kinds = ["ore", "waste", "dyke"]
    lines = [["" if i == 5 else kinds[i % 3], *map(float, row)] for i, row in enumerate(values)]
    lines[0][1], lines[1][1] = None, 0.0
    return write_rows("t.csv", ["rock", "Cu", "Ni", "Au"], lines)


def test_a_box_for_each_group_and_every_row_accounted_for(draw: Any, write_rows: WriteRows) -> None:
    path = table(write_rows)
    found = draw("plot_box", path, column="Cu", by="rock", log=True).results
    assert found["left_out_reasons"] == {"missing": 1, "not_positive": 1, "without a group": 1}
    assert found["points_drawn"] == 57
    assert set(found["medians"]) == {"ore", "waste", "dyke"}
    assert draw("plot_box", path, column="Ni").results["points_drawn"] == 60


def test_the_medians_of_boxes_are_numpys(draw: Any, write_rows: WriteRows) -> None:
    rows = [["a" if i % 2 else "b", float(i) ** 1.5] for i in range(31)]
    found = draw("plot_box", write_rows("m.csv", ["g", "v"], rows), column="v", by="g").results
    for group in "ab":
        assert found["medians"][group] == np.median([value for name, value in rows if name == group])


def test_a_probability_plot_keeps_censored_values_and_counts_them(draw: Any, write_file: Any) -> None:
    lines = ["<0.1"] * 12 + [f"{0.1 * 1.3**i:.5f}" for i in range(40)]
    found = draw("plot_probability", write_file("c.csv", "Au\n" + "\n".join(lines) + "\n"), column="Au")
    assert found.results["points_drawn"] == 52
    assert found.results["below_limit"] == 12
    assert "12 of them below a limit (hollow)" in found.summary


def test_a_heat_map_shows_the_strongest_pairs_first_and_leaves_out_what_does_not_vary(
    draw: Any, write_rows: WriteRows
) -> None:
    a = RANDOM.normal(size=50)
    rows = [[float(x), float(-x + 0.1 * RANDOM.normal()), float(RANDOM.normal()), 7.0] for x in a]
    found = draw("plot_heatmap", write_rows("h.csv", ["p", "q", "r", "same"], rows))
    name, value = next(iter(found.results["strongest"].items()))
    assert set(name.split(" / ")) == {"p", "q"}
    columns = np.array(rows)
    assert value == pytest.approx(spearmanr(columns[:, 0], columns[:, 1]).statistic, rel=1e-12)
    assert any("same" in note for note in found.notes)
    with pytest.raises(ArgumentError, match="fewer than 2 of these columns vary"):
        draw("plot_heatmap", "h.csv", columns=["p", "same"])


def test_a_downhole_plot_draws_one_hole_with_intervals_or_samples(draw: Any, write_rows: WriteRows) -> None:
    rows = [["a", 2.0 * i, 2.0 * i + 2, float(i % 7) + 1, None if i == 3 else 0.1 * i] for i in range(30)]
    rows += [["b", 0.0, 1.0, 2.0, 3.0]]
    path = write_rows("d.csv", ["hole", "from", "to", "Cu", "Au"], rows)
    found = draw("plot_downhole", path, depth="from", to="to", columns=["Cu", "Au"], hole_column="hole", hole="a",
                 log=["Au"], tops={"base": 22.5}).results  # fmt: skip
    assert found["points_drawn"] == 30 + 28
    assert found["left_out"] == {"Au": 2}
    assert found["depth_range"] == [0.0, 60.0]
    assert found["hole"] == "a"
    with pytest.raises(ArgumentError, match="2 holes") as caught:
        draw("plot_downhole", path, depth="from", columns=["Cu"], hole_column="hole")
    assert caught.value.field == "hole"
    with pytest.raises(ArgumentError, match="no 'c'; it has a, b"):
        draw("plot_downhole", path, depth="from", columns=["Cu"], hole_column="hole", hole="c")


def test_a_long_log_is_a_curve_with_gaps(draw: Any, write_rows: WriteRows) -> None:
    rows = [[100 + 0.1 * i, None if 200 <= i < 260 else float(np.sin(i / 9))] for i in range(1_000)]
    found = draw("plot_downhole", write_rows("l.csv", ["DEPT", "GR"], rows), depth="DEPT", columns=["GR"])
    assert found.results["points_drawn"] == 940
    assert found.results["left_out"] == {"GR": 60}


def test_a_ternary_diagram_closes_the_parts_and_says_so(draw: Any, write_rows: WriteRows) -> None:
    rows = [[*map(float, RANDOM.uniform(1, 9, 3)), "ab"[i % 2]] for i in range(40)]
    rows += [[None, 1.0, 1.0, "a"], [-1.0, 2.0, 2.0, "a"], [0.0, 0.0, 0.0, "b"]]
    found = draw("plot_ternary", write_rows("t3.csv", ["A", "B", "C", "g"], rows), columns=["A", "B", "C"], color="g")
    assert found.results["points_drawn"] == 40
    assert found.results["left_out_reasons"] == {"missing": 1, "negative or all zero": 2}
    parts = np.array([row[:3] for row in rows[:40]], dtype=float)
    parts /= parts.sum(axis=1, keepdims=True)
    assert list(found.results["median_parts"].values()) == pytest.approx(np.median(parts, axis=0), rel=1e-12)
    assert "closed to 100 %" in found.summary


def test_a_control_chart_counts_what_lies_beyond_its_limits(draw: Any, write_rows: WriteRows) -> None:
    values = [10.0, 10.1, 9.9, 10.45, 9.3, 10.0, None, 12.0]
    path = write_rows(
        "s.csv", ["std", "Au", "day"], [["S1", v, 9 - i] for i, v in enumerate(values)] + [["S2", 1.0, 1]]
    )
    found = draw(
        "plot_control_chart", path, column="Au", by="std", group="S1", expected=10.0, sd=0.2, order="day"
    ).results
    assert found["beyond"] == {"2sd": 3, "3sd": 2}
    assert found["missing"] == 1
    assert found["bias"] == pytest.approx(np.mean([v for v in values if v is not None]) - 10.0)
    with pytest.raises(ArgumentError, match="name the standard to draw; 'std' has S1, S2"):
        draw("plot_control_chart", path, column="Au", by="std")
    with pytest.raises(ArgumentError, match="at least 2 are needed"):
        draw("plot_control_chart", path, column="Au", by="std", group="S2")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("plot_box", {"column": "Cu", "by": "rock"}),
        ("plot_probability", {"column": "Cu"}),
        ("plot_heatmap", {}),
        ("plot_ternary", {"columns": ["Cu", "Ni", "Au"]}),
        ("plot_control_chart", {"column": "Ni"}),
        ("plot_downhole", {"depth": "Ni", "columns": ["Cu"]}),
    ],
)
def test_the_same_plot_is_the_same_file(draw: Any, write_rows: WriteRows, tool: str, arguments: dict[str, Any]) -> None:
    path = table(write_rows)
    first = draw(tool, path, **arguments)
    assert draw(tool, path, **arguments).artifacts == first.artifacts


def test_many_groups_and_long_names_still_fit(draw: Any, write_rows: WriteRows) -> None:
    rows = [[f"a rather long name of a formation number {i % 200}", float(i)] for i in range(2_000)]
    draw("plot_box", write_rows("g.csv", ["formation", "v"], rows), column="v", by="formation")
