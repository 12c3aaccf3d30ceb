"""The tool that counts missing values."""

from __future__ import annotations

from collections.abc import Callable

from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.check_missing import Arguments, run


def test_gaps_are_counted_per_column_in_full_precision(context: ToolContext, write_rows: Callable[..., str]) -> None:
    rows = [[i, None if i == 7 else "x", None if i % 3 else 0.5] for i in range(3000)]
    found = run(context, Arguments(path=write_rows("a.csv", ["i", "t", "v"], rows)))
    assert found.results == {
        "path": "a.csv",
        "rows": 3000,
        "missing_cells": 2001,
        "columns": [
            {"name": "v", "type": "number", "missing": 2000, "missing_percent": 100 * 2000 / 3000},
            {"name": "t", "type": "text", "missing": 1, "missing_percent": 100 / 3000},
        ],
        "complete_columns": 1,
    }
    assert found.summary == "a.csv: 3000 rows, 2001 missing cells in 2 of 3 columns"


def test_a_complete_table_has_no_gaps(context: ToolContext, write_rows: Callable[..., str]) -> None:
    found = run(context, Arguments(path=write_rows("a.csv", ["a", "b"], [[1, 2]])))
    assert (found.results["missing_cells"], found.results["columns"], found.results["complete_columns"]) == (0, [], 2)


def test_more_than_100_columns_with_gaps_are_counted(context: ToolContext, write_rows: Callable[..., str]) -> None:
    name = write_rows("w.csv", ["k", *(f"c{i}" for i in range(150))], [[1, *[None] * 150], [2, *range(150)]])
    found = run(context, Arguments(path=name))
    assert len(found.results["columns"]) == 100
    assert found.results["more_columns"] == 50
    assert found.results["missing_cells"] == 150
