"""merge_datasets: joins that say what matched, what did not, and what would multiply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]
Write = Callable[..., str]


@pytest.fixture
def files(write_rows: Write) -> dict[str, str]:
    return {
        "path": write_rows(
            "assay.csv",
            ["hole", "Cu", "note"],
            [["A", 1, "p"], ["B", 2, "q"], ["B", 3, "r"], [None, 4, "s"], ["X", 5, "t"]],
        ),
        "right_path": write_rows(
            "collar.csv", ["hole", "east", "note"], [["A", 10, "u"], ["B", 20, "v"], ["C", 30, "w"]]
        ),
    }


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("left", [("A", 1, 10), ("B", 2, 20), ("B", 3, 20), (None, 4, None), ("X", 5, None)]),
        ("inner", [("A", 1, 10), ("B", 2, 20), ("B", 3, 20)]),
        ("full", [("A", 1, 10), ("B", 2, 20), ("B", 3, 20), (None, 4, None), ("X", 5, None), ("C", None, 30)]),
    ],
)
def test_rows_are_joined_in_the_order_of_the_left_file(
    made: Made, files: dict[str, str], how: str, expected: list[Any]
) -> None:
    frame, found = made("merge_datasets", **files, on=["hole"], how=how)
    assert frame.columns == ["hole", "Cu", "note", "east", "note_right"]
    assert frame.select("hole", "Cu", "east").rows() == expected
    results = found.results
    assert (results["left_without_match"], results["right_without_match"]) == (2, 1)
    assert results["keys_repeated"] == {"left": 1, "right": 0}
    assert results["cardinality"] == "many_to_one"
    assert results["keys_missing"] == {"left": 1, "right": 0}
    assert any("note" in note and "_right" in note for note in found.notes)


def test_an_anti_join_keeps_left_rows_without_a_match(made: Made, files: dict[str, str]) -> None:
    frame, _ = made("merge_datasets", **files, on=["hole"], how="anti")
    assert frame.rows() == [(None, 4, "s"), ("X", 5, "t")]


def test_growth_by_keys_that_repeat_on_both_sides_is_refused_unless_allowed(made: Made, write_rows: Write) -> None:
    left = write_rows("l.csv", ["k", "a"], [["x", 1], ["x", 2], ["y", 3]])
    right = write_rows("r.csv", ["k", "b"], [["x", 1], ["x", 2], ["z", 3]])
    with pytest.raises(ArgumentError, match="1 keys repeat in both files and would give 4 matched rows") as caught:
        made("merge_datasets", path=left, right_path=right, on=["k"])
    assert caught.value.field == "cardinality"
    frame, found = made("merge_datasets", path=left, right_path=right, on=["k"], cardinality="many_to_many")
    assert frame.height == 5
    assert "2 more than left" in found.summary


@pytest.mark.parametrize(
    ("cardinality", "is_allowed"), [("one_to_one", False), ("one_to_many", False), ("many_to_one", True)]
)
def test_a_cardinality_that_is_asked_for_is_checked(
    made: Made, files: dict[str, str], cardinality: str, is_allowed: bool
) -> None:
    if is_allowed:
        assert made("merge_datasets", **files, on=["hole"], cardinality=cardinality)[0].height == 5
        return
    with pytest.raises(ArgumentError, match=f"{cardinality} is not met: 1 keys repeat on the left"):
        made("merge_datasets", **files, on=["hole"], cardinality=cardinality)


def test_an_identifier_that_is_a_number_in_one_file_is_compared_as_text(made: Made, write_rows: Write) -> None:
    left = write_rows("l.csv", ["hole", "v"], [["34873", 1], ["B1-2", 2]])
    right = write_rows("r.csv", ["BHID", "e"], [[34873, 9], [7, 8]])
    frame, found = made("merge_datasets", path=left, right_path=right, on=["hole"], right_on=["BHID"], how="full")
    assert frame.rows() == [("34873", 1, 9), ("B1-2", 2, None), ("7", None, 8)]
    assert any("compared as text" in note for note in found.notes)


def test_integers_match_floats_and_several_keys_match_together(made: Made, write_frame: Callable[..., str]) -> None:
    left = write_frame("l.parquet", pl.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"], "v": [1, 2, 3]}))
    right = write_frame("r.parquet", pl.DataFrame({"a": [1.0, 2.0], "b": ["y", "x"], "w": [5, 6]}))
    frame, _ = made("merge_datasets", path=left, right_path=right, on=["a", "b"], cardinality="one_to_one")
    assert frame["w"].to_list() == [None, 5, 6]


def test_keys_may_match_in_any_case_and_with_any_blanks(made: Made, write_rows: Write) -> None:
    left = write_rows("l.csv", ["k", "a"], [["Hole 1", 1], ["hole  2 ", 2]])
    right = write_rows("r.csv", ["k", "b"], [["HOLE 1", 3], ["Hole 2", 4]])
    _, found = made("merge_datasets", path=left, right_path=right, on=["k"])
    assert any("2 more left rows match where case and blanks are ignored" in note for note in found.notes)
    frame, found = made("merge_datasets", path=left, right_path=right, on=["k"], matching="ignore_case_and_blanks")
    assert frame["b"].to_list() == [3, 4]
    assert frame["k"].to_list() == ["Hole 1", "hole  2 "]
    assert any("2 left rows match only without case and blanks" in note for note in found.notes)


def test_keys_that_do_not_pair_or_compare_are_refused(made: Made, write_frame: Callable[..., str]) -> None:
    from datetime import date

    left = write_frame("l.parquet", pl.DataFrame({"k": [1], "d": [date(2020, 1, 1)]}))
    right = write_frame("r.parquet", pl.DataFrame({"k": [1], "n": [2]}))
    with pytest.raises(ArgumentError, match="has 2 columns, on has 1"):
        made("merge_datasets", path=left, right_path=right, on=["k"], right_on=["k", "n"])
    with pytest.raises(ArgumentError, match="not comparable"):
        made("merge_datasets", path=left, right_path=right, on=["d"], right_on=["n"])


keys = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=keys, right=keys, how=st.sampled_from(["left", "inner", "full", "anti"]))
def test_the_counts_are_those_of_nested_loops(
    run: Callable[..., ToolResult],
    write_frame: Callable[..., str],
    left: list[str | None],
    right: list[str | None],
    how: str,
) -> None:
    paths = {
        "path": write_frame("l.parquet", pl.DataFrame({"k": pl.Series(left, dtype=pl.String), "i": range(len(left))})),
        "right_path": write_frame(
            "r.parquet", pl.DataFrame({"k": pl.Series(right, dtype=pl.String), "j": range(len(right))})
        ),
    }
    pairs = [(a, b) for a, x in enumerate(left) for b, y in enumerate(right) if x is not None and x == y]
    no_left = len(left) - len({a for a, _ in pairs})
    no_right = len(right) - len({b for _, b in pairs})
    found = run("merge_datasets", **paths, on=["k"], how=how, cardinality="many_to_many").results
    assert (found["left_without_match"], found["right_without_match"]) == (no_left, no_right)
    expected = {
        "left": len(pairs) + no_left, "inner": len(pairs), "full": len(pairs) + no_left + no_right, "anti": no_left,
    }  # fmt: skip
    assert found["rows_after"] == expected[how]
