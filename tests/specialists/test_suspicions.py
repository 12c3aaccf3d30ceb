"""A tool that used a suspected fill value or total says so in its own sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection import query_data
from outcrop_specialists.tools.multivariate import cluster, compute_anomaly, reduce_dimensions
from outcrop_specialists.tools.plots import plot_histogram
from outcrop_specialists.tools.statistics import correlate, summarize

HEADER = ["site", "Cu", "Zn", "As"]
ROWS: list[list[Any]] = [[f"s{i}", i * 1.5, i % 7 + 0.5, i % 5 + 1.0] for i in range(1, 31)]


def with_fills(rows: list[list[Any]]) -> list[list[Any]]:
    return [[site, -999 if site in ("s3", "s9", "s20") else cu, zn, arsenic] for site, cu, zn, arsenic in rows]


def sentence(context: ToolContext, tool: Any, path: str, columns: list[str]) -> str:
    more = {"operation": "describe"} if tool is query_data else {}
    summary: str = tool.run(context, tool.Arguments.model_validate({"path": path, "columns": columns, **more})).summary
    return summary


@pytest.mark.parametrize("tool", [summarize, correlate, cluster, compute_anomaly, reduce_dimensions, query_data])
def test_fill_values_and_totals_that_were_used_are_in_the_sentence(
    context: ToolContext, write_rows: Callable[..., str], tool: Any
) -> None:
    path = write_rows("t.csv", HEADER, [*with_fills(ROWS), ["Total", 600, 100, 90]])
    told = sentence(context, tool, path, ["Cu", "Zn"])
    assert "includes 3 suspected fill values -999 in Cu" in told
    assert "a last row that looks like a total ('Total')" in told
    assert "fill" not in sentence(context, tool, path, ["Zn", "As"])


@pytest.mark.parametrize("tool", [summarize, correlate, cluster, compute_anomaly, reduce_dimensions, query_data])
def test_nothing_is_said_of_clean_columns(context: ToolContext, write_rows: Callable[..., str], tool: Any) -> None:
    assert "CAUTION" not in sentence(context, tool, write_rows("t.csv", HEADER, ROWS), ["Cu", "Zn"])


def test_a_histogram_says_so_too(context: ToolContext, write_rows: Callable[..., str]) -> None:
    path = write_rows("t.csv", HEADER, with_fills(ROWS))
    told = plot_histogram.run(context, plot_histogram.Arguments.model_validate({"path": path, "column": "Cu"})).summary
    assert "includes 3 suspected fill values -999 in Cu" in told
