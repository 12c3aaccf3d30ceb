"""standardize: z-scores, over all rows or within groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def column(frame: pl.DataFrame, name: str) -> np.ndarray[Any, Any]:
    return frame.get_column(name).to_numpy().astype(float)


@pytest.mark.parametrize("ddof", [0, 1])
def test_columns_are_standardized_as_scipy_does(made: Made, path: str, ddof: int) -> None:
    frame, found = made("standardize", path=path, columns=["v"], ddof=ddof)
    expected = stats.zscore(column(frame, "v"), ddof=ddof, nan_policy="omit")
    assert column(frame, "v_z") == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert found.results["rule"].endswith("n - 1" if ddof else "with n")


def test_groups_are_standardized_by_themselves(made: Made, path: str) -> None:
    frame, found = made("standardize", path=path, columns=["n"], by="hole")
    for hole in "ABC":
        part = frame.filter(pl.col("hole") == hole)
        assert column(part, "n_z") == pytest.approx(stats.zscore(column(part, "n"), ddof=1), rel=1e-12)
    assert found.results["columns"]["n"]["groups"] == 3
