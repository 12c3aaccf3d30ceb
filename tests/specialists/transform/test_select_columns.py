"""select_columns: columns kept, dropped, ordered and renamed."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def test_columns_are_kept_dropped_ordered_and_renamed(made: Made, path: str) -> None:
    assert made("select_columns", path=path, columns=["n", "v"])[0].columns == ["n", "v"]
    assert made("select_columns", path=path, columns=["n", "v"], keep="others")[0].columns == ["hole", "same", "zero"]
    frame, _ = made("select_columns", path=path, rename={"n": "number"})
    assert frame.columns == ["hole", "v", "number", "same", "zero"]
    with pytest.raises(ArgumentError, match="two columns would be called 'v'"):
        made("select_columns", path=path, rename={"n": "v"})
    with pytest.raises(ArgumentError, match="no column would be left"):
        made("select_columns", path=path, columns=["hole", "v", "n", "same", "zero"], keep="others")


def test_a_column_of_results_keeps_its_qualifiers(
    made: Made, write_rows: Callable[..., str], table_of: Callable[[str], Table]
) -> None:
    name = write_rows("c.csv", ["id", "Au"], [["a", "<0.01"], ["b", 0.5], ["c", 0.7]])
    frame, found = made("select_columns", path=name, columns=["Au"], rename={"Au": "gold"})
    after = table_of(found.results["path"])
    assert frame.columns == ["gold", "Au_q"]
    assert after.qualifiers == {"gold": "Au_q"}


def test_a_renamed_column_keeps_its_unit_whatever_its_new_name_says(
    made: Made, write_rows: Callable[..., str], table_of: Callable[[str], Table]
) -> None:
    name = write_rows("u.csv", ["id", "CU (PPM)", "Au_ppb", "Zn_ppm"], [["a", 1.5, 2.5, 3.5], ["b", 1.0, 2.0, 3.0]])
    _, found = made("select_columns", path=name, rename={"CU (PPM)": "Cu", "Au_ppb": "Au_ppm"})
    assert table_of(found.results["path"]).units == {"Cu": "PPM", "Au_ppm": "ppb"}
