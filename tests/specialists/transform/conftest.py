"""Runs a tool as a specialist does, and reads what it wrote."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

SOIL = np.random.default_rng(7).lognormal(1, 1, 40)
RANKED = [5.0, 1.0, None, 3.0, 5.0, 2.0]


@pytest.fixture
def path(write_frame: Callable[[str, pl.DataFrame], str]) -> str:
    values: list[float | None] = [*SOIL.tolist(), None, 0.0, -2.0]
    rows = len(values)
    frame = pl.DataFrame(
        {
            "hole": [("A", "B", "C")[row % 3] for row in range(rows)],
            "v": values,
            "n": list(range(rows)),
            "same": [3.0] * rows,
            "zero": [0.0 if row < 5 else 2.0 for row in range(rows)],
        }
    )
    return write_frame("t.parquet", frame)


@pytest.fixture
def ranked(write_frame: Callable[[str, pl.DataFrame], str]) -> str:
    frame = pl.DataFrame(
        {
            "id": list("abcdef"),
            "hole": ["X", "X", "X", "Y", "Y", None],
            "v": RANKED,
            "length": [1.0, 10.0, 1.0, 2.0, 1.0, 0.0],
        }
    )
    return write_frame("t.parquet", frame)
