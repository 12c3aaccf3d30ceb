"""What holds for all tools that make columns and tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError, OutcropError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

BOTH = {"cleaning", "analytics"}
CALLS: dict[str, dict[str, Any]] = {
    "derive_column": {"name": "twice", "expression": "v * 2"},
    "select_columns": {"columns": ["v"]},
    "normalize": {"columns": ["v"]},
    "standardize": {"columns": ["v"]},
    "log_transform": {"columns": ["v"]},
    "smooth": {"columns": ["v"], "window": 3},
    "compute_ratios": {"pairs": ["v/w"]},
    "threshold": {"column": "v", "value": 1},
    "rank_by_metric": {"column": "v", "n": 2},
    "bin_column": {"column": "v", "bins": 2},
    "aggregate": {"by": ["rock"]},
    "pivot": {"index": ["id"], "columns": "rock", "values": ["v"]},
    "melt": {"id_columns": ["id"], "value_columns": ["v", "w"]},
    "merge_datasets": {"right_path": "r.csv", "on": ["id"]},
    "convert_types": {"columns": ["v"], "to": "text"},
    "replace_values": {"values": [-1]},
    "fix_decimals": {"columns": ["comma"]},
}
CLEANING = ("convert_types", "replace_values", "fix_decimals")
ANALYTICS = ("compute_ratios", "rank_by_metric")
# The argument in which an unknown column is named, and how.
WRONG: dict[str, tuple[str, Any]] = {
    "derive_column": ("expression", "`rocks` + 1"),
    "compute_ratios": ("pairs", ["rocks/v"]),
    "aggregate": ("by", ["rocks"]),
    "pivot": ("columns", "rocks"),
    "melt": ("id_columns", ["rocks"]),
    "merge_datasets": ("on", ["rocks"]),
    "replace_values": ("columns", ["rocks"]),
}
TEXT = 'id,rock,v,w,comma\na,Shale,1.5,2,"1,5"\nb,sand,2.5,0,"2,25"\nc,sand,-1,4,3\n'


@pytest.fixture
def path(write_file: Callable[[str, str], str]) -> str:
    write_file("r.csv", "id,more\na,1\nb,2\nd,3\n")
    return write_file("t.csv", TEXT)


@pytest.mark.parametrize("name", [*CALLS, "stack_tables"])
def test_each_tool_has_a_card_and_a_schema_with_descriptions(name: str) -> None:
    tool = get_tool(name)
    assert tool.specialists == BOTH - (
        {"analytics"} if name in CLEANING else {"cleaning"} if name in ANALYTICS else set()
    )
    assert all("description" in field for field in tool.schema().input_schema["properties"].values())
    assert len(tool.card) < 1000


@pytest.mark.parametrize("name", CALLS)
def test_the_same_work_gives_the_same_bytes_and_never_touches_the_input(
    context: ToolContext, run: Callable[..., ToolResult], path: str, name: str
) -> None:
    first = run(name, path=path, **CALLS[name])
    written = (context.workspace / first.results["path"]).read_bytes()
    again = run(name, path=path, **CALLS[name])
    assert again.artifacts == first.artifacts
    assert first.results["path"].startswith(f"results/t_{name}_")
    (context.workspace / first.results["path"]).unlink()
    assert run(name, path=path, **CALLS[name]).results["path"] == first.results["path"]
    assert (context.workspace / first.results["path"]).read_bytes() == written
    assert (context.workspace / path).read_text() == TEXT


@pytest.mark.parametrize("name", CALLS)
def test_a_missing_file_and_an_unknown_column_are_refused(run: Callable[..., ToolResult], path: str, name: str) -> None:
    with pytest.raises(OutcropError, match="does not exist"):
        run(name, **{**CALLS[name], "path": "no.csv"})
    fields = get_tool(name).arguments.model_fields
    field, wrong = WRONG.get(name) or (("column", "rocks") if "column" in fields else ("columns", ["rocks"]))
    with pytest.raises(ArgumentError, match="'rocks'; closest: 'rock'") as caught:
        run(name, **{**CALLS[name], "path": path, field: wrong})
    assert caught.value.field == field


@pytest.mark.parametrize("name", sorted({*CALLS} - {"derive_column", "compute_ratios"}))
def test_text_is_not_taken_for_numbers(run: Callable[..., ToolResult], path: str, name: str) -> None:
    fields = get_tool(name).arguments.model_fields
    if name in ("select_columns", "pivot", "melt", "merge_datasets", "convert_types", "replace_values", "fix_decimals"):
        return
    field = "column" if "column" in fields else "columns"
    with pytest.raises(ArgumentError, match="not numbers") as caught:
        run(name, **{**CALLS[name], "path": path, field: "rock" if field == "column" else ["rock"]})
    assert caught.value.field == field


WIDE: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "derive_column": lambda names: {
        "derived": [
            {"name": f"a new column with a long name {i}", "expression": f"`{name}` + 1"}
            for i, name in enumerate(names[:50])
        ]
    },
    "select_columns": lambda names: {"columns": names[5:]},
    "normalize": lambda names: {"columns": names},
    "standardize": lambda names: {"columns": names},
    "log_transform": lambda names: {"columns": names},
    "smooth": lambda names: {"columns": names[:300], "window": 3, "by": ["hole"]},
    "compute_ratios": lambda names: {"pairs": [f"{a}/{b}" for a, b in pairwise(names[:400])]},
    "threshold": lambda names: {"column": names[0], "value": 0.5},
    "rank_by_metric": lambda names: {"expression": " + ".join(f"`{name}`" for name in names[:20]), "n": 30},
    "bin_column": lambda names: {"column": names[0], "bins": 50},
    "aggregate": lambda names: {"columns": names, "by": ["hole"]},
    "pivot": lambda names: {"index": [names[0]], "columns": "hole", "values": [names[1]]},
    "melt": lambda names: {"id_columns": ["hole"], "value_columns": names},
    "merge_datasets": lambda names: {"right_path": "wide.parquet", "on": ["hole"]},
    "stack_tables": lambda names: {},
    "convert_types": lambda names: {"columns": names, "to": "text"},
    "replace_values": lambda names: {"values": [0.5], "columns": names},
}


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_table_with_many_groups_gives_a_short_answer(
    context: ToolContext, run: Callable[..., ToolResult], name: str
) -> None:
    names = [f"element {number} in ppm by method XYZ" for number in range(2000)]
    rows = 60
    frame = pl.DataFrame(
        {
            "hole": [f"hole with a rather long name {row}" for row in range(rows)],
            **{each: [0.5 if row == at % rows else row - 3.25 for row in range(rows)] for at, each in enumerate(names)},
        }
    )
    frame.write_parquet(context.workspace / "wide.parquet")
    arguments = WIDE[name](names)
    if name == "stack_tables":
        (context.workspace / "other.parquet").write_bytes((context.workspace / "wide.parquet").read_bytes())
        arguments = {"paths": ["wide.parquet", "other.parquet"]}
    else:
        arguments["path"] = "wide.parquet"
    assert len(wire.dumps(run(name, **arguments).as_json())) <= 1250


def test_importing_the_tools_imports_no_data_library() -> None:
    modules = ", ".join(get_tool(name).run.__module__ for name in [*CALLS, "stack_tables"])
    heavy = "{'polars', 'numpy', 'rapidfuzz', 'regex', 'sklearn', 'scipy'}"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
