"""Independent peers from the registries, pinned, each in a folder of its own below `.peers`: servers of the Messages
API, clients and servers of the Model Context Protocol.

They are installed when they are first asked for; where that cannot be done the test is skipped with the reason.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

LLMOCK, AIMOCK, INSPECTOR, FASTMCP = "0.2.2", "1.43.0", "2.12.0", "4.2.3"
MCP_SERVERS = "2026.8.31"
FOLDER = Path(__file__).resolve().parents[2] / ".peers"
_INSTALL_SECONDS, _START_SECONDS = 150, 60
_NPM = ("--silent", "--no-audit", "--no-fund", "--fetch-retries", "0", "--fetch-timeout", "20000")
# What could not be installed a while ago is not tried again by each test: that takes a minute every time.
_FAILED_FOR_SECONDS = 1_800


@contextmanager
def llmock(log: Path) -> Iterator[str]:
    """A running llmock of PyPI; its address."""
    home = FOLDER / f"llmock-{LLMOCK}"
    _installed(home, [[sys.executable, "-m", "venv", "."], ["bin/pip", "install", "-q", f"llmock=={LLMOCK}"]])
    port = _free_port()
    # Slowly enough that it sees a client hang up in the middle of a stream.
    command = [str(home / "bin" / "llmock"), "serve", "--port", str(port), "--stream-chunk-delay-ms", "20"]
    with _running(command, port, log):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def aimock(fixtures: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    """A running @copilotkit/aimock of npm with these fixtures; its address."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("aimock needs Node and npm, which are not here")
    home = FOLDER / f"aimock-{AIMOCK}"
    _installed(
        home,
        [["npm", "install", *_NPM, "--prefix", ".", f"@copilotkit/aimock@{AIMOCK}"]],
    )
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": list(fixtures)}))
    port = _free_port()
    program = str(home / "node_modules" / ".bin" / "llmock")
    arguments = ["-p", str(port), "-f", str(folder / "fixtures.json"), "--strict", "--validate-on-load"]
    with _running([program, *arguments], port, folder / "aimock.log"):
        yield f"http://127.0.0.1:{port}"


def mcp_server(name: str) -> str:
    """The program of an MCP server of npm (`everything`, `filesystem`), by those who wrote the protocol."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("MCP servers of npm need Node and npm, which are not here")
    home = FOLDER / f"mcp-server-{name}-{MCP_SERVERS}"
    package = f"@modelcontextprotocol/server-{name}@{MCP_SERVERS}"
    _installed(home, [["npm", "install", *_NPM, "--prefix", ".", package]])
    return str(home / "node_modules" / ".bin" / f"mcp-server-{name}")


def inspector() -> list[str]:
    """The command line of the official MCP inspector of npm, without a window."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("the MCP inspector needs Node and npm, which are not here")
    home = FOLDER / f"inspector-{INSPECTOR}"
    _installed(home, [["npm", "install", *_NPM, "--prefix", ".", f"@modelcontextprotocol/inspector@{INSPECTOR}"]])
    return [str(home / "node_modules" / ".bin" / "mcp-inspector"), "--cli"]


def fastmcp() -> str:
    """A Python that has fastmcp, a client of others."""
    home = FOLDER / f"fastmcp-{FASTMCP}"
    _installed(home, [[sys.executable, "-m", "venv", "."], ["bin/pip", "install", "-q", f"fastmcp=={FASTMCP}"]])
    return str(home / "bin" / "python")


def ask(url: str, body: Any = None) -> Any:
    """GET, or POST of JSON; the JSON that comes."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def _installed(home: Path, commands: Sequence[Sequence[str]]) -> None:
    """Run the commands in the folder once, whoever asks first; others wait for it."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (home / "installed").exists():
            return
        failed = FOLDER / f"{home.name}.failed"
        if failed.exists() and time.time() - failed.stat().st_mtime < _FAILED_FOR_SECONDS:
            pytest.skip(failed.read_text("utf-8"))
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        for command in commands:
            program = str(home / command[0]) if command[0].startswith("bin/") else command[0]
            try:
                done = subprocess.run(
                    [program, *command[1:]],
                    cwd=home,
                    capture_output=True,
                    text=True,
                    timeout=_INSTALL_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                _skip(failed, f"{home.name} could not be installed: {error}")
            if done.returncode:
                _skip(failed, f"{home.name} could not be installed: {done.stderr.strip()[-300:]}")
        (home / "installed").touch()


def _skip(failed: Path, reason: str) -> NoReturn:
    failed.write_text(reason, "utf-8")
    pytest.skip(reason)


@contextmanager
def _running(command: Sequence[str], port: int, log: Path) -> Iterator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait_until_it_answers(process, port, log)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"{process.args!r} does not answer: {log.read_text()[-500:]}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
