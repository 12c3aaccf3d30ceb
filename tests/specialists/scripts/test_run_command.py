"""A shell command does what no tool does: confined like a script, its status told, its output bounded."""

from __future__ import annotations

import socket
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from processes import is_alive

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, PathError
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool
from outcrop_specialists.tools.scripts import running

Run = Callable[..., ToolResult]


@pytest.fixture
def run(context: ToolContext) -> Iterator[Run]:
    def call(command: str, **arguments: Any) -> ToolResult:
        return run_tool(get_tool("run_command"), context, {"command": command, **arguments})

    yield call
    for left in list(running.DETACHED.values()):
        running.ended(left)


@pytest.fixture
def check(context: ToolContext) -> Run:
    def call(handle: str, **arguments: Any) -> ToolResult:
        return run_tool(get_tool("check_script"), context, {"handle": handle, **arguments})

    return call


def numbered(count: int) -> list[str]:
    return [f"line {n}" for n in range(1, count + 1)]


def test_both_streams_come_back_in_the_order_they_came(run: Run) -> None:
    found = run("echo one; echo two >&2; echo three; printf four >&2")
    assert found.results["output"] == "one\ntwo\nthree\nfour"
    assert (found.results["exit_code"], found.results["output_lines"]) == (0, 4)
    assert found.summary == "The command ended with exit code 0; it said 4 lines"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("echo said; exit 3", {"exit_code": 3}),
        ("echo said; false", {"exit_code": 1}),
        ("echo said; no-such-program", {"exit_code": 127}),
        ("echo said; kill -9 $$", {"signal": "SIGKILL"}),
        ("echo said; sh -c 'kill -15 $$'", {"exit_code": 143}),
        ("echo said; if", {"exit_code": 2}),
    ],
)
def test_a_command_that_fails_is_a_result_with_its_status(run: Run, command: str, status: dict[str, Any]) -> None:
    found = run(command)
    assert {name: found.results[name] for name in ("exit_code", "signal") if name in found.results} == status
    assert "said" in found.results["output"] or "syntax" in found.results["output"]
    if status == {"exit_code": 143}:
        assert any("SIGTERM" in note for note in found.notes)


def test_its_files_stand_under_their_names_and_what_it_writes_is_published(
    run: Run, context: ToolContext, write_file: Any
) -> None:
    name = write_file("deep/soil.csv", "x\n1\n2\n")
    found = run('wc -l < soil.csv; head -1 "$1"; sort -r soil.csv > sorted.csv', data=[name])
    assert found.results["output"].split() == ["3", "x"]
    table, command = found.artifacts
    assert (context.workspace / table.path).read_text() == "x\n2\n1\n"
    assert (context.workspace / command.path).read_text().startswith("wc -l")
    assert (context.workspace / "deep/results/.lineage").is_dir()
    assert run("wc -l soil.csv", data=[name]).artifacts == []


def test_it_can_do_no_more_than_a_script(run: Run, context: ToolContext, write_file: Any) -> None:
    given, other = write_file("given.csv", "x\n1\n"), write_file("other.csv", "secret\n")
    journal = write_file(".outcrop/runs/r/journal.jsonl", "secret\n")
    (context.workspace / "results").mkdir()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        found = run(
            f"""
            attempt() {{ if "$@" 2>/dev/null; then echo "done: $*"; fi; }}
            attempt cat given.csv
            attempt touch own.txt
            attempt cat {context.workspace / other}
            attempt cat {context.workspace / journal}
            attempt cp own.txt {context.workspace / "results" / "x.csv"}
            attempt sh -c 'echo x >> given.csv'
            attempt cp own.txt /tmp/outcrop-escape
            attempt setsid true
            attempt python3 -c 'import socket; socket.socket()'
            attempt bash -c 'echo x >/dev/tcp/127.0.0.1/80'
            attempt sh -c 'echo x >&{theirs.fileno()}'
            env; cat /proc/$PPID/environ
            """,
            data=[given],
        )
    done = [line for line in found.results["output"].splitlines() if line.startswith("done: ")]
    assert done == ["done: cat given.csv", "done: touch own.txt"]
    assert "secret" not in found.results["output"]
    assert "KEY" not in found.results["output"]
    assert (context.workspace / given).read_text() == "x\n1\n"


def test_a_file_that_is_not_there_or_outside_is_refused(run: Run) -> None:
    for path in ("missing.csv", "../outside", "/etc/passwd"):
        with pytest.raises(PathError):
            run("true", data=[path])


@pytest.mark.parametrize("count", [0, 1, 499, 500])
def test_up_to_500_lines_come_back_whole(run: Run, count: int) -> None:
    found = run(f"seq -f 'line %.0f' 1 {count}").results
    assert found["output"].splitlines() == numbered(count)


@pytest.mark.parametrize(
    ("count", "ends"), [(501, 250), (1_000, 250), (1_001, 100), (100_000, 100)], ids=["501", "1000", "1001", "100000"]
)
def test_of_more_the_first_and_the_last_lines_and_the_file(
    run: Run, context: ToolContext, count: int, ends: int
) -> None:
    found = run(f"seq -f 'line %.0f' 1 {count}").results
    assert found["head"].splitlines() == numbered(count)[:ends]
    assert found["tail"].splitlines() == numbered(count)[-ends:]
    assert (found["output_lines"], found["left_out_lines"]) == (count, count - 2 * ends)
    assert (context.workspace / found["output_file"]).read_text().splitlines() == numbered(count)


def test_more_than_512_kb_is_a_log_whatever_its_lines(run: Run) -> None:
    found = run("for n in $(seq 300); do printf '%2000d\\n' $n; done").results
    assert found["output_bytes"] > limits.COMMAND_LOG_BYTES
    head, tail = found["head"].splitlines(), found["tail"].splitlines()
    assert [int(line) for line in head] == list(range(1, len(head) + 1))
    assert int(tail[-1]) == 300
    assert len(head) + len(tail) + found["left_out_lines"] == 300
    assert len(wire.dumps(found)) < limits.COMMAND_CHARS + 1_000


@pytest.mark.parametrize(
    "command",
    [
        "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end",
        "head -c 3000000 /dev/zero | tr '\\0' x; printf 'the end'",
        "head -c 100000 /dev/zero; echo the end",
        "for n in $(seq 400); do printf '%1500d\\n' $n; done; echo the end",
        "for n in $(seq 400); do printf '\"%.0s' $(seq 90); echo; done; echo the end",
    ],
)
def test_no_output_is_longer_than_its_limit_and_its_end_is_seen(run: Run, command: str) -> None:
    found = run(command).results
    assert len(wire.dumps(found).decode()) < limits.COMMAND_CHARS + 1_000
    assert (found.get("output") or found["tail"]).rstrip("\n").endswith("the end")


def test_a_large_output_takes_little_memory(run: Run) -> None:
    tracemalloc.start()
    found = run("yes 'the same line again' | head -c 50000000").results
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["output_bytes"] == 50_000_000
    assert peak < 12 << 20


def test_what_takes_longer_goes_on_is_asked_after_and_its_output_is_paged(
    run: Run, check: Run, context: ToolContext
) -> None:
    found = run("seq -f 'line %.0f' 1 5000; read -t 1.5 < /dev/tty || sleep 1.5; echo late; exit 4", wait_seconds=0.3)
    assert found.results["state"] == "running"
    assert found.results["head"].splitlines()[0] == "line 1"
    assert (context.workspace / found.results["output_file"]).is_file()
    handle = found.results["handle"]
    page = check(handle, start_line=2_000, lines=2).results
    assert (page["state"], page["text"]) == ("running", "line 2000\nline 2001\n")
    ended = check(handle).results
    assert (ended["state"], ended["exit_code"]) == ("finished", 4)
    assert ended["tail"].endswith("late")
    pieces, going_on = [], {"start_line": 1}
    while going_on:
        page = check(handle, **going_on).results
        pieces.append(page["text"])
        going_on = page.get("next")
    assert len(pieces) > 1
    assert "".join(pieces) == (context.workspace / found.results["output_file"]).read_text()
    with pytest.raises(ArgumentError, match="start_line reads its output"):
        check(handle)
    with pytest.raises(ArgumentError, match="no line 9999"):
        check(handle, start_line=9_999)


def test_a_running_command_can_be_ended_with_its_children(run: Run, check: Run) -> None:
    handle = run("echo begun; sleep 300 & sleep 300", wait_seconds=0.5).results["handle"]
    process = psutil.Process(running.DETACHED[handle].process.pid)
    family = [process, *process.children(recursive=True)]
    found = check(handle, stop=True).results
    assert (found["state"], found["output"]) == ("stopped", "begun\n")
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []


def test_what_a_command_leaves_in_the_background_ends_with_it(run: Run) -> None:
    pid = int(run("sleep 300 & echo $!").results["output"])
    assert not any(is_alive(each) for each in psutil.process_iter() if each.pid == pid)
