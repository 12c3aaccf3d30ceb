"""bin_column: values in classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


def test_quantile_classes_are_as_large_as_each_other(made: Made, path: str) -> None:
    frame, found = made("bin_column", path=path, column="n", bins=4)
    assert list(found.results["sizes"].values()) == [11, 11, 10, 11]
    edges = np.percentile(np.arange(43), [0, 25, 50, 75, 100]).tolist()
    assert next(iter(found.results["sizes"])) == f"[{edges[0]!r}, {edges[1]!r}]"
    assert frame.filter(pl.col("n") == 21)["n_bin"].item() == "(10.5, 21.0]"


def test_breaks_are_upper_edges_and_missing_values_are_in_no_class(made: Made, path: str) -> None:
    labels = ["low", "middle", "high"]
    frame, found = made("bin_column", path=path, column="v", method="breaks", breaks=[0, 3], labels=labels)
    expected = [None if v is None else "low" if v <= 0 else "middle" if v <= 3 else "high" for v in frame["v"]]
    assert frame["v_bin"].to_list() == expected
    assert found.results["missing"] == 1
    plain, _ = made("bin_column", path=path, column="v", method="breaks", breaks=[0, 3])
    assert set(plain["v_bin"].drop_nulls()) == {"<= 0.0", "(0.0, 3.0]", "> 3.0"}


def test_equal_widths_and_ties_and_wrong_arguments(made: Made, path: str) -> None:
    frame, _ = made("bin_column", path=path, column="n", method="equal", bins=2)
    assert frame["n_bin"].value_counts()["count"].sort().to_list() == [21, 22]
    _, found = made("bin_column", path=path, column="zero", bins=10)
    assert found.results["classes"] == 2
    assert any("10 classes were asked for" in note for note in found.notes)
    for arguments, field in (
        ({"column": "same"}, "column"),
        ({"column": "n", "method": "breaks"}, "breaks"),
        ({"column": "n", "method": "breaks", "breaks": [2, 1]}, "breaks"),
        ({"column": "n", "labels": ["a", "b"]}, "labels"),
    ):
        with pytest.raises(ArgumentError) as caught:
            made("bin_column", path=path, **arguments)
        assert caught.value.field == field
