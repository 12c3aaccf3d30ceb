"""smooth: windows along a hole that never cross into another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy.signal import savgol_filter

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]
N = 20


@pytest.fixture
def path(write_frame: Callable[[str, pl.DataFrame], str]) -> str:
    """Two holes, shuffled, with one missing value in hole A."""
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "hole": ["A"] * N + ["B"] * N,
            "depth": [*range(N), *range(N)],
            "v": [*generator.normal(0, 1, N).tolist(), *generator.normal(100, 1, N).tolist()],
        }
    )
    frame = frame.with_columns(v=pl.when((pl.col("hole") == "A") & (pl.col("depth") == 7)).then(None).otherwise("v"))
    return write_frame("t.parquet", frame.sample(fraction=1.0, shuffle=True, seed=1))


def by_hand(values: list[float | None], window: int, function: Callable[[list[float]], float]) -> list[float | None]:
    half = window // 2
    found: list[float | None] = []
    for at, value in enumerate(values):
        near = [v for v in values[max(0, at - half) : at + half + 1] if v is not None]
        found.append(None if value is None else float(function(near)))
    return found


@pytest.mark.parametrize("method", ["mean", "median"])
def test_windows_shrink_at_the_ends_and_never_cross_holes(made: Made, path: str, method: str) -> None:
    frame, found = made("smooth", path=path, columns=["v"], window=5, method=method, by=["hole"], order_by="depth")
    for hole in "AB":
        part = frame.filter(pl.col("hole") == hole).sort("depth")
        expected = by_hand(part["v"].to_list(), 5, getattr(np, method))
        smoothed = part[f"v_{method}5"].to_list()
        assert [value is None for value in smoothed] == [value is None for value in expected]
        known = [(a, b) for a, b in zip(smoothed, expected, strict=True) if b is not None]
        assert [a for a, _ in known] == pytest.approx([b for _, b in known], rel=1e-9)
    assert found.results["groups"] == 2
    assert found.results["columns"]["v"] == {"added": f"v_{method}5", "missing": 1, "not_smoothed": 0}


def test_rows_keep_the_order_of_the_file(made: Made, path: str, table_of: Callable[..., object]) -> None:
    frame, _ = made("smooth", path=path, columns=["v"], by=["hole"], order_by="depth")
    before = table_of(path).frame  # type: ignore[attr-defined]
    assert frame.select("hole", "depth", "v").equals(before)


def test_ends_can_be_missing(made: Made, path: str) -> None:
    frame, found = made("smooth", path=path, columns=["v"], window=5, by=["hole"], order_by="depth", edges="missing")
    part = frame.filter(pl.col("hole") == "B").sort("depth")["v_mean5"]
    assert [at for at, value in enumerate(part) if value is None] == [0, 1, N - 2, N - 1]
    assert found.results["columns"]["v"]["not_smoothed"] == 8


def test_savitzky_golay_is_scipys_on_each_stretch_without_gaps(made: Made, path: str) -> None:
    frame, _ = made("smooth", path=path, columns=["v"], window=5, method="savgol", by=["hole"], order_by="depth")
    part = frame.filter(pl.col("hole") == "A").sort("depth")
    values, smoothed = part["v"].to_list(), part["v_savgol5"].to_list()
    assert smoothed[7] is None
    assert smoothed[:7] == pytest.approx(savgol_filter(values[:7], 5, 2).tolist())
    assert smoothed[8:] == pytest.approx(savgol_filter(values[8:], 5, 2).tolist())


def test_a_stretch_shorter_than_the_window_is_not_smoothed_and_counted(made: Made, path: str) -> None:
    _, found = made("smooth", path=path, columns=["v"], window=9, method="savgol", by=["hole"], order_by="depth")
    assert found.results["columns"]["v"]["not_smoothed"] == 7


def test_holes_that_windows_cross_rows_without_a_place_and_uneven_steps_are_said(
    made: Made, write_rows: Callable[..., str]
) -> None:
    rows = [["A", 0, 1], ["A", 1, 2], ["B", 5, 3], ["B", None, 4], ["B", 7, 5]]
    name = write_rows("u.csv", ["hole_id", "depth", "v"], rows)
    frame, found = made("smooth", path=name, columns=["v"], window=3, order_by="depth")
    assert frame["v_mean3"].to_list() == [1.5, 2.0, 10 / 3, None, 4.0]
    for start in ("SUSPECTED: 'hole_id'", "1 rows without 'depth'", "rows are unevenly spaced"):
        assert any(note.startswith(start) for note in found.notes)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"window": 4}, "window"), ({"window": 3, "method": "savgol", "degree": 3}, "degree"), ({"by": ["h"]}, "by")],
)
def test_wrong_arguments_are_refused(made: Made, path: str, arguments: dict[str, object], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        made("smooth", path=path, columns=["v"], **arguments)
    assert caught.value.field == field
