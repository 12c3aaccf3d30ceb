"""threshold: rows above, below, between or outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


VALUES = [5.0, 1.0, None, 3.0, 5.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"value": 3}, "ae"),
        ({"value": 3, "inclusive": True}, "ade"),
        ({"value": 3, "mode": "below"}, "bf"),
        ({"mode": "between", "low": 1, "high": 5}, "df"),
        ({"mode": "between", "low": 1, "high": 5, "inclusive": True}, "abdef"),
        ({"mode": "outside", "low": 2, "high": 3}, "abe"),
    ],
)
def test_rows_beyond_a_threshold_pass(made: Made, ranked: str, arguments: dict[str, Any], expected: str) -> None:
    frame, found = made("threshold", path=ranked, column="v", **arguments)
    assert "".join(frame["id"]) == expected
    assert (found.results["pass"], found.results["missing"]) == (len(expected), 1)
    assert found.results["pass"] + found.results["fail"] + found.results["missing"] == 6


def test_a_threshold_may_be_a_percentile_and_rows_may_be_flagged(made: Made, ranked: str) -> None:
    frame, found = made(
        "threshold", path=ranked, column="v", value=75, unit="percentile", output="flag", inclusive=True
    )
    limit = np.percentile([v for v in VALUES if v is not None], 75)
    assert found.results["threshold"] == limit
    assert frame["v_above"].to_list() == [None if v is None else v >= limit for v in VALUES]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "value"),
        ({"value": 1, "low": 2}, "low"),
        ({"mode": "between", "low": 1}, "high"),
        ({"mode": "between", "low": 2, "high": 1}, "low"),
        ({"value": 101, "unit": "percentile"}, "value"),
    ],
)
def test_wrong_thresholds_are_refused(made: Made, ranked: str, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        made("threshold", path=ranked, column="v", **arguments)
    assert caught.value.field == field
