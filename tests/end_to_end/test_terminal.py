"""What a person sees on a real terminal, of any size and with any habits, and what a pipe gets."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from installed import OUTCROP, outcrop
from rich.cells import cell_len

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"
HOSTILE = """
import json, sys
request = json.loads(sys.stdin.buffer.readline())
bad = "\\x1b[2J\\x1b[31mred \\u202egnp.exe \\x07" + "w" * 300
bad += "\\n20990101-forged run\\n[bold]no[/bold] :smile: \\u2028"
print(json.dumps({"type": "completion", "dispatch_id": request["dispatch_id"], "status": "success",
                  "summary": bad, "results": {}, "findings": [bad], "blockers": [bad]}))
"""
WORKING = """
import json, sys, time
request = json.loads(sys.stdin.buffer.readline())
for number in range({steps}):
    said = {{"type": "progress", "text": "räumt µ auf \\x1b[31m", "done": number, "total": {steps}}}
    print(json.dumps(said), flush=True)
    time.sleep(0.15)
print(json.dumps({{"type": "completion", "dispatch_id": request["dispatch_id"], "status": "success",
                  "summary": "swept", "results": {{}}}}))
"""


def resize(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def on_terminal(
    folder: Path,
    *arguments: str,
    columns: int = 80,
    rows: int = 24,
    meanwhile: Callable[[str, int, subprocess.Popen[bytes]], None] = lambda seen, terminal, process: None,
    **environment: str,
) -> tuple[str, int]:
    """All that a command writes to a terminal of this size, and its exit status."""
    ours, theirs = pty.openpty()
    resize(theirs, columns, rows)
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [OUTCROP, *arguments], cwd=folder, env={**kept, "TERM": "xterm-256color", **environment},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + 150
    # On Linux the end of a terminal is an error.
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline and select.select([ours], [], [], 150)[0]:
            shown += os.read(ours, 65536)
            meanwhile(shown.decode("utf-8", "replace"), ours, process)
    os.close(ours)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n"), process.wait(60)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run, a hostile dispatch and a batch, in this order."""
    folder = tmp_path_factory.mktemp("terminal")
    rows = "".join(f"{'AB'[number % 2]},{number / 10}\n" for number in range(60))
    (folder / "assays.csv").write_text("rock,Au_ppm\n" + rows)
    (folder / "hostile.py").write_text(HOSTILE)
    (folder / "jobs.jsonl").write_text("".join(json.dumps({"objective": f"frobnicate {n}"}) + "\n" for n in range(2)))
    run = ("run", "summarise Au_ppm by rock", "--data", "assays.csv", "--model", "offline")
    for command in (
        run,
        ("dispatch", "--", sys.executable, "hostile.py"),
        ("batch", "jobs.jsonl", "--model", "offline"),
    ):
        outcrop(folder, *command)
    return folder


def names(folder: Path) -> dict[str, str]:
    """The run of each kind."""
    listed = json.loads(outcrop(folder, "runs", "--json").stdout)
    return {kind: next(one["run_id"] for one in listed if one["kind"] == kind) for kind in ("run", "pool", "batch")}


def piped(folder: Path, *arguments: str, **environment: str) -> str:
    done = outcrop(folder, *arguments, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_run_is_shown_as_a_tree_with_all_that_matters(made: Path) -> None:
    lines = piped(made, "show", names(made)["run"]).splitlines()
    assert "Objective: summarise Au_ppm by rock" in lines[1]
    tree = "\n".join(lines)
    for said in ("Data: assays.csv", "Model: offline", "analytics success", "tokens", "Record: "):
        assert said in tree
    [call] = [line for line in lines if "summarize path=" in line]
    assert call.startswith("│   ├── ✓ summarize path=assays.csv")
    assert re.search(r"│   └── file: results/assays_summarize_\w{8}\.csv \(\d+ bytes, 2 rows\)", tree)
    assert re.search(r"├── \d+ verified: computed again from their tables", tree)
    assert re.search(r"├── ✓ d0001-[0-9a-f]{16} ", tree)


def test_a_pipe_gets_whole_lines_and_no_escapes(made: Path) -> None:
    for kind, run in names(made).items():
        tree = piped(made, "show", run, FORCE_COLOR="1", TERM="xterm-256color")
        assert "\x1b" not in tree, kind
        assert all(line == line.rstrip() for line in tree.splitlines())
    assert "w" * 300 in piped(made, "show", names(made)["pool"])


@pytest.mark.parametrize("columns", [200, 80, 40, 25, 5])
@pytest.mark.parametrize("kind", ["run", "pool", "batch"])
def test_no_line_is_wider_than_the_terminal(made: Path, kind: str, columns: int) -> None:
    shown, code = on_terminal(made, "show", names(made)[kind], columns=columns)
    assert code == 0
    assert "Traceback" not in shown
    lines = ESCAPE.sub("", shown).splitlines()
    assert max(map(cell_len, lines)) <= max(columns, 20)
    assert len(lines) > 3


@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}]
)
def test_who_wants_no_colour_gets_no_escape(made: Path, environment: dict[str, str]) -> None:
    shown, code = on_terminal(made, "show", names(made)["run"], **environment)
    assert code == 0
    assert "\x1b" not in shown
    assert "analytics success" in shown


def test_a_terminal_gets_colours_and_short_names(made: Path) -> None:
    shown, _ = on_terminal(made, "show", names(made)["run"])
    assert "\x1b[32m" in shown
    assert re.search(r"d0001 analytics success", ESCAPE.sub("", shown))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_tree_is_written_in_the_encoding_of_stdout(made: Path, encoding: str) -> None:
    done = subprocess.run(
        [OUTCROP, "show", names(made)["run"]], cwd=made, env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )  # fmt: skip
    tree = done.stdout.decode(encoding)
    assert done.returncode == 0
    if encoding == "utf-8":
        assert "├── ✓" in tree
    else:
        assert "+-- + d0001" in tree
        assert "?" not in tree


def test_a_hostile_text_stays_text_in_its_place(made: Path) -> None:
    tree = piped(made, "show", names(made)["pool"])
    assert "\\x1b[2J\\x1b[31mred \\u202egnp.exe \\x07" in tree
    assert "[bold]no[/bold] :smile:" in tree
    assert not [line for line in tree.splitlines() if line.startswith("20990101")]
    shown, _ = on_terminal(made, "show", names(made)["pool"], NO_COLOR="1")
    assert "\x07" not in shown
    assert "\u202e" not in shown


def test_a_batch_is_shown_with_its_jobs_and_their_runs(made: Path) -> None:
    tree = piped(made, "show", names(made)["batch"])
    assert "Jobs: " in tree
    for number in (1, 2):
        assert re.search(rf"├── \S line {number} \w+, \d", tree)
        assert f"objective: frobnicate {number - 1}" in tree
    assert re.search(r"run: \d{8}-\d{6}", tree)


@pytest.mark.parametrize(
    ("columns", "rows", "environment"),
    [
        (80, 24, {}),
        (40, 24, {}),
        (20, 3, {}),
        (80, 24, {"NO_COLOR": "1"}),
        (80, 24, {"PYTHONIOENCODING": "ascii"}),
        (80, 24, {"TERM": "dumb"}),
        (80, 24, {"LANG": "C", "LC_ALL": "C"}),
    ],
)
def test_the_live_table_survives_the_terminal(
    tmp_path: Path, columns: int, rows: int, environment: dict[str, str]
) -> None:
    (tmp_path / "work.py").write_text(WORKING.format(steps=4))
    command = ("dispatch", "--objective", "räume auf — µg", "--", sys.executable, "work.py")
    shown, code = on_terminal(tmp_path, *command, columns=columns, rows=rows, **environment)
    assert code == 0
    assert "Traceback" not in shown
    assert "swept" in shown
    assert "\x1b[31mauf" not in shown
    assert "\ufffd" not in shown
    if environment.get("TERM") == "dumb":
        assert "\x1b" not in shown
        assert "started: " in shown
    else:
        assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)
        assert "succe" in ESCAPE.sub("", shown)
    if "NO_COLOR" in environment:
        assert not re.search(r"\x1b\[[0-9;]*m", shown)
    if environment.get("PYTHONIOENCODING") == "ascii":
        assert ESCAPE.sub("", shown).isascii()


def test_the_live_table_follows_a_terminal_that_is_resized(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKING.format(steps=14))
    sizes = [(40, 10), (120, 40), (10, 2), (80, 24)]

    def meanwhile(seen: str, terminal: int, process: subprocess.Popen[bytes]) -> None:
        if "running" in seen and sizes:
            resize(terminal, *sizes.pop(0))

    shown, code = on_terminal(tmp_path, "dispatch", "--", sys.executable, "work.py", meanwhile=meanwhile)
    assert code == 0
    assert not sizes
    assert "Traceback" not in shown
    assert "swept" in shown


def test_after_an_interrupt_the_cursor_is_there_again(tmp_path: Path) -> None:
    sent: list[int] = []

    def meanwhile(seen: str, terminal: int, process: subprocess.Popen[bytes]) -> None:
        if "running" in seen and not sent:
            sent.append(1)
            os.killpg(process.pid, signal.SIGINT)

    command = ("dispatch", "--grace", "0.5", "--", "sleep", "60")
    shown, code = on_terminal(tmp_path, *command, meanwhile=meanwhile)
    assert code == 130
    assert "Traceback" not in shown
    assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)


@pytest.mark.parametrize(("columns", "environment"), [(80, {}), (40, {"NO_COLOR": "1"}), (80, {"TERM": "dumb"})])
def test_a_batch_tells_how_far_it_is_on_a_terminal(made: Path, columns: int, environment: dict[str, str]) -> None:
    command = ("batch", "jobs.jsonl", "--model", "offline", "--workers", "1")
    shown, _ = on_terminal(made, *command, columns=columns, **environment)
    text = ESCAPE.sub("", shown)
    assert "Traceback" not in shown
    assert "2 jobs: " in text
    if environment.get("TERM") == "dumb":
        assert re.search(r"\[1/2, [\d.e+-]+/s, \S+ \w to go\]", text.replace("\n", " "))
    else:
        assert re.search(r"batch: \d+ s · 1/2, [\d.e+-]+/s", text)
        assert columns < 80 or re.search(r"1/2, [\d.e+-]+/s, \S+ \w to go", text)
        assert "line 2" in text
        assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)
