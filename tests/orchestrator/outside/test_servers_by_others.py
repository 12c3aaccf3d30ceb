"""Servers that others wrote, from npm, as they come: their tools work, and their own reach is what we give them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from servers import peers
from servers.strict_schema import schema_faults

from outcrop_schemas.errors import ArgumentError, OutsideError

from .conftest import Open


async def test_the_reference_server_for_files_reads_the_workspace_and_cannot_write_it(
    opened: Open, workspace: Path
) -> None:
    (workspace / "notes.txt").write_text("gold in the north\n")
    serving = opened("{workspace}", name="files", by=(peers.mcp_server("filesystem"),))
    tools = {tool.tool: tool for tool in (await serving.server.listing()).tools}
    assert {"read_text_file", "write_file", "list_directory"} <= tools.keys()
    told = await serving.told("read_text_file", path=str(workspace / "notes.txt"))
    assert "gold in the north" in str(told)
    with pytest.raises(OutsideError, match=r"EACCES|permission denied"):
        await serving.told("write_file", path=str(workspace / "planted.txt"), content="x")
    assert not (workspace / "planted.txt").exists()
    with pytest.raises(ArgumentError, match="path"):
        await serving.told("read_text_file")


async def test_the_reference_server_for_everything_lists_and_calls(opened: Open, workspace: Path) -> None:
    serving = opened(name="every", by=(peers.mcp_server("everything"),))
    listing = await serving.server.listing()
    tools = {tool.tool for tool in listing.tools}
    assert not [tool.name for tool in listing.tools if "no schema" in tool.description]
    assert not [fault for tool in listing.tools for fault in schema_faults(tool.input_schema, tool.input_schema, "")]
    assert {"echo", "get-sum", "get-tiny-image"} <= tools
    assert "hello" in (await serving.told("echo", message="hello"))["text"]
    assert "5" in (await serving.told("get-sum", a=2, b=3))["text"]
    image = await serving.told("get-tiny-image")
    [file] = image["files"]
    data = (workspace / file["file"]).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert base64.b64encode(data)[:40].decode() not in str(image)
    for tool in sorted(tools & {"get-annotated-message", "get-resource-links", "get-structured-content", "get-env"}):
        arguments = {
            "get-annotated-message": {"messageType": "error", "includeImage": True},
            "get-resource-links": {"count": 3},
            "get-structured-content": {"location": "Chicago"},
            "get-env": {},
        }[tool]
        told = await serving.told(tool, **arguments)
        assert told["from"].startswith("outside server every")
        assert "ANTHROPIC" not in str(told)
