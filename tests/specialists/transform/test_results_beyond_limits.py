"""What the tools make of results beyond a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


@pytest.mark.parametrize(
    ("tool", "arguments", "column", "expected"),
    [
        ("derive_column", {"name": "d", "expression": "Au * 1000"}, "d", [5.0, 500.0, 700.0]),
        ("log_transform", {"columns": ["Au"]}, "Au_log10", np.log10([0.005, 0.5, 0.7]).tolist()),
        ("normalize", {"columns": ["Au"], "method": "max"}, "Au_max", [0.005 / 0.7, 0.5 / 0.7, 1.0]),
        ("melt", {"id_columns": ["id"], "value_columns": ["Au"]}, "value", [0.005, 0.5, 0.7]),
        ("aggregate", {"by": ["id"], "columns": ["Au"], "statistics": ["mean"]}, "Au_mean", [0.005, 0.5, 0.7]),
    ],
)
def test_results_below_a_limit_are_half_of_it_and_it_is_said(
    made: Made, write_rows: Callable[..., str], tool: str, arguments: dict[str, Any], column: str, expected: list[float]
) -> None:
    name = write_rows("c.csv", ["id", "Au"], [["a", "<0.01"], ["b", 0.5], ["c", 0.7]])
    frame, found = made(tool, path=name, **arguments)
    assert frame[column].to_list() == pytest.approx(expected, rel=1e-12)
    assert any("half the limit (DL/2)" in note for note in found.notes)
