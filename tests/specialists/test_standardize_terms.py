"""The tool that gives terms one spelling each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.cleaning.standardize_terms import Arguments, run, standardize

TERMS = ["RC", " rc", "RC", "Dd", "DD", "dd  core", "DD core", None, "RAB"]
Run = Callable[..., tuple[list[str], ToolResult]]


@pytest.fixture
def of_terms(context: ToolContext, write_rows: Callable[..., str], read_rows: Callable[[str], list[list[str]]]) -> Run:
    name = write_rows("t.csv", ["i", "type"], list(enumerate(TERMS)))

    def terms(**arguments: Any) -> tuple[list[str], ToolResult]:
        found = run(context, Arguments.model_validate({"path": name, "column": "type", **arguments}))
        rows = read_rows(found.artifacts[0].path)
        assert [row[0] for row in rows] == ["i", *map(str, range(len(TERMS)))]
        return [row[1] for row in rows[1:]], found

    return terms


def test_blanks_go_and_spellings_become_the_commonest_or_the_first(of_terms: Run) -> None:
    terms, found = of_terms()
    assert terms == ["RC", "RC", "RC", "Dd", "Dd", "dd core", "dd core", "", "RAB"]
    assert found.results | {"changed": 4, "distinct_before": 7, "distinct_after": 4} == found.results
    assert found.results["merged"] == {"RC": [" rc"], "Dd": ["DD"], "dd core": ["dd  core", "DD core"]}


@pytest.mark.parametrize(
    ("case", "expected"),
    [("lower", ["rc", "dd", "dd core"]), ("upper", ["RC", "DD", "DD CORE"]), ("title", ["Rc", "Dd", "Dd Core"])],
)
def test_case_is_changed_if_asked_for(of_terms: Run, case: str, expected: list[str]) -> None:
    terms, _ = of_terms(case=case)
    assert [terms[0], terms[3], terms[5]] == expected


def test_a_mapping_applies_whatever_the_case_and_says_what_it_missed(of_terms: Run) -> None:
    terms, found = of_terms(mapping={"rc": "reverse circulation", "Dd  ": "diamond", "XX": "y"}, case="upper")
    assert terms == ["reverse circulation"] * 3 + ["diamond"] * 2 + ["DD CORE"] * 2 + ["", "RAB"]
    assert "not found in 'type': 'XX'" in found.notes


def test_terms_that_differ_in_more_than_case_and_blanks_stay_apart() -> None:
    terms = [("Forrestania", 3), ("FORRESTANIA", 1), ("Forestania", 1), ("404", 1)]
    assert set(standardize(terms, "keep", {}).final.values()) == {"Forrestania", "Forestania", "404"}


def test_the_answer_shows_at_most_20_merged_terms(context: ToolContext, write_rows: Callable[..., str]) -> None:
    rows = [[f"{spelling} {i}"] for i in range(30) for spelling in ("a", "a", "A")]
    found = run(context, Arguments(path=write_rows("m.csv", ["t"], rows), column="t"))
    assert (len(found.results["merged"]), found.results["changed"]) == (20, 30)
    assert "10 more terms were merged" in found.notes


def test_a_column_of_numbers_is_refused(context: ToolContext, write_rows: Callable[..., str]) -> None:
    with pytest.raises(ArgumentError, match="'n' holds Int64 values, not text"):
        run(context, Arguments(path=write_rows("n.csv", ["n"], [[1], [2]]), column="n"))
