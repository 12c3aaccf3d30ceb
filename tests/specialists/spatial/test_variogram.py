"""Variograms equal those by definition, and a model that made the data is found again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.spatial import variograms

Call = Callable[..., ToolResult]


@pytest.mark.parametrize("estimator", ["matheron", "cressie_hawkins"])
def test_lags_equal_the_definition(
    call_tool: Call, write_rows: Callable[..., str], context: ToolContext, estimator: str
) -> None:
    rng = np.random.default_rng(5)
    points, values = rng.uniform(0, 10, (30, 2)), rng.normal(size=30)
    path = write_rows("p.csv", ["x", "y", "v"], np.column_stack([points, values]).tolist())
    found = call_tool("variogram", path=path, column="v", lags=5, max_distance=5, estimator=estimator, model="none")
    table = pl.read_csv(context.workspace / found.artifacts[0].path)
    for row in table.rows(named=True):
        pairs = [
            abs(values[i] - values[j])
            for i, j in combinations(range(30), 2)
            if row["lower"] < np.linalg.norm(points[i] - points[j]) <= row["upper"]
        ]
        expected = np.mean(np.square(pairs)) / 2
        if estimator == "cressie_hawkins":
            expected = np.mean(np.sqrt(pairs)) ** 4 / (0.457 + 0.494 / len(pairs)) / 2
        assert row["pairs"] == len(pairs)
        assert row["semivariance"] == pytest.approx(expected)


@pytest.mark.parametrize("model", ["spherical", "exponential"])
def test_a_model_is_found_again_from_its_own_lags(model: variograms.Model) -> None:
    distance = np.linspace(5, 145, 15)
    gamma = variograms.model_at(model, distance, 2.0, 8.0, 90.0)
    lags = variograms.Lags(distance - 5, distance + 5, distance, np.full(15, 100), gamma)
    found = variograms.fit(model, lags)
    assert found is not None
    assert (found.nugget, found.partial_sill, found.range) == pytest.approx((2.0, 8.0, 90.0), rel=1e-3)


def test_too_many_places_are_drawn_with_a_seed_and_that_is_said(
    call_tool: Call, write_rows: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(6)
    path = write_rows("p.csv", ["x", "y", "v"], rng.uniform(1, 10, (200, 3)).tolist())
    monkeypatch.setattr(variograms, "MOST_PLACES", 50)
    found = call_tool("variogram", path=path, column="v")
    assert (found.results["places"], found.results["places_used"]) == (200, 50)
    assert "50 of 200 places drawn with seed 42" in found.notes
    assert found == call_tool("variogram", path=path, column="v")


def test_what_has_no_variogram_is_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    few = write_rows("f.csv", ["x", "y", "v"], [[0, 0, 1], [1, 1, 2]])
    with pytest.raises(ArgumentError, match="ten at least"):
        call_tool("variogram", path=few, column="v")
    flat = write_rows("c.csv", ["x", "y", "v"], [[place, 0, 1] for place in range(20)])
    with pytest.raises(ArgumentError, match="same value"):
        call_tool("variogram", path=flat, column="v")
    signs = write_rows("s.csv", ["x", "y", "v"], [[place, 0, place - 5] for place in range(20)])
    found = call_tool("variogram", path=signs, column="v", transform="log10")
    assert found.results["places"] == 14
    assert any("6 rows whose v is not positive" in note for note in found.notes)
