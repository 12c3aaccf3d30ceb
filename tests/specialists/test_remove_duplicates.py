"""The tool that removes duplicate rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning.remove_duplicates import Arguments, run
from outcrop_specialists.tools.inspection import verify_claims

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]
ROWS: list[list[Any]] = [["b", 1, 10], ["a", 1, 20], ["b", 1, 10], ["c", None, 30], ["b", 2, 10], ["c", None, 30]]


@pytest.mark.parametrize(
    ("subset", "keep", "expected", "groups"),
    [
        (None, "first", [0, 1, 3, 4], 2),
        (None, "last", [1, 2, 4, 5], 2),
        (None, "none", [1, 4], 2),
        (["k"], "first", [0, 1, 3], 2),
        (["K", "w"], "last", [1, 4, 5], 2),
        (["n"], "none", [4], 2),
    ],
)
def test_which_rows_stay_and_in_which_order(
    context: ToolContext,
    write_rows: WriteRows,
    read_rows: ReadRows,
    subset: list[str] | None,
    keep: Any,
    expected: list[int],
    groups: int,
) -> None:
    name = write_rows("t.csv", ["k", "n", "w"], ROWS)
    found = run(context, Arguments(path=name, subset=subset, keep=keep))
    text = [["" if cell is None else str(cell) for cell in ROWS[index]] for index in expected]
    assert read_rows(found.artifacts[0].path) == [["k", "n", "w"], *text]
    assert (
        found.results
        | {
            "rows_before": 6,
            "rows_after": len(expected),
            "removed": 6 - len(expected),
            "groups": groups,
        }
        == found.results
    )


def test_a_table_without_duplicates_is_written_all_the_same(context: ToolContext, write_rows: WriteRows) -> None:
    found = run(context, Arguments(path=write_rows("t.csv", ["k"], [["a"], ["b"]])))
    assert (found.results["removed"], found.results["groups"]) == (0, 0)
    assert (context.workspace / found.artifacts[0].path).is_file()
    assert found.artifacts[0].path.startswith("results/t_remove_duplicates_")


def test_an_unknown_column_is_named(context: ToolContext, write_rows: WriteRows) -> None:
    with pytest.raises(ArgumentError, match=r"subset: t\.csv has no column 'key'"):
        run(context, Arguments(path=write_rows("t.csv", ["k"], [["a"]]), subset=["key"]))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 2)), min_size=1, max_size=12))
def test_as_many_rows_stay_as_there_are_distinct_ones(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows, rows: list[tuple[str, int]]
) -> None:
    found = run(context, Arguments(path=write_rows("h.csv", ["a", "b"], rows)))
    kept = read_rows(found.artifacts[0].path)[1:]
    assert kept == [[a, str(b)] for a, b in dict.fromkeys(rows)]
    assert found.results["groups"] == sum(rows.count(row) > 1 for row in set(rows))


def test_how_many_rows_there_were_and_are_can_be_computed_again(context: ToolContext, write_rows: WriteRows) -> None:
    claims = run(context, Arguments(path=write_rows("rows.csv", ["k", "n", "w"], ROWS))).claims
    assert [claim.value for claim in claims] == [6, 4]
    assert verify_claims.run(context, verify_claims.Arguments(claims=claims)).results["verified"] == 2
