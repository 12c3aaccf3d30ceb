"""Numbers out of a table: transforms, rows that cannot be used and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.multivariate import features

WriteRows = Callable[..., str]


@pytest.fixture
def table(context: ToolContext, write_rows: WriteRows) -> Table:
    rows = [["x", 1, 2], ["y", None, 4], ["z", 3, -1], ["w", 0, None], ["v", 5, 8]]
    return read_table(context, write_rows("a.csv", ["id", "p", "q"], rows))


def test_without_a_transform_only_gaps_leave_rows_out(table: Table) -> None:
    taken = features.take(table, ["p", "q"], "columns")
    assert taken.is_complete.tolist() == [True, False, True, False, True]
    assert taken.left_out() == {"missing": 2}
    assert taken.reasons() == [None, "missing: p", None, "missing: q", None]


def test_a_logarithm_also_leaves_out_what_is_not_positive_each_row_once(table: Table) -> None:
    taken = features.take(table, ["p", "q"], "columns", "log10")
    assert taken.is_complete.tolist() == [True, False, False, False, True]
    assert taken.left_out() == {"missing": 2, "not_positive": 1}
    assert taken.reasons()[2:4] == ["not positive: q", "missing: q; not positive: p"]
    np.testing.assert_allclose(taken.values[[0, 4]], np.log10([[1, 2], [5, 8]]))
    assert sum("left out" in note for note in taken.notes()) == 2


def test_clr_rows_sum_to_zero_and_ignore_the_scale_of_a_row() -> None:
    parts = np.exp(np.random.default_rng(3).normal(size=(10, 4)))
    frames = [pl.DataFrame(parts * scale, schema=list("abcd")) for scale in (1.0, 7.5)]
    one, other = (features.take(Table("t", frame), list("abcd"), "columns", "clr") for frame in frames)  # type: ignore[arg-type]
    np.testing.assert_allclose(one.values.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(one.values, other.values, atol=1e-12)


def test_clr_over_different_units_says_so() -> None:
    frame = pl.DataFrame({"K": [1.0, 2.0], "Rb": [3.0, 4.0]})
    table = Table("t", frame, units={"K": "%", "Rb": "ppm"})  # type: ignore[arg-type]
    notes = features.take(table, ["K", "Rb"], "columns", "clr").notes()
    assert any("different units (%, ppm)" in note for note in notes)


def test_infinite_values_count_as_missing() -> None:
    table = Table("t", pl.DataFrame({"a": [1.0, float("inf"), float("nan"), 2.0]}))  # type: ignore[arg-type]
    assert features.take(table, ["a"], "columns").left_out() == {"missing": 2}


def test_columns_not_named_are_those_that_measure(context: ToolContext, write_rows: WriteRows) -> None:
    header = ["SampleID", "Longitude", "Latitude", "Cu", "Y", "cluster"]
    rows = [[f"s{number}", 10.5 + number, 50.5, number * 2.5, number + 0.5, number % 3 + 1] for number in range(9)]
    names, notes = features.chosen_columns(read_table(context, write_rows("a.csv", header, rows)), None)
    assert names == ["Cu", "Y"]
    assert notes == ["not taken unless named (places, identifiers, group labels): Longitude, Latitude, cluster"]


def test_a_table_that_measures_nothing_is_refused(context: ToolContext, write_rows: WriteRows) -> None:
    table = read_table(context, write_rows("a.csv", ["rock", "unit"], [["a", "b"], ["c", "d"]]))
    with pytest.raises(ArgumentError, match=r"a\.csv"):
        features.chosen_columns(table, None)


def test_a_free_name_never_collides() -> None:
    frame = pl.DataFrame({"cluster": [1], "cluster_2": [1]})
    assert features.free_name(frame, "cluster") == "cluster_3"
    assert features.free_name(frame, "other") == "other"
