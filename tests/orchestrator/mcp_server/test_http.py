"""Over HTTP: who may speak, and several who speak at a time."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outcrop.mcp_server.http import TOKEN

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def status(served: Any, headers: dict[str, str], body: Any = INITIALIZE) -> int:
    async with httpx2.AsyncClient(timeout=60) as client:
        answer = await client.post(served.url, json=body, headers={**ACCEPT, **headers})
        return int(answer.status_code)


async def test_only_who_has_the_token_and_comes_from_here_may_speak(served: Any) -> None:
    own = served.headers
    port = served.url.split(":")[2].split("/")[0]
    assert await status(served, own) == 200
    assert await status(served, {**own, "Origin": f"http://localhost:{port}"}) == 200
    assert await status(served, {}) == 401
    assert await status(served, {"Authorization": "Bearer " + "x" * 43}) == 401
    assert (
        await status(served, {"Authorization": "Bearer \N{LATIN SMALL LETTER E WITH ACUTE}".encode("latin-1")}) == 401
    )
    assert await status(served, {"Authorization": served.token}) == 401
    assert await status(served, {**own, "Origin": "http://example.com"}) == 403
    assert await status(served, {**own, "Origin": "null"}) == 403
    assert await status(served, {**own, "Host": "example.com"}) == 421
    assert await status(served, {**own, "Host": f"127.0.0.1.example.com:{port}"}) == 421


async def test_a_message_that_is_too_long_is_refused(served: Any) -> None:
    body = {**INITIALIZE, "params": {"x": "y" * (5 << 20)}}
    assert await status(served, served.headers, body) == 413


def test_it_listens_on_the_loopback_only(served: Any) -> None:
    import psutil

    # By the port: the descriptors of the process itself are hidden from others.
    port = int(served.url.split(":")[2].split("/")[0])
    found = psutil.net_connections("tcp")
    assert {one.laddr.ip for one in found if one.laddr.port == port and one.status == "LISTEN"} == {"127.0.0.1"}


async def test_two_clients_work_at_once(served: Any) -> None:
    async def work(number: int) -> tuple[str, str]:
        async with served.client("legacy" if number else "auto") as client:
            calls = [
                client.call_tool("filter_rows", {"path": "small.csv", "column": "Cu ppm", "operator": ">", "value": v})
                for v in (number, number + 0.5)
            ]
            found = await asyncio.gather(*calls)
            assert not any(result.is_error for result in found)
            return tuple(result.structured_content["artifacts"][0]["path"] for result in found)

    first, second = await asyncio.gather(work(0), work(1))
    assert len({*first, *second}) == 4


async def test_progress_arrives_over_http(served: Any) -> None:
    told: list[tuple[float, str]] = []

    async def on_progress(number: float, total: float | None, message: str | None) -> None:
        told.append((number, str(message)))

    async with served.client() as client:
        await client.call_tool("summarize", {"path": "small.csv"}, progress_callback=on_progress)
    assert [number for number, _ in told] == sorted({number for number, _ in told})
    assert any("summarize" in line for _, line in told)


@pytest.mark.parametrize(("arguments", "environment", "said"), [
    (["--port", "{taken}", "--transport", "http"], {}, "cannot be taken"),
    (["--port", "70000", "--transport", "http"], {}, "must be a port"),
    (["--port", "80"], {}, "--port goes with --transport http"),
    (["--transport", "http", "--port", "0"], {TOKEN: "short"}, "at least 16"),
    (["--tools", "plot_scater"], {}, "plot_scatter"),
    (["--tools", ""], {}, "names no tool"),
    (["--tools", " , "], {}, "names no tool"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(
    workspace: Path, arguments: list[str], environment: dict[str, str], said: str
) -> None:
    import os
    import subprocess
    import sys

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        given = [one.format(taken=taken.getsockname()[1]) for one in arguments]
        command = [str(Path(sys.executable).parent / "outcrop"), "mcp", "--workspace", str(workspace), *given]
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
