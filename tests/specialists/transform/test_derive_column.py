"""derive_column: columns computed by expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def column(frame: pl.DataFrame, name: str) -> np.ndarray[Any, Any]:
    return frame.get_column(name).to_numpy().astype(float)


def test_a_shale_volume_is_derived_as_numpy_derives_it(made: Made, path: str) -> None:
    text = "clip((v - percentile(v, 5)) / (percentile(v, 95) - percentile(v, 5)), 0, 1)"
    frame, found = made("derive_column", path=path, name="Vsh", expression=text, unit="v/v")
    values = column(frame, "v")
    low, high = np.nanpercentile(values, [5, 95])
    assert column(frame, "Vsh") == pytest.approx(np.clip((values - low) / (high - low), 0, 1), rel=1e-12, nan_ok=True)
    assert found.results["derived"]["Vsh"]["missing"] == 1
    assert any("interpolated linearly" in note for note in found.notes)


def test_several_columns_are_derived_and_a_later_one_may_use_an_earlier_one(made: Made, path: str) -> None:
    derived = [{"name": "a", "expression": "n * 2"}, {"name": "b", "expression": "a + 1"}]
    frame, found = made("derive_column", path=path, derived=derived)
    assert frame["b"].to_list() == [2 * n + 1 for n in range(43)]
    assert found.summary.endswith("1 more columns")


def test_what_is_not_defined_is_counted_in_the_notes(made: Made, path: str) -> None:
    frame, found = made("derive_column", path=path, name="r", expression="n / zero")
    assert frame["r"].null_count() == 5
    assert found.results["derived"]["r"] == {"missing": 5, "undefined": 5, "min": 2.5, "mean": 11.75, "max": 21.0}
    assert any(note.startswith("r: 5 rows: division by zero") for note in found.notes)


def test_a_name_that_is_taken_needs_replace_and_a_fault_names_its_argument(made: Made, path: str) -> None:
    with pytest.raises(ArgumentError, match="is a column already") as caught:
        made("derive_column", path=path, name="v", expression="v * 2")
    assert caught.value.field == "name"
    frame, _ = made("derive_column", path=path, name="n", expression="n * 2", replace=True)
    assert frame["n"].to_list() == [2 * n for n in range(43)]
    with pytest.raises(ArgumentError) as caught:
        made("derive_column", path=path, derived=[{"name": "a", "expression": "v +"}])
    assert caught.value.field == "derived.0.expression"
    with pytest.raises(ArgumentError, match="not both"):
        made("derive_column", path=path, name="a", expression="v", derived=[{"name": "a", "expression": "v"}])
