"""melt: from wide to long."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


Write = Callable[..., str]


def test_a_wide_table_becomes_long_and_back(made: Made, write_rows: Write) -> None:
    name = write_rows("w.csv", ["sample", "Cu_ppm", "Zn_pct"], [["a", 1.5, 2], ["b", None, 4]])
    frame, found = made("melt", path=name, id_columns=["sample"], variable_name="element")
    assert frame.rows() == [
        ("a", "Cu_ppm", 1.5, "ppm"), ("b", "Cu_ppm", None, "ppm"),
        ("a", "Zn_pct", 2.0, "pct"), ("b", "Zn_pct", 4.0, "pct"),
    ]  # fmt: skip
    assert any("in several units" in note for note in found.notes)
    back, _ = made("pivot", path=found.results["path"], index=["sample"], columns="element", values=["value"])
    assert back.rows() == [("a", 1.5, 2.0), ("b", None, 4.0)]
    short, found = made("melt", path=name, id_columns=["sample"], drop_missing=True)
    assert (short.height, found.results["missing"]) == (3, 1)


def test_values_of_several_kinds_are_not_mixed(made: Made, write_rows: Write) -> None:
    name = write_rows("m.csv", ["s", "v", "t"], [["a", 1, "x"]])
    with pytest.raises(ArgumentError, match="several kinds: numbers in v, others in t"):
        made("melt", path=name, id_columns=["s"])
    with pytest.raises(ArgumentError, match="is used already"):
        made("melt", path=name, id_columns=["s"], value_columns=["v"], value_name="s")
