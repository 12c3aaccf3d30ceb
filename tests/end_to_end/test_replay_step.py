"""`replay --step` and `--to` walk through a record; nothing is launched, written or asked, and nothing could be."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROWS = "sample,Cu_ppm,rock\n" + "".join(f"s{n},{n}.5,{'granite' if n % 2 else 'shale'}\n" for n in range(20))
OUTCROP = Path(sys.executable).parent / "outcrop"
# No process, no other program and no connection, whatever asks for it: threads neither, but for the one that is there.
DENIED = """
import os, platform, sys
from outcrop_specialists.guard import kernel
column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
calls = {"clone": (56, 220), "clone3": (435, 435), "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221),
         "execveat": (322, 281), "socket": (41, 198), "connect": (42, 203)}
deny = (0x06, 0, 0, 0x00050000 | 1)
numbers = [pair[column] for pair in calls.values() if pair[column] >= 0]
program = [(0x20, 0, 0, 0)] + [step for number in numbers for step in ((0x15, 0, 1, number), deny)]
kernel.give_up_new_privileges()
kernel.seccomp_filter([*program, (0x06, 0, 0, 0x7FFF0000)])
attempts = [os.fork, lambda: os.posix_spawn("/bin/sh", ["sh"], {}), lambda: os.execv("/bin/sh", ["sh"])]
for attempt in attempts:
    try:
        attempt()
    except PermissionError:
        continue
    raise SystemExit("a process could be made")
from outcrop.cli.main import main
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("walked")
    (workspace / "soils.csv").write_text(ROWS)
    command = [
        OUTCROP,
        "run",
        "summarise Cu_ppm by rock, then plot a histogram of Zn_ppm, then plot a box plot of Cu_ppm",
    ]
    more = ["--data", "soils.csv", "--model", "offline", "--pin", "limit=5 ppm"]
    subprocess.run([*command, *more], cwd=workspace, capture_output=True, timeout=120, check=False)
    return workspace


def walked(workspace: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", DENIED, "replay", "last", *options]
    environment = {"HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=60)


def steps(workspace: Path, *options: str) -> list[dict[str, Any]]:
    done = walked(workspace, *options, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["steps"]
    assert [step["step"] for step in found] == list(range(1, len(found) + 1))
    return found


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_walk_shows_what_was_sent_said_called_and_made_and_touches_nothing(finished: Path) -> None:
    before = files(finished)
    found = steps(finished, "--step")
    assert files(finished) == before
    kinds = [step["what"] for step in found]
    assert (kinds[0], kinds[-1]) == ("run", "answer")
    first = found[1]
    assert (first["agent"], first["what"], first["turn"]) == ("lead", "turn", 1)
    assert [piece["segment"] for piece in first["sent"]["new"]] == ["pins", "objective", "objective"]
    assert first["sent"]["tokens"] > 1_000
    begun = [step for step in found if step["what"] == "dispatch"]
    ended = [step for step in found if step["what"] == "outcome"]
    assert {step["agent"] for step in begun} == {step["agent"] for step in ended} != set()
    for end in ended:
        own = [step for step in found if step["agent"] == end["agent"]]
        assert [step["what"] for step in own] == ["dispatch", *["turn"] * (len(own) - 2), "outcome"]
        assert {call["status"] for turn in own[1:-2] for call in turn["calls"]} <= {"ok", "error"}
        assert own[-2]["calls"][0]["tool"] == "complete"
    told = walked(finished, "--step").stdout
    for words in (
        "turn 1",
        "calls summarize",
        "ends [success]",
        "pins: Pinned facts: limit = 5 ppm",
        "artifact: results/",
    ):
        assert words in told
    assert len([line for line in told.splitlines() if line[:4].strip().isdigit()]) == len(found)


def test_a_walk_to_a_dispatch_or_a_number_ends_there(finished: Path) -> None:
    whole = steps(finished, "--step")
    to_it = steps(finished, "--to", "d0001")
    assert to_it == whole[: len(to_it)]
    assert (to_it[-1]["what"], to_it[-1]["agent"][:5]) == ("outcome", "d0001")
    assert steps(finished, "--to", "3") == whole[:3]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--to", "d9"], "no dispatch 'd9'"),
        (["--to", "100000"], "the run has "),
        (["--step", "--verify"], "no other option"),
        (["--to", "2", "--on", "soils.csv"], "no other option"),
    ],
)
def test_what_cannot_be_walked_to_is_told(finished: Path, options: list[str], told: str) -> None:
    done = walked(finished, *options)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_the_other_ways_to_replay_start_nothing_either(finished: Path) -> None:
    before = files(finished)
    assert walked(finished).returncode == 0
    verified = walked(finished, "--verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "byte for byte" in verified.stdout
    assert files(finished) == before


def test_on_a_terminal_each_step_waits_for_enter(finished: Path) -> None:
    ours, theirs = pty.openpty()
    command = [OUTCROP, "replay", "last", "--step"]
    process = subprocess.Popen(command, cwd=finished, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)

    def until(words: str) -> str:
        shown = b""
        while words.encode() not in shown:
            shown += os.read(ours, 65_536)
        return shown.decode()

    try:
        assert "begins a run" in until("q quit: ")
        os.write(ours, b"\n")
        second = until("q quit: ")
        assert "turn 1" in second
        assert "begins: " not in second
        os.write(ours, b"p\n")
        assert "=== system" in until("q quit: ")
        os.write(ours, b"q\n")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
