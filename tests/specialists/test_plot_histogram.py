"""Histograms count every value they can draw, in bins by a stated rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_wine

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.plots import plot_histogram
from outcrop_specialists.tools.plots.plot_histogram import bin_edges

WriteRows = Callable[..., str]


def run(context: ToolContext, path: str, column: str, **arguments: object) -> ToolResult:
    result = plot_histogram.run(context, plot_histogram.Arguments(path=path, column=column, **arguments))
    wire.dumps(result.as_json())
    return result


def test_the_wines_alcohol_has_numpy_s_freedman_diaconis_bins(context: ToolContext, write_rows: WriteRows) -> None:
    wines = load_wine()
    alcohol = wines.data[:, 0]
    result = run(context, write_rows("wines.csv", wines.feature_names, wines.data.tolist()), "alcohol")
    counts, edges = np.histogram(alcohol, bins="fd")
    assert result.results["bins"] == len(counts)
    assert result.results["y_range"] == [0, counts.max()]
    fullest = counts.argmax()
    assert result.results["fullest_bin"] == pytest.approx([edges[fullest], edges[fullest + 1]], rel=1e-12)
    assert result.results["median"] == np.median(alcohol)
    assert result.results["points_drawn"] == 178
    assert "Freedman-Diaconis" in result.results["rule"]
    pixels = imread(context.workspace / result.artifacts[0].path)
    assert pixels.shape[:2] == (900, 1200)
    assert pixels[..., :3].std() > 0.01


def test_a_log_axis_leaves_out_what_is_not_positive_and_counts_it(context: ToolContext, write_rows: WriteRows) -> None:
    values = [None, 0, -2.5, *np.exp(np.random.default_rng(0).normal(size=40)).tolist()]
    path = write_rows("a.csv", ["id", "v"], [[f"s{row}", value] for row, value in enumerate(values)])
    result = run(context, path, "v", log=True)
    assert result.results["points_drawn"] == 40
    assert result.results["left_out_reasons"] == {"missing": 1, "not_positive": 2}
    assert "log10" in result.results["rule"]
    assert run(context, path, "v").results["points_drawn"] == 42


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        np.exp(np.random.default_rng(1).normal(size=500)),
        np.array([0.1, 0.3, 7.77]),
        np.array([4.2]),
        np.array([1.0] * 90 + [2.5] * 10),
        np.r_[np.random.default_rng(2).normal(50, 1, 1000), 1e9],
        np.arange(1.0, 8.0),
    ],
)
def test_every_value_falls_into_a_bin(values: np.ndarray, log: bool) -> None:
    edges, rule = bin_edges(values, None, log=log)
    assert np.histogram(values, edges)[0].sum() == len(values)
    assert (np.diff(edges) > 0).all()
    assert len(edges) - 1 <= 100
    assert rule


def test_bins_are_those_asked_for_and_whole_numbers_have_one_each() -> None:
    assert len(bin_edges(np.array([1.5, 2.5, 9.0]), 17, log=False)[0]) == 18
    edges, rule = bin_edges(np.array([1.0, 3.0, 3.0]), None, log=False)
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert "whole number" in rule


def test_text_and_columns_that_cannot_be_drawn_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["t", "v"], [["a", -1], ["b", 0]])
    for arguments, text in (({"column": "t"}, "not numbers"), ({"column": "v", "log": True}, "2 not positive")):
        with pytest.raises(ArgumentError, match=text) as refused:
            run(context, path, **arguments)
        assert refused.value.field == "column"
