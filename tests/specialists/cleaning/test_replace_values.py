"""replace_values: fill values made missing, and counted."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


WriteFrame = Callable[[str, pl.DataFrame], str]


def test_fill_values_become_missing_and_are_counted_by_column(made: Made, write_frame: WriteFrame) -> None:
    frame = pl.DataFrame(
        {
            "a": [-999.0, 1.5, -999.25, 2.0],
            "n": [-9, 5, 6, 7],
            "t": ["-999", "n/a ", "x", None],
            "lon": [-9.5, -9.0, -8.0, -10.0],
        }
    )
    replaced, found = made("replace_values", path=write_frame("t.parquet", frame), values=[-999, -999.25, -9, "n/a"])
    assert replaced["a"].to_list() == [None, 1.5, None, 2.0]
    assert replaced["n"].to_list() == [None, 5, 6, 7]
    assert replaced["t"].to_list() == [None, None, "x", None]
    assert replaced["lon"].to_list() == frame["lon"].to_list()
    assert found.results["by_column"] == {"a": {"-999": 1, "-999.25": 1}, "n": {"-9": 1}, "t": {"-999": 1, "n/a": 1}}
    assert found.results["replaced"] == 5
    assert any(note.startswith("SUSPECTED to be real values") and note.endswith("lon 1") for note in found.notes)


def test_a_named_column_is_replaced_wherever_the_value_lies(made: Made, write_frame: WriteFrame) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"lon": [-9.5, -9.0, -8.0], "r": ["a", "b", "a"]}))
    replaced, found = made("replace_values", path=name, columns=["lon"], values=[-9, 5], replacement=0)
    assert replaced["lon"].to_list() == [-9.5, 0.0, -8.0]
    assert "not found: 5" in found.notes
    assert made("replace_values", path=name, values=["a"], replacement="b")[0]["r"].to_list() == ["b"] * 3


def test_a_replacement_must_fit_and_a_value_be_there(made: Made, write_frame: WriteFrame) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"v": [1.0, 2.0], "r": ["a", "b"]}))
    with pytest.raises(ArgumentError, match="does not fit 'v'") as caught:
        made("replace_values", path=name, values=[1], columns=["v"], replacement="x")
    assert caught.value.field == "replacement"
    with pytest.raises(ArgumentError, match="none is found"):
        made("replace_values", path=name, values=[-999])


def test_a_column_of_results_loses_the_qualifier_of_what_is_replaced(
    made: Made, write_rows: Callable[..., str]
) -> None:
    name = write_rows("c.csv", ["id", "Au"], [["a", "<0.01"], ["b", -9], ["c", 0.7], ["d", 0.8]])
    frame, _ = made("replace_values", path=name, columns=["Au"], values=[-9])
    assert frame["Au"].to_list() == [0.01, None, 0.7, 0.8]
    assert frame["Au_q"].fill_null("").to_list() == ["<", "", "", ""]
