"""Whatever string a model gives for a path, a handle or a name: a typed error comes back, or an answer; never more."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import OutcropError
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.completion import error_text
from outcrop_specialists.context.selection.offering import FIND_TOOLS, Offering
from outcrop_specialists.context.skills import READ_SKILL
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import READ_RESULT
from outcrop_specialists.roles import get_role
from outcrop_specialists.telling import ASK, REPORT_GAP
from outcrop_specialists.toolbox import SpecialistToolbox, run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import NAMES, get_tool

ODD = {
    "empty": "",
    "blank": " ",
    "long": "a" * 400,
    "4 KB": "a" * 4_096,
    "deep": "a/" * 2_048,
    "marks": "#" * 400,
    "long behind a mark": "a.csv#" + "b" * 4_096,
    "long table of a file": "t.csv#" + "b" * 400,
    "NUL": "a\0b",
    "half a character": "\ud800",
    "not UTF-8": "results/\udcff.csv",
    "line feed": "a\nb",
    "above": "../../..",
    "root": "/",
    "home": "~",
    "itself": ".",
    "circle": "circle",
    "in a circle": "circle/a.csv",
    "dangling": "dangling",
    "below a file": "t.csv/x",
}
IS_LONG = bool(os.environ.get("OUTCROP_LONG"))
SHORT = ("4 KB", "NUL", "half a character", "circle")
BUILT_IN = (READ_RESULT, READ_SKILL, FIND_TOOLS, REPORT_GAP, ASK)


@pytest.fixture
def odd_workspace(context: ToolContext) -> ToolContext:
    (context.workspace / "t.csv").write_text("a,b\n1,2\n3,4\n")
    (context.workspace / "circle").symlink_to("circle")
    (context.workspace / "dangling").symlink_to("nowhere")
    skill = context.workspace / "skills" / "good" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: good\ndescription: d\n---\nbody\n")
    return context


def filled(schema: Mapping[str, Any], odd: str, known: Mapping[str, Any]) -> Any:
    """A value of the schema with the odd string wherever one may stand."""
    if "$ref" in schema:
        return filled(known[schema["$ref"].rsplit("/", 1)[-1]], odd, known)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], odd, known)
    kind = schema.get("type", "string")
    if kind == "object":
        given = {name: filled(each, odd, known) for name, each in schema.get("properties", {}).items()}
        return given or {odd: 1}
    if kind == "array":
        return [filled(schema.get("items", {}), odd, known)] * max(schema.get("minItems", 1), 1)
    return {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": False, "null": None}.get(kind, odd)


def ways(schema: ToolSchema, odd: str) -> list[dict[str, Any]]:
    """Odd in every argument, and in one after the other of those that are asked for."""
    known = schema.input_schema.get("$defs", {})
    fields: dict[str, Any] = schema.input_schema.get("properties", {})
    every = {name: filled(each, odd, known) for name, each in fields.items()}
    required = schema.input_schema.get("required", [])
    proper = {name: filled(fields[name], "t.csv" if "path" in name else "a", known) for name in required}
    return [every, *({**proper, name: every[name]} for name in fields)]


@pytest.mark.parametrize("kind", ODD if IS_LONG else SHORT)
def test_a_tool_answers_or_raises_a_typed_error(odd_workspace: ToolContext, kind: str) -> None:
    told = []
    for name in NAMES:
        tool = get_tool(name)
        for arguments in ways(tool.schema(), ODD[kind])[: None if IS_LONG else 2]:
            try:
                run_tool(tool, odd_workspace, arguments)
            except OutcropError as error:
                told.append((name, arguments, wire.loads(error_text(error.kind, str(error)))["error"]["message"]))
    # The last resort for what nobody thought of is none for a string that is no path.
    assert [each for each in told if f"{each[0]} failed: " in each[2]] == []


@pytest.mark.parametrize("kind", ODD)
def test_what_is_always_there_answers_or_raises_a_typed_error(
    odd_workspace: ToolContext, tmp_path: Path, kind: str
) -> None:
    role = get_role("analytics")
    offering = Offering(role.tools, lambda text: None, tmp_path / "cache", None)
    offering.begin("look")
    store = Store(tmp_path / "store")
    store.put("a text that was put aside")
    toolbox = SpecialistToolbox(role.tools, odd_workspace, lambda name: None, store, has_skills=True, offering=offering)

    async def asked(name: str, arguments: dict[str, Any]) -> None:
        try:
            answer = await toolbox.call(name, arguments, "c")
        except OutcropError as error:
            answer = error_text(error.kind, str(error))
        assert wire.loads(answer)

    async def all_of_them() -> None:
        for schema in BUILT_IN:
            for arguments in ways(schema, ODD[kind]):
                await asked(schema.name, arguments)
        await asked(READ_SKILL.name, {"name": "good", "file": ODD[kind]})
        await asked(ODD[kind], {})

    asyncio.run(all_of_them())
