"""normalize: columns brought to a common range."""

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


@pytest.mark.parametrize("method", ["minmax", "robust", "max"])
def test_columns_are_normalized_as_numpy_does_and_missing_stays_missing(made: Made, path: str, method: str) -> None:
    frame, found = made("normalize", path=path, columns=["v", "n"], method=method)
    for name in ("v", "n"):
        values = column(frame, name)
        q1, q2, q3 = np.nanpercentile(values, [25, 50, 75])
        low, high = np.nanmin(values), np.nanmax(values)
        expected = {
            "minmax": (values - low) / (high - low),
            "robust": (values - q2) / (q3 - q1),
            "max": values / np.nanmax(np.abs(values)),
        }[method]
        assert column(frame, f"{name}_{method}") == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
    assert found.results["columns"]["v"]["missing"] == 1
    assert frame["v"].null_count() == 1


def test_a_column_without_spread_is_skipped_and_alone_is_refused(made: Made, path: str) -> None:
    frame, found = made("normalize", path=path, columns=["n", "same"])
    assert "same_minmax" not in frame.columns
    assert any("same (no spread: all values are equal)" in note for note in found.notes)
    with pytest.raises(ArgumentError, match="no spread"):
        made("standardize", path=path, columns=["same"])
