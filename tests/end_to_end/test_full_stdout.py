"""A stdout that is full or cannot be written to: said in one line, with an exit status of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_runs import made, outcome

OUTCROP = str(Path(sys.executable).parent / "outcrop")
COMMANDS = ["show last", "show last --json", "report last", "log last", "runs", "limits", "tools --json", "schema plan"]
SAID = "outcrop: the output could not be written: "


def ended(command: str, place: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    words = ["sh", "-c", f'exec "$0" "$@" {place}', OUTCROP, *command.split()]
    return subprocess.run(words, capture_output=True, text=True, cwd=workspace, timeout=60)


@pytest.mark.parametrize("command", [*COMMANDS, "--help", "--version", "show --help"])
def test_a_full_stdout_is_told_in_one_line(workspace: Path, command: str) -> None:
    made(workspace, [outcome(1)])
    found = ended(command, "> /dev/full", workspace)
    assert (found.returncode, found.stderr) == (3, SAID + "No space left on device\n")


def test_so_is_one_that_is_for_reading_only(workspace: Path) -> None:
    found = ended("limits", "1< /dev/null", workspace)
    assert (found.returncode, found.stderr) == (3, SAID + "Bad file descriptor\n")


def test_a_reader_that_is_gone_is_nothing_to_tell_of(workspace: Path) -> None:
    found = subprocess.run(
        ["bash", "-c", f"'{OUTCROP}' tools --json | head -c 10; echo ${{PIPESTATUS[0]}} >&2"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.stderr == "0\n"


def test_a_full_stderr_takes_no_answer_away(workspace: Path) -> None:
    assert ended("limits", "2> /dev/full", workspace).returncode == 0
    assert ended("show nothing", "2> /dev/full", workspace).returncode == 2


def test_work_that_was_done_is_in_the_record(workspace: Path) -> None:
    (workspace / "a.csv").write_text("a,b\n1,2\n3,4\n")
    found = ended("dispatch analytics --model offline --objective inspect --data a.csv --json", ">/dev/full", workspace)
    assert (found.returncode, SAID in found.stderr) == (3, True)
    [listed] = json.loads(ended("runs --json", "", workspace).stdout)
    assert (listed["dispatches"], listed["objective"]) == (1, "inspect")
