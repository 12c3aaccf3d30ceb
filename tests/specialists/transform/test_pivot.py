"""pivot: from long to wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


Write = Callable[..., str]


LONG = [["s1", "Cu", 1], ["s1", "Zn", 2], ["s2", "Cu", 3], ["s2", None, 9], ["s3", "Zn", None]]


def test_a_long_table_becomes_wide_in_the_order_of_the_file(made: Made, write_rows: Write) -> None:
    name = write_rows("l.csv", ["sample", "element", "value"], LONG)
    frame, found = made("pivot", path=name, index=["sample"], columns="element", values=["value"])
    assert frame.columns == ["sample", "Cu", "Zn"]
    assert frame.rows() == [("s1", 1, 2), ("s2", 3, None), ("s3", None, None)]
    assert (found.results["rows_left_out"], found.results["cells_without_row"]) == (1, 2)


def test_rows_that_meet_in_a_cell_are_refused_unless_it_is_said_what_becomes_of_them(
    made: Made, write_rows: Write
) -> None:
    name = write_rows("l.csv", ["s", "e", "v"], [["a", "Cu", 1], ["a", "Cu", 4], ["b", "Cu", None], ["b", "Cu", None]])
    arguments: dict[str, Any] = {"path": name, "index": ["s"], "columns": "e", "values": ["v"]}
    with pytest.raises(ArgumentError, match=r"2 cells .* several rows \(4 in all\)") as caught:
        made("pivot", **arguments)
    assert caught.value.field == "duplicates"
    for how, expected in (("first", 1), ("last", 4), ("mean", 2.5), ("sum", 5), ("max", 4), ("count", 2)):
        frame, found = made("pivot", **arguments, duplicates=how)
        assert frame["Cu"].to_list() == [expected, 0 if how == "count" else None]
        assert found.results["cells_with_several_rows"] == 2


def test_several_value_columns_are_named_by_both_and_a_column_is_used_once(made: Made, write_rows: Write) -> None:
    name = write_rows("l.csv", ["s", "e", "v", "w"], [["a", "Cu", 1, "x"], ["a", "Zn", 2, "y"]])
    frame, _ = made("pivot", path=name, index=["s"], columns="e", values=["v", "w"])
    assert frame.columns == ["s", "v_Cu", "v_Zn", "w_Cu", "w_Zn"]
    assert frame.row(0) == ("a", 1, 2, "x", "y")
    with pytest.raises(ArgumentError, match="used twice"):
        made("pivot", path=name, index=["s"], columns="e", values=["s"])
