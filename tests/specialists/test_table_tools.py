"""What holds for all tools that read, look at and clean tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError, OutcropError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

ALL = {"cleaning", "analytics", "plotting"}
SPECIALISTS = {
    "list_files": ALL,
    "inspect_dataset": ALL,
    "check_missing": ALL,
    "query_data": ALL,
    "detect_cleaning_issues": {"cleaning"},
    "parse_detection_limits": {"cleaning"},
    "remove_duplicates": {"cleaning"},
    "standardize_terms": {"cleaning"},
    "filter_rows": {"cleaning", "analytics"},
}
WRITING: dict[str, dict[str, Any]] = {
    "detect_cleaning_issues": {},
    "parse_detection_limits": {},
    "remove_duplicates": {},
    "standardize_terms": {"column": "rock"},
    "filter_rows": {"column": "v", "operator": ">", "value": 1},
}
TEXT = "id,rock,v,Au\na,Shale,1.5,<0.01\nb,shale,2.5,0.5\nb,shale,2.5,0.5\n"


@pytest.mark.parametrize("name", SPECIALISTS)
def test_each_tool_has_a_card_a_schema_and_its_specialists(name: str) -> None:
    tool = get_tool(name)
    assert tool.specialists == SPECIALISTS[name]
    schema = tool.schema()
    assert schema.name == name
    assert all("description" in field for field in schema.input_schema["properties"].values())
    if name != "list_files":
        assert next(iter(schema.input_schema["properties"])) == "path"


@pytest.mark.parametrize("name", WRITING)
def test_the_same_work_gives_the_same_file_and_never_touches_the_input(
    context: ToolContext, write_file: Callable[[str, str], str], name: str
) -> None:
    tool = get_tool(name)
    arguments = tool.arguments.model_validate({"path": write_file("t.csv", TEXT), **WRITING[name]})
    first, again = tool.run(context, arguments), tool.run(context, arguments)
    assert first.artifacts == again.artifacts
    (artifact,) = first.artifacts
    assert artifact.path == first.results["path"]
    assert artifact.path.startswith(f"results/t_{name}_")
    assert (context.workspace / artifact.path).stat().st_size > 0
    assert (context.workspace / "t.csv").read_text() == TEXT
    assert len(wire.dumps(first.as_json())) < 4000


@pytest.mark.parametrize("name", sorted(set(SPECIALISTS) - {"list_files"}))
def test_each_tool_refuses_a_missing_file_and_an_unknown_column(
    context: ToolContext, write_file: Callable[[str, str], str], name: str
) -> None:
    tool = get_tool(name)
    extra = {"operation": "head"} if name == "query_data" else WRITING.get(name, {})
    with pytest.raises(OutcropError, match="does not exist"):
        tool.run(context, tool.arguments.model_validate({"path": "no.csv", **extra}))
    field = next((each for each in ("column", "columns", "subset") if each in tool.arguments.model_fields), None)
    if field is None:
        return
    wrong = "rocks" if field == "column" else ["rocks"]
    arguments = {"path": write_file("t.csv", TEXT), **extra, field: wrong}
    with pytest.raises(ArgumentError, match="'rocks'; closest: 'rock'") as caught:
        tool.run(context, tool.arguments.model_validate(arguments))
    assert caught.value.field == field


def test_importing_the_tools_imports_no_data_library() -> None:
    modules = ", ".join(get_tool(name).run.__module__ for name in SPECIALISTS)
    heavy = "{'polars', 'numpy', 'python_calamine', 'rapidfuzz', 'regex', 'sklearn', 'scipy'}"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
