"""The installed command as MCP clients use it: a small workspace, a server over HTTP, and one over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from servers.small_tables import write_rasters, write_workspace

OUTCROP = str(Path(sys.executable).parent / "outcrop")
OFFLINE = ["--model", "offline"]


@dataclass(frozen=True)
class Serving:
    """A server over HTTP: where it is, the token it made, its process and its workspace."""

    url: str
    token: str
    process: subprocess.Popen[str]
    workspace: Path

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def client(self, mode: str = "auto") -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=self.headers, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of the server over HTTP."""
    return filled(tmp_path_factory.mktemp("served"))


@pytest.fixture
def small(workspace: Path) -> Path:
    """A workspace of the same files that nobody holds."""
    return filled(workspace)


def filled(folder: Path) -> Path:
    """With small tables, and two rasters where rasterio is there."""
    write_workspace(folder)
    if find_spec("rasterio"):
        write_rasters(folder)
    return folder


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Serving]:
    """One server over HTTP for all tests of a module."""
    command = [OUTCROP, "mcp", "--transport", "http", "--port", "0", "--workspace", str(place), *OFFLINE]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    said, url, token = "", None, None
    while not (url and token):
        line = process.stderr.readline()
        assert line, said
        said += line
        url, token = re.search(r"http://\S+", said), re.search(r"Bearer ([\w-]+)", said)
    yield Serving(url[0], token[1], process, place)
    process.terminate()
    process.communicate(timeout=30)


StdioClient = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def stdio() -> StdioClient:
    """A client with a server of its own over stdio; its stderr goes to `log` where that is given."""

    @asynccontextmanager
    async def connect(workspace: Path, *arguments: str, log: Path | None = None) -> AsyncIterator[Client]:
        started = StdioServerParameters(
            command=OUTCROP, args=["mcp", "--workspace", str(workspace), *OFFLINE, *arguments], env=dict(os.environ)
        )
        with (log or Path(os.devnull)).open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                yield client

    return connect


class Raw:
    """A server over stdio, spoken to by hand: one JSON document a line."""

    def __init__(self, workspace: Path, *arguments: str) -> None:
        command = [OUTCROP, "mcp", "--workspace", str(workspace), *OFFLINE, *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.lines: list[dict[str, Any]] = []

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line, which must be a message of the protocol."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.communicate(timeout=30)[1]
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.lines.append(message)
        return message

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to this request; what comes before it is kept in `lines`."""
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message

    def begin(self) -> None:
        client = {"name": "by hand", "version": "1"}
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.send(id=0, method="initialize", params=asked)
        assert self.answer(0)["result"]["serverInfo"]["name"] == "outcrop"
        self.send(method="notifications/initialized")

    def call(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": f"p{number}"}}
        self.send(id=number, method="tools/call", params=params)

    def end(self) -> tuple[int, str]:
        """Close our end of its stdin; its exit status and what it said."""
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said.decode()


@pytest.fixture
def raw(small: Path) -> Iterator[Callable[..., Raw]]:
    started: list[Raw] = []

    def start(*arguments: str, workspace: Path = small) -> Raw:
        started.append(Raw(workspace, *arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate(timeout=30)


@pytest.fixture
def the_sleep() -> Callable[[str], Awaitable[psutil.Process]]:
    return _the_sleep


async def _the_sleep(seconds: str) -> psutil.Process:
    """The process that sleeps so many seconds, once it is there; the number is nobody else's."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for process in psutil.process_iter(["cmdline"]):
            if (process.info["cmdline"] or [])[:2] == ["sleep", seconds]:
                return process
        await asyncio.sleep(0.05)
    raise AssertionError(f"no process sleeps {seconds} s")
