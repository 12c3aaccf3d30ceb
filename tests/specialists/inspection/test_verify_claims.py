"""A claimed figure is computed again from its table, and the claimant's word counts for nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas.claims import Claim
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

TEXT = "hole,rock,Cu,len,Au\na,ore,1.5,2,<0.02\na,ore,2.5,1,0.5\nb,waste,,3,0.7\nb,waste,0.5,4,0.1\n"
HALVES = [0.01, 0.5, 0.7, 0.1]


@pytest.fixture
def verify(context: ToolContext, write_file: Callable[[str, str], str]) -> Callable[..., ToolResult]:
    write_file("t.csv", TEXT)

    def call(*claims: dict[str, Any]) -> ToolResult:
        tool = get_tool("verify_claims")
        return tool.run(context, tool.arguments.model_validate({"claims": [{"path": "t.csv", **c} for c in claims]}))

    return call


@pytest.mark.parametrize(
    "claim",
    [
        {"statistic": "rows", "value": 4},
        {"statistic": "rows", "group": {"hole": "a"}, "value": 2},
        {"statistic": "count", "column": "Cu", "value": 3},
        {"statistic": "missing", "column": "Cu", "value": 1},
        {"statistic": "below_limit", "column": "Au", "value": 1},
        {"statistic": "distinct", "column": "rock", "value": 2},
        {"statistic": "mean", "column": "Cu", "value": 1.5},
        {"statistic": "mean", "column": "cu", "group": {"hole": "a"}, "value": 2.0},
        {"statistic": "median", "column": "Au", "value": statistics.median(HALVES)},
        {"statistic": "sd", "column": "Cu", "value": 1.0},
        {"statistic": "percentile", "column": "Cu", "percent": 25, "value": 1.0},
        {"statistic": "sum", "column": "len", "value": 10},
        {"statistic": "weighted_mean", "column": "Cu", "with_column": "len", "value": (3 + 2.5 + 2) / 7},
        {"statistic": "weighted_mean", "column": "Cu", "with_column": "len", "value": 1.071},
        {"statistic": "pearson", "column": "Cu", "with_column": "len", "value": -0.9819805060619659},
        {"statistic": "spearman", "column": "Cu", "with_column": "len", "value": -1},
        {"statistic": "share", "where": "Cu > 1", "value": 0.5},
        {"statistic": "share", "column": "Cu", "where": "Cu > 1", "value": 2 / 3},
        {"statistic": "value", "column": "Cu", "where": "hole == 'b' and Cu < 1", "value": 0.5},
        {"statistic": "value", "column": "rock", "where": "Cu == 2.5", "value": "ore"},
    ],
)
def test_a_true_figure_is_verified(verify: Callable[..., ToolResult], claim: dict[str, Any]) -> None:
    found = verify(claim)
    assert found.results["claims"][0]["verdict"] == "verified", found.results
    assert found.summary == "1 of 1 figures verified"


@pytest.mark.parametrize(
    ("claim", "actual"),
    [
        ({"statistic": "rows", "value": 5}, 4),
        ({"statistic": "mean", "column": "Cu", "value": 1.6}, 1.5),
        ({"statistic": "mean", "column": "Cu", "value": 2}, 1.5),
        ({"statistic": "value", "column": "rock", "where": "Cu == 2.5", "value": "waste"}, "ore"),
        ({"statistic": "mean", "column": "Cu", "value": "high"}, 1.5),
    ],
)
def test_a_false_figure_is_refuted_with_the_true_one(
    verify: Callable[..., ToolResult], claim: dict[str, Any], actual: object
) -> None:
    found = verify(claim)
    assert found.results["claims"][0]["verdict"] == "refuted"
    assert found.results["claims"][0]["actual"] == actual
    assert "1 refuted" in found.summary


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"statistic": "mean", "column": "Cuu", "value": 1}, "closest: 'Cu'"),
        ({"statistic": "mean", "value": 1}, "needs a column"),
        ({"statistic": "mean", "column": "rock", "value": 1}, "not numbers"),
        ({"statistic": "mean", "column": "Cu", "group": {"hole": "z"}, "value": 1}, "no value"),
        ({"statistic": "value", "column": "Cu", "value": 1}, "selection of one row"),
        ({"statistic": "mean", "column": "Cu", "where": "Cu >", "value": 1}, "where|expression|position"),
        ({"path": "no.csv", "statistic": "rows", "value": 1}, "does not exist"),
    ],
)
def test_what_cannot_be_computed_is_unverifiable_with_its_reason(
    verify: Callable[..., ToolResult], claim: dict[str, Any], reason: str
) -> None:
    import re

    (found,) = verify(claim).results["claims"]
    assert found["verdict"] == "unverifiable"
    assert re.search(reason, found["reason"])


def test_a_claim_is_strict_about_its_form() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        Claim.model_validate({"path": "t", "statistic": "rows", "value": 1, "tolerance": 0.5})
