"""Small programs that speak protocol 1, each with one habit, and a pool to run them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MessagesApi
from servers.turns import Answer, in_turn

from outcrop import Pool

PRELUDE = """
import json, os, signal, subprocess, sys, threading, time
request = json.loads(sys.stdin.buffer.readline())
ID = request["dispatch_id"]
def say(**message):
    print(json.dumps(message), flush=True)
def complete(answer=1, status="success", **more):
    say(type="completion", dispatch_id=ID, status=status, results={"answer": answer}, **more)
"""

Program = Callable[[str], list[str]]
Serving = Callable[..., MessagesApi]


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """Start a server of the Messages API that gives these turns, with the environment that leads to it."""
    running: list[MessagesApi] = []

    def start(*turns: Answer, **options: Any) -> MessagesApi:
        api = MessagesApi(in_turn(*turns) if turns else None, **options).__enter__()
        running.append(api)
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        return api

    yield start
    for api in running:
        api.__exit__(None, None, None)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line of a program with this body; `request`, `ID`, `say` and `complete` are at hand."""

    def write(body: str) -> list[str]:
        path = tmp_path / f"program{len(list(tmp_path.glob('program*')))}.py"
        path.write_text(PRELUDE + textwrap.dedent(body))
        return [sys.executable, str(path)]

    return write


@pytest.fixture
async def pool(workspace: Path) -> AsyncIterator[Pool]:
    async with Pool(workers=4, workspace=workspace) as opened:
        yield opened
