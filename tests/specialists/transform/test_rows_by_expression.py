"""filter_rows and query_data by an expression."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def test_rows_are_filtered_by_an_expression(made: Made, ranked: str) -> None:
    frame, found = made("filter_rows", path=ranked, expression="v * length >= 5 and hole == 'X'")
    assert frame["id"].to_list() == ["a", "b"]
    assert found.results["condition"] == "v * length >= 5 and hole == 'X'"
    assert any("1 rows for which missing values leave the condition unknown are left out" in n for n in found.notes)
    others, found = made("filter_rows", path=ranked, expression="v > 2", keep="others")
    assert others["id"].to_list() == ["b", "c", "f"]
    assert "1 rows for which missing values leave the condition unknown are kept" in found.notes


def test_a_filter_takes_an_expression_or_a_column_and_needs_one(run: Callable[..., ToolResult], ranked: str) -> None:
    for arguments, field in (
        ({}, "column"),
        ({"column": "v"}, "operator"),
        ({"expression": "v > 1", "column": "v"}, "expression"),
        ({"expression": "v + 1"}, "expression"),
    ):
        with pytest.raises(ArgumentError) as caught:
            run("filter_rows", path=ranked, **arguments)
        assert caught.value.field == field


def test_rows_that_meet_an_expression_are_counted(run: Callable[..., ToolResult], ranked: str) -> None:
    found = run("query_data", path=ranked, operation="filter_count", expression="v > 2 or length == 10")
    assert found.results["rows_that_meet"] == 4
    assert found.summary.startswith("4 of 6 rows")
    described = run("query_data", path=ranked, operation="describe", columns=["v"], expression="v > 2")
    assert described.results["columns"][0]["n"] == 3
    with pytest.raises(ArgumentError, match="not both"):
        run(
            "query_data",
            path=ranked,
            operation="filter_count",
            expression="v > 2",
            filter_column="v",
            operator=">",
            value=1,
        )
