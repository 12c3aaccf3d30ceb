"""compute_ratios: ratios of columns."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def test_ratios_are_missing_where_the_denominator_is_zero(made: Made, path: str) -> None:
    frame, found = made("compute_ratios", path=path, pairs=["n/zero"])
    assert frame["n_over_zero"].to_list() == [None] * 5 + [n / 2 for n in range(5, 43)]
    assert found.results["columns"]["n_over_zero"] == {"missing": 5, "zero_denominator": 5, "median": 11.75}


def test_names_with_slashes_and_units_that_differ_are_understood(made: Made, write_rows: Callable[..., str]) -> None:
    name = write_rows("u.csv", ["Au g/t", "Ag ppb"], [[1.5, 3], [2.5, 5]])
    frame, found = made("compute_ratios", path=name, pairs=["Au g/t/Ag ppb"])
    assert frame["Au g/t_over_Ag ppb"].to_list() == [0.5, 0.5]
    assert any(note.startswith("SUSPECTED: Au g/t/Ag ppb divides g/t by ppb") for note in found.notes)
    with pytest.raises(ArgumentError, match="numerator/denominator"):
        made("compute_ratios", path=name, pairs=["Au"])
