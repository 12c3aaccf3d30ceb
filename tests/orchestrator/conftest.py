"""Small programs that speak protocol 1, each with one habit, and a pool to run them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

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
