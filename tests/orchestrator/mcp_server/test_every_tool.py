"""Every tool is called once over each transport, and what comes is of its output schema and within our bounds."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from servers.small_tables import CALLS, NEEDS_RASTERIO, call_of

from outcrop.mcp_server.catalogue import NOT_OFFERED, READS_ONLY
from outcrop_schemas import limits
from outcrop_specialists.tools.registry import NAMES

pytestmark = pytest.mark.timeout(400)
OWN = {"run_research", "dispatch", "list_runs", "show_run", "find_tools"}
HAS_RASTERIO = find_spec("rasterio") is not None


async def call_every_tool(client: Client, workspace: Path) -> None:
    """Every offered tool, the raster ones only where their library is."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() == (set(NAMES) - NOT_OFFERED) | OWN
    for name in [name for name in CALLS if HAS_RASTERIO or name not in NEEDS_RASTERIO]:
        tool = tools[name]
        arguments = call_of(name, tool.input_schema)
        assert [*Draft202012Validator(tool.input_schema).iter_errors(arguments)] == []
        before = files_in(workspace)
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, result.content)
        check_answer(name, result, tool.output_schema)
        written = files_in(workspace) - before
        assert not (written and name in READS_ONLY), (name, written)
        if name.startswith("plot_"):
            [image] = [block for block in result.content if block.type == "image"]
            assert image.mime_type == "image/png"
            assert base64.b64decode(image.data).startswith(b"\x89PNG\r\n\x1a\n")


def check_answer(name: str, result: Any, schema: Mapping[str, Any]) -> None:
    answer = result.structured_content
    assert [*Draft202012Validator(schema).iter_errors(answer)] == [], name
    assert answer["status"] == "success"
    assert len(json.dumps(answer["results"], separators=(",", ":"), ensure_ascii=False)) <= limits.RESULT_CHARS
    texts = [block.text for block in result.content if block.type == "text"]
    assert sum(map(len, texts)) <= limits.OUTCOME_CHARS
    assert texts[0].startswith("success: ")
    links = {block.uri for block in result.content if block.type == "resource_link"}
    assert links == {file["uri"] for file in answer["artifacts"]}
    rows = answer["results"].get("rows")
    assert not isinstance(rows, list) or len(rows) <= limits.PREVIEW_ROWS


def files_in(workspace: Path) -> set[str]:
    """Files that are not Outcrop's own records; each result has its lineage beside it."""
    found = (path.relative_to(workspace) for path in workspace.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if path.parts[0] != ".outcrop"}


async def test_every_tool_over_stdio(stdio: Any, small: Path) -> None:
    async with stdio(small) as client:
        await call_every_tool(client, small)


async def test_every_tool_over_http(served: Any) -> None:
    async with served.client() as client:
        await call_every_tool(client, served.workspace)
        run = (await client.call_tool("list_runs", {})).structured_content["runs"][0]
        assert run["kind"] == "mcp"
        assert run["dispatches"] >= len(CALLS) - len(NEEDS_RASTERIO)


async def test_schemas_and_annotations_are_valid_and_true(served: Any) -> None:
    async with served.client() as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert "x-role" not in json.dumps(tool.input_schema)
        assert not [name for name in NOT_OFFERED if name in tool.description + json.dumps(tool.input_schema)]
        assert tool.title
        assert 20 < len(tool.description) <= 1_000
        hints = tool.annotations
        assert hints.read_only_hint is (tool.name in READS_ONLY)
        assert hints.destructive_hint is False
        assert hints.idempotent_hint is (tool.name not in {"run_script", "run_command", "run_research", "dispatch"})
        assert hints.open_world_hint is (tool.name in {"run_research", "dispatch"})


async def test_a_run_a_dispatch_and_the_record_of_both(served: Any) -> None:
    async with served.client() as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        told: list[str] = []

        async def on_progress(number: float, total: float | None, message: str | None) -> None:
            told.append(str(message))

        asked = {"objective": "summarize Cu ppm by QC", "data": ["small.csv"], "pins": {"unit": "ppm"}}
        run = await client.call_tool("run_research", asked, progress_callback=on_progress)
        assert not run.is_error, run.content
        answer = run.structured_content
        assert [*Draft202012Validator(schemas["run_research"]).iter_errors(answer)] == []
        assert answer["artifacts"]
        assert {figure["verdict"] for figure in answer["figures"]} <= {"verified", "refuted", "unverifiable"}
        assert any("begins" in line for line in told)
        assert any("lead" in line for line in told)
        shown = await client.call_tool("show_run", {"run": answer["run_id"]})
        assert [*Draft202012Validator(schemas["show_run"]).iter_errors(shown.structured_content)] == []
        assert shown.structured_content["answer"]["summary"] == answer["summary"]
        assert shown.structured_content["answer"]["hypotheses"] == answer["hypotheses"] == []
        asked = {"objective": "is Cu ppm correlated with Zn ppm?", "data": ["small.csv"]}
        run = await client.call_tool("run_research", asked)
        [held] = run.structured_content["hypotheses"]
        assert held["status"] in {"supported", "refuted", "dropped"}
        assert any("correlated beyond chance" in block.text for block in run.content if block.type == "text")
        asked = {"specialist": "plotting", "objective": "histogram of Cu ppm", "data": ["small.csv"]}
        done = await client.call_tool("dispatch", asked)
        assert not done.is_error, done.content
        assert [*Draft202012Validator(schemas["dispatch"]).iter_errors(done.structured_content)] == []
        assert done.structured_content["artifacts"][0]["kind"] == "plot"
        found = await client.call_tool("find_tools", {"query": "remove rows that stand twice"})
        assert [*Draft202012Validator(schemas["find_tools"]).iter_errors(found.structured_content)] == []
        assert "remove_duplicates" in [tool["name"] for tool in found.structured_content["tools"]]
