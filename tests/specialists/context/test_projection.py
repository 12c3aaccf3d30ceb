"""What stays of a stale result: its files and rows, the tool's own named fields, and never rows. Every tool's own
results are held to it in `test_every_tool.py`."""

from __future__ import annotations

from typing import Any

from outcrop_schemas import limits, wire
from outcrop_specialists.context.facts import facts_of_result
from outcrop_specialists.context.projection import projected
from outcrop_specialists.tools.registry import projection_of

RESULT: dict[str, Any] = {
    "summary": "compared",
    "results": {
        "by_group": {f"group {n}": {"n": n, "mean": n / 7} for n in range(400)},
        "rows": 1_234,
        "test": {"p": 0.25},
        "head": [["S1", 0.5], ["S2", 0.7]],
        "rule": "Welch",
    },
    "artifacts": [{"path": "results/a_compare.csv", "kind": "table", "rows": 400}],
    "notes": ["a cell was MARK"],
}


def told(value: Any, *names: str) -> list[str]:
    found = projected(wire.dumps(value).decode(), names)
    assert found is not None
    return found


def test_files_and_rows_stand_first_and_a_named_field_before_what_else_there_is() -> None:
    plain, named = told(RESULT), told(RESULT, "test")
    assert plain[:3] == ["artifacts[0].path = results/a_compare.csv", "artifacts[0].rows = 400", "summary = compared"]
    assert "results.rows = 1234" in plain
    assert "results.rule = Welch" in plain
    assert "results.test.p = 0.25" not in plain
    assert "results.test.p = 0.25" in named
    assert named.index("results.test.p = 0.25") < named.index("results.head = 2 rows")
    assert not any("MARK" in line or "S1" in line for line in named)


def test_an_outcome_that_the_lead_was_given_keeps_who_did_what_and_where_it_lies() -> None:
    found = told({"dispatch_id": "d0001-ab", "status": "partial", "summary": "s", "errors": ["no column"], **RESULT})
    assert {"dispatch_id = d0001-ab", "status = partial", 'errors = ["no column"]'} <= set(found)


def test_what_is_no_result_of_ours_has_no_named_fields() -> None:
    for content in ("text", "[1,2]", '{"mean": 4.125}', "not json {"):
        assert projected(content) is None


def test_a_file_is_a_fact_of_a_result_however_many_others_there_are() -> None:
    groups = {f"group {n}": {"n": n, "mean": n / 7} for n in range(limits.FACTS_OF_A_RESULT)}
    found = facts_of_result(wire.dumps({**RESULT, "results": {"by_group": groups}}).decode())
    assert len(found) <= limits.FACTS_OF_A_RESULT + 3
    assert "artifacts[0].path = results/a_compare.csv" in found


def test_most_tools_need_no_names_of_their_own() -> None:
    assert projection_of("compare_groups") == ("greatest_difference", "test")
    assert projection_of("summarize") == projection_of("no_such_tool") == ()
    assert limits.STALE_FACTS_CHARS < limits.STALE_RESULT_CHARS
