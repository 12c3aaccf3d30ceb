"""The tool that describes a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas import limits
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.inspection.inspect_dataset import Arguments, run
from outcrop_specialists.tools.registry import get_tool


def test_every_column_is_described_and_no_text_of_a_row_is_shown(
    context: ToolContext, write_file: Callable[[str, str], str]
) -> None:
    name = write_file("a.csv", "SampleID,Longitude,Au_ppm\ns1,10.5,<0.01\ns2,-20,0.5\ns3,NA,0.7\n")
    found = run(context, Arguments(path=name))
    assert found.results["rows"] == 3
    assert found.results["more_columns"] == 0
    assert [(c["name"], c["type"], c["role"], c["unit"]) for c in found.results["columns"]] == [
        ("SampleID", "text", "sample_id", None),
        ("Longitude", "number", "longitude", None),
        ("Au_ppm", "number", "element", "ppm"),
    ]
    assert found.results["columns"][1] | {"missing": 1, "min": -20.0, "max": 10.5} == found.results["columns"][1]
    gold = found.results["columns"][2]
    assert (gold["censored"], gold["qualifier"], gold["min"], gold["max"]) == (1, "Au_ppm_q", 0.005, 0.7)
    assert "qualifier" not in found.results["columns"][1]
    assert "1 result in 1 column is beyond a limit" in found.summary
    assert any("read as missing: 'Longitude' (1 × NA)" in note for note in found.notes)
    assert "s1" not in json.dumps(found.as_json())


def inspect(context: ToolContext, **arguments: Any) -> ToolResult:
    return run_tool(get_tool("inspect_dataset"), context, arguments)


@pytest.mark.parametrize("width", [limits.SMALL_TABLE_COLUMNS, limits.SMALL_TABLE_COLUMNS + 1])
def test_a_small_table_is_told_whole_and_a_wide_one_page_by_page(
    context: ToolContext, write_rows: Callable[..., str], width: int
) -> None:
    names = [f"column number {i}" for i in range(width)]
    name = write_rows("w.csv", names, [range(width)] * 2)
    told: list[str] = []
    answers = 0
    while len(told) < width:
        found = inspect(context, path=name, offset=len(told))
        told += [column["name"] for column in found.results["columns"]]
        rest = found.results["not_shown"].get("columns", 0) if "not_shown" in found.results else 0
        assert len(told) + rest == width
        answers += 1
    assert told == names
    assert (answers == 1) == (width <= limits.SMALL_TABLE_COLUMNS)


def test_of_a_wide_table_the_columns_that_a_question_names_come_first(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    names = [f"c{i}" for i in range(300)] + ["Au_ppm", "Rock type", "Y"]
    name = write_rows("w.csv", names, [range(303)] * 3)
    found = inspect(context, path=name, named_in="what is the mean Au by rock type, and why?")
    assert [column["name"] for column in found.results["columns"][:3]] == ["Au_ppm", "Rock type", "c0"]
    assert (found.results["rows"], found.results["column_count"]) == (3, 303)
    assert found.results["reading"]["types"] == {"integer": 303}
    only = inspect(context, path=name, columns=["Rock type"])
    assert [(each["name"], each["min"]) for each in only.results["columns"]] == [("Rock type", 301)]


def test_the_whole_answer_on_a_wide_table_is_in_a_file(context: ToolContext, write_rows: Callable[..., str]) -> None:
    name = write_rows("w.csv", [f"c{i}" for i in range(300)], [range(300)] * 2)
    found = inspect(context, path=name)
    (report,) = found.artifacts
    whole = json.loads((context.workspace / report.path).read_bytes())
    assert [column["name"] for column in whole["results"]["columns"]] == [f"c{i}" for i in range(300)]
    assert found.results["columns"] == whole["results"]["columns"][: len(found.results["columns"])]
    assert inspect(context, path=name).as_json() == found.as_json()


def test_all_names_of_a_wide_table_are_had_in_a_few_answers(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    names = ["Hole", *(f"c{i}" for i in range(300)), "Au_ppm", "Rock"]
    name = write_rows("w.csv", names, [["H1", *range(300), 0.5 + n, "AB"[n % 2]] for n in range(6)])
    told: list[tuple[str, str]] = []
    offset, answers = 0, 0
    while offset is not None:
        found = inspect(context, path=name, names_only=True, offset=offset)
        assert len(json.dumps(found.as_json())) <= limits.ANSWER_CHARS
        told += [(each, kind) for kind, listed in found.results["columns"].items() for each in listed]
        offset, answers = found.results.get("next_offset"), answers + 1
    assert sorted(each for each, _ in told) == sorted(names)
    assert dict(told)["Au_ppm"] == "number element"
    assert dict(told)["Hole"] == "text hole_id"
    assert answers <= 4
