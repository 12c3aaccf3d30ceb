"""Block statistics and interpolation equal those by hand and by formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult

Call = Callable[..., ToolResult]
ROWS = [[1, 1, 2.0], [9, 9, 4.0], [5, 5, None], [11, 1, 8.0], [-1, -1, 1.0], [None, 3, 5.0]]


@pytest.fixture
def cells(call_tool: Call, write_rows: Callable[..., str], context: ToolContext) -> Callable[..., pl.DataFrame]:
    def run(rows: list[list[float]] | None = None, **arguments: object) -> pl.DataFrame:
        path = write_rows("p.csv", ["x", "y", "v"], rows or ROWS)
        found = call_tool("grid_points", path=path, columns=["v"], **arguments)
        return pl.read_csv(context.workspace / found.artifacts[0].path)

    return run


@pytest.mark.parametrize(("method", "value"), [("block_mean", 3.0), ("block_median", 3.0), ("block_count", 2)])
def test_blocks_equal_those_by_hand(cells: Callable[..., pl.DataFrame], method: str, value: float) -> None:
    found = cells(cell_size=10, method=method)
    assert found.select("x", "y", "count").rows() == [(-5, -5, 1), (5, 5, 3), (15, 5, 1)]
    assert found["v"][1] == value


def test_interpolation_goes_through_the_data_and_equals_the_formula(cells: Callable[..., pl.DataFrame]) -> None:
    rows = [[0.5, 0.5, 1.0], [3.5, 0.5, 7.0], [0.5, 3.5, 2.0], [0.5, 3.5, 4.0]]
    idw = {(x, y): v for x, y, v in cells(rows, cell_size=1, method="idw").select("x", "y", "v").rows()}
    assert idw[0.5, 0.5] == 1.0
    assert idw[0.5, 3.5] == 3.0
    near = np.array([1, 2, np.hypot(1, 3)]) ** -2.0
    assert idw[1.5, 0.5] == pytest.approx((near * [1, 7, 3]).sum() / near.sum())
    plane = [[x, y, 2 * x - y] for x, y in ((0, 0), (9, 0), (0, 9), (9, 9))]
    for x, y, value in cells(plane, cell_size=1, method="linear").select("x", "y", "v").drop_nulls().rows():
        assert value == pytest.approx(2 * x - y, abs=1e-9)
    assert set(cells(rows, cell_size=1, method="nearest")["v"]) == {1.0, 7.0, 3.0}
    assert cells(rows, cell_size=1, method="idw", max_distance=0.1)["v"].null_count() == 13


def test_what_cannot_be_gridded_is_refused(call_tool: Call, write_rows: Callable[..., str]) -> None:
    path = write_rows("p.csv", ["x", "y", "v", "rock"], [[0, 0, 1, "a"], [1e6, 1e6, 2, "b"]])
    with pytest.raises(ArgumentError, match="cells") as caught:
        call_tool("grid_points", path=path, columns=["v"], cell_size=1)
    assert caught.value.field == "cell_size"
    with pytest.raises(ArgumentError, match="three places"):
        call_tool("grid_points", path=path, columns=["v"], cell_size=1e5, method="linear")
    with pytest.raises(ArgumentError, match="not numbers"):
        call_tool("grid_points", path=path, columns=["rock"], cell_size=1e5)
