"""aggregate: figures of groups and of grid cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


Write = Callable[..., str]


@pytest.fixture
def holes(write_frame: Callable[[str, pl.DataFrame], str]) -> tuple[str, pl.DataFrame]:
    generator = np.random.default_rng(5)
    rows = 60
    frame = pl.DataFrame(
        {
            "hole": [(None if row == 0 else f"H{row % 4}") for row in range(rows)],
            "length": [(0.0 if row == 5 else None if row == 6 else float(1 + row % 3)) for row in range(rows)],
            "Cu": [(None if row % 10 == 3 else float(generator.lognormal())) for row in range(rows)],
            "x": [(None if row == 9 else float(generator.uniform(-30, 30))) for row in range(rows)],
            "y": [float(generator.uniform(0, 30)) for _ in range(rows)],
        }
    )
    return write_frame("h.parquet", frame), frame


def test_groups_have_the_figures_that_numpy_gives(made: Made, holes: tuple[str, pl.DataFrame]) -> None:
    path, source = holes
    frame, found = made(
        "aggregate", path=path, by=["hole"], columns=["Cu"], weight="length", percentiles=[10, 95],
        statistics=["count", "mean", "median", "min", "max", "sum", "sd"],
    )  # fmt: skip
    assert frame["hole"].to_list() == ["H0", "H1", "H2", "H3", None]
    for row in frame.iter_rows(named=True):
        part = source.filter(pl.col("hole").eq_missing(pl.lit(row["hole"])))
        values = part["Cu"].drop_nulls().to_numpy()
        weighted = part.filter(pl.col("Cu").is_not_null() & (pl.col("length") > 0))
        assert (row["rows"], row["Cu_count"]) == (part.height, len(values))
        assert row["Cu_mean"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["Cu_p10"] == pytest.approx(np.percentile(values, 10), rel=1e-12)
        if len(values) > 1:
            assert row["Cu_sd"] == pytest.approx(values.std(ddof=1), rel=1e-12)
        expected = np.average(weighted["Cu"], weights=weighted["length"])
        assert row["Cu_weighted_mean"] == pytest.approx(expected, rel=1e-12)
        assert row["Cu_weight"] == weighted["length"].sum()
    assert any("2 rows without a positive length" in note for note in found.notes)
    assert any("1 rows without hole make a group" in note for note in found.notes)


def test_cells_are_floors_and_their_centres_are_given(made: Made, holes: tuple[str, pl.DataFrame]) -> None:
    path, source = holes
    frame, found = made("aggregate", path=path, cell_size=10, x="x", y="y", columns=["Cu"], statistics=["mean"])
    cells: dict[tuple[float, float], list[float]] = {}
    for row in source.drop_nulls("x").iter_rows(named=True):
        cell = (row["x"] // 10 * 10 + 5, row["y"] // 10 * 10 + 5)
        cells.setdefault(cell, []).extend([] if row["Cu"] is None else [row["Cu"]])
    assert [(row[0], row[1]) for row in frame.select("cell_x", "cell_y").rows()] == sorted(cells)
    for row in frame.iter_rows(named=True):
        values = cells[row["cell_x"], row["cell_y"]]
        assert row["Cu_mean"] == (pytest.approx(np.mean(values)) if values else None)
    assert found.results["rows_used"] == 59
    assert "1 rows without coordinates are in no cell and left out" in found.notes


def test_a_group_of_missing_values_has_no_sum(made: Made, write_rows: Write) -> None:
    name = write_rows("g.csv", ["g", "v", "u"], [["a", None, 1], ["b", 2, 3]])
    frame, _ = made("aggregate", path=name, by=["g"], statistics=["sum", "count"])
    assert frame.rows() == [("a", 1, None, 0, 1, 1), ("b", 1, 2.0, 1, 3, 1)]


def test_wrong_groups_and_weights_are_refused(made: Made, write_rows: Write) -> None:
    name = write_rows("g.csv", ["g", "v", "w"], [["a", 1, -1], ["b", 2, 3]])
    for arguments, field in (
        ({}, "by"),
        ({"by": ["g"], "x": "v"}, "cell_size"),
        ({"cell_size": 1, "x": "v"}, "y"),
        ({"by": ["g"], "columns": ["v"], "weight": "w"}, "weight"),
        ({"by": ["v"], "columns": ["g"]}, "columns"),
    ):
        with pytest.raises(ArgumentError) as caught:
            made("aggregate", path=name, **arguments)
        assert caught.value.field == field
