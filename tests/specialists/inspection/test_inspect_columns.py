"""Chosen columns: figures, distinct values and counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.inspection import inspect_columns

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = inspect_columns.run(context, inspect_columns.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def test_numbers_have_figures_and_texts_their_commonest_values(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows = [["Shale", 1.5, "2020-01-02"], ["shale ", 2.5, "2021-05-06"], ["Shale", 2.5, None], ["Granite", None, None]]
    result = run(context, write_rows("a.csv", ["rock", "Cu_ppm", "day"], rows), columns=["rock", "Cu_ppm", "day"])
    rock, copper, day = (result.results["columns"][name] for name in ("rock", "Cu_ppm", "day"))
    assert (rock["distinct"], rock["distinct_ignoring_case"], rock["with_outer_blanks"]) == (3, 2, 1)
    assert rock["values"] == {"Shale": 2, "Granite": 1, "shale ": 1}
    values = np.array([1.5, 2.5, 2.5])
    assert (copper["unit"], copper["missing"], copper["distinct"]) == ("ppm", 1, 2)
    assert (copper["mean"], copper["sd"], copper["median"]) == pytest.approx((values.mean(), values.std(ddof=1), 2.5))
    assert (day["min"], day["max"]) == ("2020-01-02", "2021-05-06")
    written = read_rows(result.artifacts[0].path)
    assert written[:4] == [["column", "value", "count"], ["rock", "Shale", "2"], ["rock", "Granite", "1"],
                           ["rock", "shale ", "1"]]  # fmt: skip


def test_a_column_without_a_number_has_no_figures_and_stops_nothing(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["Au", "F", "Cu"], [["ND", None, 1], ["ND", None, 2], [None, None, 2]])
    frame = pl.DataFrame({"none": pl.Series([None] * 3, dtype=pl.Float64), "some": [1, 2, 2]})
    frame.write_parquet(context.workspace / "a.parquet")
    for table, names in ((path, ["Au", "F", "Cu"]), ("a.parquet", ["none", "some"])):
        found = run(context, table, columns=names)
        *empty, filled = (found.results["columns"][name] for name in names)
        assert [set(each) & {"mean", "sd", "min", "median", "max", "rows_at_min"} for each in empty] == [set()] * len(
            empty
        )
        assert (filled["min"], filled["rows_at_min"], filled["distinct"]) == (1, 1, 2)
        assert f"{names[0]}: " in found.summary


def test_thousands_of_values_and_hundreds_of_columns_stay_a_short_answer(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    names = [f"a rather long name of column {number}" for number in range(200)]
    rows = [[f"{row} {'x' * 90}" if column == 0 else row * column for column in range(200)] for row in range(300)]
    result = run(context, write_rows("a.csv", names, rows), columns=names)
    assert len(wire.dumps(result.results)) < 1_300
    assert "further columns" in result.results["not_shown"]
    one = run(context, "a.csv", columns=names[:1])
    assert "values" not in one.results["columns"][names[0]]
    assert len(read_rows(one.artifacts[0].path)) == 301


def test_an_unknown_column_is_refused_and_case_does_not_matter(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["row_count", "b"], [[1, 2], [1, 3]])
    assert list(run(context, path, columns=["ROW_COUNT"]).results["columns"]) == ["row_count"]
    with pytest.raises(ArgumentError, match="'c'") as refused:
        run(context, path, columns=["c"])
    assert refused.value.field == "columns"
