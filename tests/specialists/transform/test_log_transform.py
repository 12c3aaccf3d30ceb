"""log_transform: logarithms that are what their name says."""

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


@pytest.mark.parametrize(
    ("base", "function"), [("ln", np.log), ("log10", np.log10), ("log2", np.log2), ("log1p", np.log1p)]
)
def test_logarithms_are_what_their_name_says(made: Made, path: str, base: str, function: Any) -> None:
    frame, found = made("log_transform", path=path, columns=["v"], base=base)
    values = column(frame, "v")
    values[values <= (-1 if base == "log1p" else 0)] = np.nan
    assert column(frame, f"v_{base}") == pytest.approx(function(values), rel=1e-12, nan_ok=True)
    assert found.results["columns"]["v"]["negatives"] == 1
    assert found.results["columns"]["v"]["zeros"] == (0 if base == "log1p" else 1)


def test_values_without_a_logarithm_can_be_an_error(made: Made, path: str) -> None:
    with pytest.raises(ArgumentError, match="zero or less have no logarithm: v 2"):
        made("log_transform", path=path, columns=["v"], on_nonpositive="error")
