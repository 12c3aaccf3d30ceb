"""A record that has a pipe, socket, device or folder where a file should be is told of, and waited for by nobody."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_runs import answer, made, outcome
from ui_server import serving

from outcrop.exchanges import read_exchanges
from outcrop.mcp_server.past import listed
from outcrop.workspace import Workspace
from outcrop_schemas.errors import JournalError
from outcrop_schemas.regular import NotAFileError, open_file

OUTCROP = str(Path(sys.executable).parent / "outcrop")
BAD = "20260102-000000-000000-bbbb"


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        # A socket's address is short, whatever folder the tests have.
        place = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        one.bind(f"/proc/self/fd/{place}/{path.name}")
        os.close(place)


PLACED: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}
kinds = pytest.mark.parametrize("kind", PLACED)


def outcrop(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [OUTCROP, *arguments, "--workspace", str(workspace)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def two_runs(workspace: Path, kind: str, name: str = "journal.jsonl") -> Path:
    """A good run, and one in which another thing has the name of this file."""
    told = outcome(1, summary="done", artifacts=[], findings=[], results={})
    made(workspace, [told])
    bad = made(workspace, [told], name=BAD, events=[answer(BAD, summary="done")])
    (bad.path / name).unlink(missing_ok=True)
    PLACED[kind](bad.path / name)
    return bad.path / name


@kinds
def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str) -> None:
    PLACED[kind](tmp_path / "x")
    with pytest.raises(NotAFileError, match=f"{kind}, no regular file"):
        open_file(tmp_path / "x")


@kinds
def test_a_journal_that_is_no_file_is_an_error_in_words(workspace: Path, kind: str) -> None:
    two_runs(workspace, kind)
    for command in (("show", BAD), ("show", BAD, "--json"), ("report", BAD), ("log", BAD), ("replay", BAD)):
        ended = outcrop(workspace, *command)
        assert ended.returncode == 1
        assert f"{kind}, no regular file" in ended.stderr
        assert "internal" not in ended.stderr
    assert outcrop(workspace, "show", "last").returncode == 1
    assert f"{BAD}: " in outcrop(workspace, "gc", "--older-than", "0d").stdout


@kinds
def test_lists_of_runs_have_the_one_that_cannot_be_read(workspace: Path, kind: str) -> None:
    two_runs(workspace, kind)
    ended = outcrop(workspace, "runs", "--json")
    assert ended.returncode == 0
    found = {run["run_id"]: run["status"] for run in json.loads(ended.stdout)}
    assert found[BAD] == "unreadable"
    assert len(found) == 2
    assert "no regular file" in ended.stderr
    assert next(run.status for run in listed(Workspace(workspace)).runs) == "unreadable"


def test_the_live_view_lists_it_and_its_page_says_why(workspace: Path) -> None:
    two_runs(workspace, "a pipe")
    with serving(workspace) as server:
        page = server.ask("").text
        assert BAD in page
        assert "unreadable" in page
        run = server.ask(f"run/{BAD}/")
    assert "no regular file" in run.text


@pytest.mark.parametrize(
    "name", ["exchanges/lead.jsonl", "exchanges/blocks.ndjson", "run.json", ".journal.jsonl.index"]
)
def test_other_files_of_a_record_are_not_waited_for(workspace: Path, name: str) -> None:
    two_runs(workspace, "a pipe", name)
    for command in (
        ("show", BAD),
        ("report", BAD),
        ("log", BAD),
        ("replay", BAD),
        ("runs",),
    ):
        ended = outcrop(workspace, *command)
        assert "internal" not in ended.stderr
        assert ended.returncode == 0, ended.stderr


@kinds
def test_exchanges_that_are_no_file_are_an_error_in_words(tmp_path: Path, kind: str) -> None:
    PLACED[kind](tmp_path / "lead.jsonl")
    with pytest.raises(JournalError, match=f"{kind}, no regular file"):
        read_exchanges(tmp_path / "lead.jsonl")


def test_a_page_that_is_a_pipe_is_replaced_by_one(workspace: Path) -> None:
    page = two_runs(workspace, "a pipe", "report.html")
    assert outcrop(workspace, "report", BAD).returncode == 0
    assert page.is_file()


@pytest.mark.parametrize(
    ("name", "command"),
    [(".outcrop/pins.toml", "pins"), (".outcrop/memory/facts.jsonl", "memory"), ("outcrop.toml", "limits")],
)
def test_files_of_a_workspace_are_not_waited_for(workspace: Path, name: str, command: str) -> None:
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(workspace / name)
    ended = outcrop(workspace, command)
    assert (ended.returncode, "no regular file" in ended.stderr) == (ended.returncode or 1, True)
    assert "internal" not in ended.stderr
