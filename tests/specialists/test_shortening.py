"""The rule for answers on wide tables, on results of any shape."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import limits, wire
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.reading.tables import TableRead
from outcrop_specialists.shortening import shortened
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

WIDE = limits.SMALL_TABLE_COLUMNS + 1
FIGURE = 0.1234567890123456
TOOL = get_tool("summarize")


class Arguments(ToolArguments):
    path: str = "wide.csv"


@pytest.fixture
def read(context: ToolContext) -> list[TableRead]:
    path = context.workspace / "wide.csv"
    path.write_text("a\n1\n")
    return [TableRead(path, WIDE, 1)]


def short(context: ToolContext, read: list[TableRead], results: dict[str, Any], **more: Any) -> ToolResult:
    given = ToolResult(**{"summary": "what was found " * 30, "results": results, "notes": [], **more})
    return shortened(TOOL, context, Arguments(), given, read)


def size(found: ToolResult) -> int:
    return len(wire.dumps(found.as_json()).decode())


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, float):
        yield value


SHAPES: dict[str, dict[str, Any]] = {
    "records": {"rows": 5, "columns": [{"name": f"element {n}", "mean": FIGURE + n} for n in range(500)]},
    "mapping of records": {"rows": 5, "columns": {f"element {n}": {"mean": FIGURE + n} for n in range(500)}},
    "mapping of numbers": {"rows": 5, "columns": {f"element {n}": FIGURE + n for n in range(500)}},
    "names": {"columns": [f"element {n}" for n in range(500)]},
    "groups of records": {"columns": {f"e{n}": {f"g{m}": {"mean": FIGURE} for m in range(30)} for n in range(50)}},
    "several lists": {name: [{"n": n, "mean": FIGURE} for n in range(90)] for name in ("high", "low", "left_out")},
    "one long record": {"columns": [{"name": "a", "values": {f"v{n}": n for n in range(900)}}]},
    "a long rule": {"rule": "word " * 900, "columns": [FIGURE] * 900},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_its_shape_an_answer_is_within_the_limit_and_counts_the_rest(
    context: ToolContext, read: list[TableRead], shape: str
) -> None:
    results = SHAPES[shape]
    notes = [f"SUSPECTED {n}: {'many names, ' * 40}" for n in range(20)]
    found = short(context, read, results, notes=notes)
    assert size(found) <= limits.ANSWER_CHARS
    assert list(found.results) == [*results, "not_shown"]
    assert set(numbers(found.results)) <= set(numbers(results)), "figures are whole or not there"
    rest = found.results["not_shown"]
    for name, value in results.items():
        if isinstance(value, list | dict) and shape != "one long record":
            assert found.results[name], f"{name}: the first ones are always told"
            assert len(found.results[name]) + rest.get(name, 0) == len(value)
            assert list(found.results[name]) == list(value)[: len(found.results[name])] or shape == "groups of records"
    assert len(found.notes) + rest.get("notes", 0) == 20
    assert json.loads((context.workspace / found.artifacts[-1].path).read_bytes())["results"] == results


def test_answers_of_random_shapes_are_within_the_limit(context: ToolContext, read: list[TableRead]) -> None:
    source = random.Random(7)

    def value(depth: int) -> Any:
        kind = source.choice("nnsld") if depth else "d"
        match kind:
            case "n":
                return source.random()
            case "s":
                return "x" * source.randint(1, 40)
            case "l":
                return [value(depth + 1) for _ in range(source.randint(0, 12 // depth))]
        return {f"k{n}": value(depth + 1) for n in range(source.randint(1, 12 // (depth + 1)))}

    for _ in range(300):
        results = value(0)
        scalars = {k: v for k, v in results.items() if not isinstance(v, list | dict)}
        found = short(context, read, results, notes=["a note " * source.randint(1, 60)] * source.randint(0, 9))
        assert size(found) <= limits.ANSWER_CHARS
        assert scalars.items() <= found.results.items()


def test_rows_stay_rows_and_paths_stay_whole(context: ToolContext, read: list[TableRead]) -> None:
    row = ["H1", FIGURE, 2.5]
    results = {"rows": [row] * 200, "deepest": row, "path": "results/" + "x" * 150 + ".csv"}
    found = short(context, read, results)
    assert all(each == row for each in found.results["rows"])
    assert (found.results["deepest"], found.results["path"]) == (row, results["path"])
    assert size(found) <= limits.ANSWER_CHARS


def test_small_tables_and_short_answers_are_told_as_they_are(context: ToolContext, read: list[TableRead]) -> None:
    small = [TableRead(read[0].path, WIDE - 1, 1)]
    long = ToolResult("told", SHAPES["records"], notes=["x" * 900] * 3)
    assert shortened(TOOL, context, Arguments(), long, small) is long
    brief = ToolResult("told", {"rows": 1})
    assert shortened(TOOL, context, Arguments(), brief, read) is brief
    claims = get_tool("verify_claims")
    assert shortened(claims, context, Arguments(), long, read) is long


def test_suspicions_are_told_before_what_was_only_found(context: ToolContext, read: list[TableRead]) -> None:
    notes = ["kept as text: " + "x" * 300, "3 rows left out " + "x" * 300, "SUSPECTED totals " + "x" * 300]
    found = short(context, read, SHAPES["records"], notes=notes * 3)
    assert found.notes[0].startswith("SUSPECTED")


def test_where_nothing_can_be_written_the_answer_is_short_all_the_same(
    context: ToolContext, read: list[TableRead], tmp_path: Path
) -> None:
    (context.workspace / "results").symlink_to(tmp_path)
    found = short(context, read, SHAPES["records"], artifacts=[Artifact(path="results/a.csv", kind="table")])
    assert [artifact.path for artifact in found.artifacts] == ["results/a.csv"]
    assert size(found) <= limits.ANSWER_CHARS


def test_a_tool_that_is_told_whole_says_why() -> None:
    from outcrop_specialists.tools.registry import NAMES

    whole: list[Tool] = [tool for name in NAMES if (tool := get_tool(name)).told_whole]
    assert [tool.name for tool in whole] == ["list_files", "verify_claims", "read_file"]
