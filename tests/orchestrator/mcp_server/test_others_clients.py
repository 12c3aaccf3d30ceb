"""Clients written by others list and call the tools over both transports: the official inspector, and fastmcp."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from servers import peers
from servers.small_tables import CALLS, NEEDS_RASTERIO, call_of

from outcrop_specialists.tools.registry import get_tool

OUTCROP = str(Path(sys.executable).parent / "outcrop")
OFFLINE = ["--model", "offline"]
pytestmark = pytest.mark.timeout(400)
PROGRAM = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
about = json.load(sys.stdin)
if "url" in about:
    transport = StreamableHttpTransport(about["url"], headers=about["headers"])
else:
    transport = StdioTransport(command=about["command"], args=about["arguments"])
async def main():
    found = {"called": {}}
    async with Client(transport) as client:
        found["tools"] = [tool.name for tool in await client.list_tools()]
        for name, arguments in about["calls"].items():
            result = await client.call_tool(name, arguments, raise_on_error=False)
            found["called"][name] = [result.is_error, [block.type for block in result.content]]
        found["resources"] = [str(one.uri) for one in await client.list_resources()]
        found["text"] = (await client.read_resource("workspace:///notes.txt"))[0].text
        found["prompts"] = [one.name for one in await client.list_prompts()]
    print(json.dumps(found))
asyncio.run(main())
"""


def inspected(*arguments: str) -> Any:
    done = subprocess.run([*peers.inspector(), *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def check_with_the_inspector(*server: str) -> None:
    listed = inspected(*server, "--method", "tools/list")
    assert len(listed["tools"]) > 80
    asked = ["--tool-name", "plot_histogram", "--tool-arg", "path=small.csv", "--tool-arg", "column=Cu ppm"]
    plot = inspected(*server, "--method", "tools/call", *asked)
    assert [block["type"] for block in plot["content"]][-2:] == ["image", "resource_link"]
    assert plot["structuredContent"]["status"] == "success"
    text = inspected(*server, "--method", "resources/read", "--uri", "workspace:///notes.txt")
    assert text["contents"][0]["text"].startswith("Two holes.")


def test_the_official_inspector_over_stdio(small: Path) -> None:
    check_with_the_inspector(OUTCROP, "mcp", "--workspace", str(small), *OFFLINE)


def test_the_official_inspector_over_http(served: Any) -> None:
    token = f"Authorization: {served.headers['Authorization']}"
    check_with_the_inspector(served.url, "--transport", "http", "--header", token)


def few_calls() -> dict[str, Any]:
    return {name: _arguments(name) for name in ("inspect_dataset", "filter_rows", "plot_box")}


def every_call() -> dict[str, Any]:
    return {name: _arguments(name) for name in CALLS if name not in NEEDS_RASTERIO}


def _arguments(name: str) -> dict[str, Any]:
    return call_of(name, get_tool(name).schema().input_schema)


def check_with_fastmcp(about: dict[str, Any]) -> None:
    done = subprocess.run(
        [peers.fastmcp(), "-c", PROGRAM],
        input=json.dumps(about),
        capture_output=True,
        text=True,
        check=False,
        timeout=380,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["tools"]) > 80
    assert {name: told[0] for name, told in found["called"].items()} == dict.fromkeys(about["calls"], False)
    assert "image" in found["called"]["plot_box"][1]
    assert "workspace:///small.csv" in found["resources"]
    assert found["text"].startswith("Two holes.")
    assert found["prompts"]


def test_fastmcp_over_stdio(small: Path) -> None:
    """A few tools: each of them is called by the official client; with OUTCROP_LONG every one."""
    arguments = ["mcp", "--workspace", str(small), *OFFLINE]
    calls = every_call() if "OUTCROP_LONG" in os.environ else few_calls()
    check_with_fastmcp({"command": OUTCROP, "arguments": arguments, "calls": calls})


def test_fastmcp_over_http(served: Any) -> None:
    check_with_fastmcp({"url": served.url, "headers": served.headers, "calls": few_calls()})
