"""Scatter plots draw what can be drawn and say what cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.image import imread

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.plots import plot_scatter

WriteRows = Callable[..., str]


def run(context: ToolContext, path: str, x: str, y: str, **arguments: object) -> ToolResult:
    result = plot_scatter.run(context, plot_scatter.Arguments(path=path, x=x, y=y, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def path(write_rows: WriteRows) -> str:
    rng = np.random.default_rng(9)
    rows = [[x, y, rock] for x, y, rock in zip(*np.exp(rng.normal(size=(2, 30))).tolist(), "abc" * 10, strict=True)]
    rows += [[0, 1, "a"], [-1, 2, "b"], [None, 3, "c"], [4, None, None], [5, 6, None]]
    return write_rows("a.csv", ["Au", "As", "rock"], rows)


def test_the_file_is_a_picture_of_the_size_said(context: ToolContext, path: str) -> None:
    result = run(context, path, "Au", "As")
    pixels = imread(context.workspace / result.artifacts[0].path)
    assert pixels.shape[:2] == (result.results["height_px"], result.results["width_px"]) == (900, 1200)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 20
    assert result.artifacts[0].path.startswith("results/a_plot_scatter_")


def test_points_drawn_and_left_out_are_counted_by_reason(context: ToolContext, path: str) -> None:
    linear = run(context, path, "Au", "As").results
    assert (linear["points_drawn"], linear["points_left_out"]) == (33, 2)
    assert linear["x_range"][0] == -1
    log = run(context, path, "Au", "As", log_x=True, log_y=True)
    assert (log.results["points_drawn"], log.results["points_left_out"]) == (31, 4)
    assert log.results["left_out_reasons"] == {"missing": 2, "not_positive": 2}
    assert "4 rows are not drawn: 2 without a value, 2 not positive on a log axis" in log.notes
    assert "31 points drawn; 4 left out" in log.results["alt"]


def test_only_the_log_axis_refuses_what_is_not_positive(context: ToolContext, path: str) -> None:
    assert run(context, path, "Au", "As", log_y=True).results["points_drawn"] == 33


def test_groups_are_counted_over_the_points_drawn(context: ToolContext, path: str) -> None:
    result = run(context, path, "Au", "As", color="rock").results
    assert result["groups"] == {"a": 11, "b": 11, "c": 10}
    assert result["without_group"] == 1
    assert "Coloured by rock: a (11), b (11), c (10)." in result["alt"]


def test_a_number_colours_by_a_scale(context: ToolContext, path: str) -> None:
    result = run(context, path, "Au", "As", color="Au").results
    assert "color_range" in result
    assert "groups" not in result


def test_what_cannot_be_drawn_is_refused_by_field(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["x", "y", "t", "e"], [[-1, 1, "a", 1], [-2, 2, "b", None], [None, 3, "c", None]])
    cases = [
        ({"x": "x", "y": "y", "log_x": True}, "x", "2 not positive on a log axis"),
        ({"x": "t", "y": "y"}, "x", "not numbers"),
        ({"x": "x", "y": "nowhere"}, "y", "nowhere"),
        ({"x": "x", "y": "y", "color": "nothing"}, "color", "nothing"),
    ]
    for arguments, field, text in cases:
        with pytest.raises(ArgumentError, match=text) as refused:
            run(context, path, **arguments)
        assert refused.value.field == field


def test_a_colour_without_any_value_is_refused(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["x", "y", "c"], [[1, 1, None], [2, 2, None], [None, 3, "here"]])
    with pytest.raises(ArgumentError, match="no value in any row"):
        run(context, path, "x", "y", color="c")


def test_a_name_with_dollar_signs_and_backslashes_is_drawn_as_text(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", [r"a$\frac{1$", "b$_$", "g"], [[1, 2, "$x$"], [3, 4, "$"]])
    assert run(context, path, r"a$\frac{1$", "b$_$", color="g").results["points_drawn"] == 2
