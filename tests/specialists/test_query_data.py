"""Looking into a table: bounded rows, exact counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.query_data import Arguments, run

Ask = Callable[..., dict[str, Any]]
ROWS = [[i, "ab"[i % 3 == 0], None if i == 5 else i / 7] for i in range(1, 1235)]


@pytest.fixture
def ask(context: ToolContext, write_rows: Callable[..., str]) -> Ask:
    name = write_rows("t.csv", ["id", "g", "v"], ROWS)
    return lambda **arguments: run(context, Arguments.model_validate({"path": name, **arguments})).as_json()


def test_head_and_tail_show_the_ends_in_order(ask: Ask) -> None:
    assert ask(operation="head", n=2)["results"]["rows"] == ROWS[:2]
    assert ask(operation="tail", n=2, columns=["v", "id"])["results"]["rows"] == [[r[2], r[0]] for r in ROWS[-2:]]


@pytest.mark.parametrize("operation", ["head", "tail", "sample"])
def test_no_more_than_20_rows_are_ever_shown_and_the_true_count_is_given(ask: Ask, operation: str) -> None:
    found = ask(operation=operation, n=100_000)
    assert len(found["results"]["rows"]) == 20
    assert found["results"]["columns"] == ["id", "g", "v"]
    assert "1234 of 1234 rows looked at" in found["summary"]
    assert "100000 were asked for; at most 20 are ever shown" in found["notes"]


def test_a_sample_is_the_same_for_the_same_seed(ask: Ask) -> None:
    first, again, other = (ask(operation="sample", n=10, seed=seed)["results"]["rows"] for seed in (1, 1, 2))
    assert first == again != other
    assert all(row in ROWS for row in first)


def test_values_are_counted_over_all_rows(ask: Ask) -> None:
    found = ask(operation="value_counts", columns=["g"])["results"]
    assert found["values"] == [{"value": "a", "count": 823}, {"value": "b", "count": 411}]
    assert (found["distinct"], found["missing"]) == (2, 0)
    many = ask(operation="value_counts", columns=["v"], n=50)["results"]
    assert (len(many["values"]), many["distinct"], many["missing"]) == (20, 1233, 1)
    assert many["more_values"] == many["rows_with_more_values"] == 1213
    assert len(ask(operation="value_counts", columns=["v"])["results"]["values"]) == 20
    assert "more_values" not in found


@pytest.mark.parametrize("operation", ["head", "tail", "sample"])
def test_the_rows_are_also_in_a_file_all_that_were_asked_for(
    ask: Ask, read_rows: Callable[[str], list[list[str]]], operation: str
) -> None:
    found = ask(operation=operation, n=30, columns=["id", "g"])
    (artifact,) = found["artifacts"]
    header, *rows = read_rows(artifact["path"])
    assert artifact["path"] == found["results"]["file"]
    assert (header, len(rows), found["results"]["n_rows"]) == (["id", "g"], 30, 30)
    assert [[int(i), g] for i, g in rows[:20]] == found["results"]["rows"]
    assert "artifacts" not in ask(operation="describe")


def test_no_rows_are_no_file(ask: Ask) -> None:
    found = ask(operation="head", filter_column="id", operator=">", value=5000)
    assert (found["results"]["rows"], found["results"]["file"]) == ([], None)
    assert "artifacts" not in found


def test_figures_equal_numpy(ask: Ask) -> None:
    (found,) = ask(operation="describe", columns=["v"])["results"]["columns"]
    values = np.array([row[2] for row in ROWS if row[2] is not None])
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    expected = {"mean": values.mean(), "sd": values.std(ddof=1), "q1": q1, "median": median, "q3": q3}
    assert (found["name"], found["n"], found["missing"]) == ("v", 1233, 1)
    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-12)


def test_describe_leaves_text_out_unless_it_is_asked_for(ask: Ask) -> None:
    found = ask(operation="describe")
    assert [column["name"] for column in found["results"]["columns"]] == ["id", "v"]
    assert "1 columns that are not numeric are left out" in found["notes"]
    with pytest.raises(ArgumentError, match="not numbers"):
        ask(operation="describe", columns=["g"])


def test_rows_that_meet_a_condition_are_counted(ask: Ask) -> None:
    found = ask(operation="filter_count", filter_column="g", operator="==", value="b")["results"]
    assert found == {"path": "t.csv", "rows": 1234, "rows_that_meet": 411}
    shown = ask(operation="head", n=1, filter_column="id", operator=">", value=1000)["results"]
    assert (shown["rows"][0][0], shown["rows_that_meet"]) == (1001, 234)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"operation": "filter_count"}, "filter_column"),
        ({"operation": "head", "filter_column": "g"}, "operator"),
        ({"operation": "value_counts"}, "columns"),
        ({"operation": "value_counts", "columns": ["g", "v"]}, "columns"),
        ({"operation": "head", "columns": ["gg"]}, "columns"),
        ({"operation": "filter_count", "filter_column": "no", "operator": "==", "value": 1}, "filter_column"),
    ],
)
def test_what_is_missing_or_wrong_is_named_by_field(ask: Ask, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ask(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize("n", [-1, 0])
def test_a_negative_number_of_rows_is_refused(ask: Ask, n: int) -> None:
    with pytest.raises(ValidationError):
        ask(operation="head", n=n)
