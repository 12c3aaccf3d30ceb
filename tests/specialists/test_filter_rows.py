"""Conditions on a column, and the tool that keeps the rows that meet one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.filter_rows import Arguments, run

Keep = Callable[..., tuple[list[int], ToolResult]]
HEADER = ["id", "rock", "v", "day", "ok", "hole"]
ROWS: list[list[Any]] = [
    [1, "Shale", 0.5, "2020-01-01", "true", "34873"],
    [2, "shale ", 2.0, "2020-06-30", "false", "007"],
    [3, "Kalkstraße", 10.0, "", "true", "A1"],
    [4, "", "", "2021-01-01", "", "34874"],
]


@pytest.fixture
def keep(context: ToolContext, write_rows: Callable[..., str], read_rows: Callable[[str], list[list[str]]]) -> Keep:
    name = write_rows("t.csv", HEADER, ROWS)

    def ids(column: str, operator: str, value: Any = None) -> tuple[list[int], ToolResult]:
        arguments = {"path": name, "column": column, "operator": operator, "value": value}
        found = run(context, Arguments.model_validate(arguments))
        rows = read_rows(found.artifacts[0].path)
        assert rows[0] == HEADER
        assert (found.results["rows_before"], found.results["rows_after"]) == (4, len(rows) - 1)
        assert found.results["removed"] == 4 - len(rows) + 1
        return [int(row[0]) for row in rows[1:]], found

    return ids


@pytest.mark.parametrize(
    ("column", "operator", "value", "expected"),
    [
        ("v", ">", 2, [3]),
        ("v", ">=", 2, [2, 3]),
        ("v", "<", "10", [1, 2]),
        ("v", "<=", 0.5, [1]),
        ("v", "==", 2, [2]),
        ("v", "!=", 2, [1, 3, 4]),
        ("v", "between", [0.5, 2], [1, 2]),
        ("v", "in", [0.5, 10], [1, 3]),
        ("v", "not_in", [0.5], [2, 3, 4]),
        ("v", "is_null", None, [4]),
        ("v", "not_null", None, [1, 2, 3]),
        ("ID", "==", 3.0, [3]),
        ("rock", "==", "Shale", [1]),
        ("rock", "contains", "SHALE", [1, 2]),
        ("rock", "contains", "STRASSE", [3]),
        ("rock", "in", ["Shale", "shale "], [1, 2]),
        ("hole", "==", 34873, [1]),
        ("hole", "==", 7, []),
        ("hole", "in", ["007", 34874.0], [2, 4]),
        ("day", ">", "2020-01-01", [2, 4]),
        ("day", "==", "2020-06-30", [2]),
        ("day", "between", ["2020-01-01", "2020-12-31"], [1, 2]),
        ("ok", "==", True, [1, 3]),
        ("ok", "==", "false", [2]),
    ],
)
def test_the_rows_that_meet_the_condition_are_kept(
    keep: Keep, column: str, operator: str, value: Any, expected: list[int]
) -> None:
    assert keep(column, operator, value)[0] == expected


@pytest.mark.parametrize(
    ("column", "operator", "value", "field", "reason"),
    [
        ("rock", ">", 5, "column", "not numbers"),
        ("rock", ">", "B", "column", "not numbers"),
        ("v", ">", "many", "value", "'many' is not one"),
        ("v", "==", True, "value", "True is not one"),
        ("v", "contains", "5", "operator", "needs a text column"),
        ("rock", "contains", "", "value", "the text to look for"),
        ("v", "between", [1], "value", "two values"),
        ("v", ">", [1], "value", "needs one value"),
        ("v", ">", None, "value", "needs one value"),
        ("v", "in", None, "value", "a list"),
        ("v", "is_null", 5, "value", "takes no value"),
        ("day", ">", "30.06.2020", "value", "YYYY-MM-DD"),
        ("ok", "==", "perhaps", "value", "neither"),
        ("volume", ">", 1, "column", "closest: 'v'|it has"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused(
    keep: Keep, column: str, operator: str, value: Any, field: str, reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason) as caught:
        keep(column, operator, value)
    assert caught.value.field == field


def test_what_happens_to_missing_values_is_said(keep: Keep) -> None:
    assert "1 rows with a missing 'v' are left out" in keep("v", ">", 0)[1].notes
    assert "1 rows with a missing 'v' are kept" in keep("v", "!=", 0)[1].notes


def test_spellings_that_nearly_match_are_pointed_out(keep: Keep) -> None:
    found = keep("rock", "==", "shale")[1]
    assert any(note.startswith("2 rows differ only in case or outer blanks (such as 'Shale')") for note in found.notes)


def test_nothing_left_is_a_table_without_rows_and_a_note(keep: Keep) -> None:
    ids, found = keep("v", ">", 1e9)
    assert ids == []
    assert any("no row meets the condition" in note for note in found.notes)


def test_whole_numbers_beyond_float_precision_are_told_apart(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    name = write_rows("b.csv", ["id"], [[2**53], [2**53 + 1]])
    for operator, value in (("==", 2**53 + 1), (">", 2**53), ("==", str(2**53 + 1))):
        found = run(
            context, Arguments.model_validate({"path": name, "column": "id", "operator": operator, "value": value})
        )
        assert found.results["rows_after"] == 1


def test_results_beyond_a_limit_are_not_compared(context: ToolContext, write_rows: Callable[..., str]) -> None:
    name = write_rows("c.csv", ["Au"], [["<0.01"], ["0.5"], ["0.7"]])
    with pytest.raises(ArgumentError, match="parse_detection_limits makes it numeric"):
        run(context, Arguments(path=name, column="Au", operator=">", value=0.1))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.integers(-50, 50) | st.none(), min_size=1, max_size=12),
    operator=st.sampled_from([">", "<", ">=", "<=", "==", "!="]),
    limit=st.integers(-50, 50),
)
def test_numbers_are_compared_as_python_compares_them(
    context: ToolContext, write_rows: Callable[..., str], values: list[int | None], operator: str, limit: int
) -> None:
    name = write_rows("h.csv", ["k", "v"], [["k", 0], *(["k", value] for value in values)])
    found = run(context, Arguments.model_validate({"path": name, "column": "v", "operator": operator, "value": limit}))
    meets = {
        ">": int.__gt__,
        "<": int.__lt__,
        ">=": int.__ge__,
        "<=": int.__le__,
        "==": int.__eq__,
        "!=": int.__ne__,
    }[operator]
    expected = sum(meets(value, limit) if value is not None else operator == "!=" for value in [0, *values])
    assert found.results["rows_after"] == expected
