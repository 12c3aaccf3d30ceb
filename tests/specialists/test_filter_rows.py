"""Conditions on a column, and the tool that keeps the rows that meet one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.cleaning.filter_rows import Arguments, run
from outcrop_specialists.tools.inspection.conditions import rows_that_meet

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
    assert any(note.startswith("2 rows differ only in case or outer blanks") for note in found.notes)
    assert not any("Shale" in note for note in found.notes)


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


@pytest.mark.parametrize(
    ("operator", "value", "kept"),
    [
        (">", 0.1, ["0.5", "10"]),
        ("<", 0.007, ["0.01"]),
        ("==", "<0.01", ["0.01"]),
        ("contains", "<", ["0.01", ""]),
        ("is_null", None, [""]),
        ("!=", 0.5, ["0.01", "10", "", ""]),
    ],
)
def test_results_below_a_limit_compare_as_half_of_it_or_as_they_are_written(
    context: ToolContext, write_rows: Callable[..., str], operator: str, value: Any, kept: list[str]
) -> None:
    name = write_rows("c.csv", ["id", "Au"], [[1, "<0.01"], [2, "0.5"], [3, ">10"], [4, "bdl"], [5, ""]])
    found = run(context, Arguments.model_validate({"path": name, "column": "Au", "operator": operator, "value": value}))
    table = read_table(context, found.artifacts[0].path)
    assert [f"{value:g}" if value is not None else "" for value in table.frame["Au"]] == kept
    assert dict(table.qualifiers) == {"Au": "Au_q"}
    if operator in (">", "<", "!="):
        assert any("half the limit (DL/2) used below" in note for note in found.notes)


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


def keep_rows(context: ToolContext, name: str, **arguments: Any) -> ToolResult:
    return run(context, Arguments.model_validate({"path": name, **arguments}))


@pytest.mark.parametrize(
    ("operator", "value", "kept", "fate"),
    [
        (">", 1, [1, 4], "kept"),
        ("!=", 2, [2], "left out"),
        ("in", [2, 10], [1, 4], "kept"),
        ("is_null", None, [1, 2, 3], ""),
    ],
)
def test_others_are_all_rows_that_do_not_meet_the_condition(
    context: ToolContext,
    write_rows: Callable[..., str],
    read_rows: Callable[[str], list[list[str]]],
    operator: str,
    value: Any,
    kept: list[int],
    fate: str,
) -> None:
    name = write_rows("t.csv", HEADER, ROWS)
    found = keep_rows(context, name, column="v", operator=operator, value=value, keep="others")
    assert [int(row[0]) for row in read_rows(found.artifacts[0].path)[1:]] == kept
    assert found.results["removed"] == 4 - len(kept)
    assert not fate or f"1 rows with a missing 'v' are {fate}" in found.notes
    assert f"{4 - len(kept)} of 4 rows" in found.summary


@pytest.mark.parametrize("value", [[2, 1], ["2", "1"]])
def test_between_with_the_greater_value_first_is_refused(keep: Keep, value: list[Any]) -> None:
    with pytest.raises(ArgumentError, match="the lower value first"):
        keep("v", "between", value)
    with pytest.raises(ArgumentError, match="the lower value first"):
        keep("day", "between", ["2021-01-01", "2020-01-01"])


def test_numbers_that_nearly_equal_are_counted_and_can_be_selected(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    values = [float(np.float32(0.1))] * 112 + [0.1, 0.2, 0.100001]
    name = write_rows("f.csv", ["id", "v"], [[i, value] for i, value in enumerate(values)])
    found = keep_rows(context, name, column="v", operator="==", value=0.1)
    assert found.results["rows_after"] == 1
    (note,) = (note for note in found.notes if "millionth" in note)
    assert note.startswith("112 values of 'v'")
    low, high = map(float, note[note.index("[") + 1 : note.index("]")].split(", "))
    assert keep_rows(context, name, column="v", operator="between", value=[low, high]).results["rows_after"] == 113


@pytest.mark.parametrize("kind", ["UInt8", "UInt64", "Int8", "Int64"])
@pytest.mark.parametrize("value", [-1, 300, 10**30, -(10**30), 3, 2.5])
@pytest.mark.parametrize("operator", ["==", "!=", ">", "<", ">=", "<=", "in", "not_in", "between"])
def test_integers_of_any_width_are_compared_as_python_compares_them(
    context: ToolContext, kind: str, value: float, operator: str
) -> None:
    numbers = [0, 3, 100]
    pl.DataFrame({"v": numbers}, schema={"v": getattr(pl, kind)}).write_parquet(context.workspace / "u.parquet")
    given: Any = [value] if operator in ("in", "not_in") else [value, value] if operator == "between" else value
    expected = {
        "==": lambda v: v == value,
        "!=": lambda v: v != value,
        ">": lambda v: v > value,
        "<": lambda v: v < value,
        ">=": lambda v: v >= value,
        "<=": lambda v: v <= value,
        "in": lambda v: v == value,
        "not_in": lambda v: v != value,
        "between": lambda v: v == value,
    }[operator]
    table = read_table(context, "u.parquet")
    assert rows_that_meet(table, "v", operator, given)[0].to_list() == [expected(v) for v in numbers]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_times_are_compared_in_their_zone(context: ToolContext, zone: str | None) -> None:
    hours = pl.Series("t", [datetime(2020, 7, 1, hour) for hour in (10, 11, 12)]).dt.replace_time_zone(zone)
    hours.to_frame().write_parquet(context.workspace / "t.parquet")
    table = read_table(context, "t.parquet")

    def meets(operator: Any, value: Any) -> list[bool]:
        return rows_that_meet(table, "t", operator, value)[0].to_list()

    assert meets(">", "2020-07-01T11:00") == [False, False, True]
    assert meets("==", "2020-07-01 11:00:00") == [False, True, False]
    assert meets("in", ["2020-07-01T10:00", "2020-07-01T12:00"]) == [True, False, True]
    assert meets("<", "2020-07-01") == [False] * 3
    assert meets("between", ["2020-07-01", "2020-07-02"]) == [True] * 3
    if zone is None:
        with pytest.raises(ArgumentError, match="without a zone"):
            meets("==", "2020-07-01T10:00Z")
    else:
        offset = 2 if zone == "Europe/Berlin" else 0
        assert meets("==", f"2020-07-01T{11 - offset:02}:00Z") == [False, True, False]


def test_times_of_day_are_not_compared(context: ToolContext) -> None:
    pl.DataFrame({"t": [time(1), time(2)]}).write_parquet(context.workspace / "t.parquet")
    for operator, value in (("==", "01:00"), (">", "01:00"), ("in", ["01:00"]), ("between", ["01:00", "02:00"])):
        with pytest.raises(ArgumentError, match="cannot be compared"):
            keep_rows(context, "t.parquet", column="t", operator=operator, value=value)
