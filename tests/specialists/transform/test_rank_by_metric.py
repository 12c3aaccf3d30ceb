"""rank_by_metric: the rows with the greatest or least values."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def test_the_best_rows_come_first_and_what_ties_with_the_last_is_said(made: Made, ranked: str) -> None:
    frame, found = made("rank_by_metric", path=ranked, column="v", n=1)
    assert frame.rows() == [(1, "a", "X", 5.0, 1.0)]
    assert found.results["ties_left_out"] == 1
    both, _ = made("rank_by_metric", path=ranked, column="v", n=1, ties="keep")
    assert both.select("rank", "id").rows() == [(1, "a"), (1, "e")]
    three, found = made("rank_by_metric", path=ranked, column="v", n=3, order="bottom")
    assert three["id"].to_list() == ["b", "f", "d"]
    assert (found.results["first"], found.results["last"], found.results["without_value"]) == (1.0, 3.0, 1)


def test_rows_are_ranked_by_an_expression_and_within_groups(made: Made, ranked: str) -> None:
    frame, found = made("rank_by_metric", path=ranked, expression="v * length", n=2)
    assert frame.select("rank", "metric", "id").rows() == [(1, 10.0, "b"), (2, 6.0, "d")]
    assert found.results["metric"] == "v * length"
    each, found = made("rank_by_metric", path=ranked, column="v", n=1, within="hole", ties="keep")
    assert each["id"].to_list() == ["a", "e", "f"]
    assert found.results["groups"] == 3


def test_ranking_needs_one_metric_with_values(made: Made, ranked: str) -> None:
    for arguments, field in (
        ({}, "column"),
        ({"column": "v", "expression": "v"}, "column"),
        ({"expression": "hole"}, "expression"),
        ({"expression": "log(0 - length)"}, "expression"),
        ({"column": "hole"}, "column"),
    ):
        with pytest.raises(ArgumentError) as caught:
            made("rank_by_metric", path=ranked, **arguments)
        assert caught.value.field == field
