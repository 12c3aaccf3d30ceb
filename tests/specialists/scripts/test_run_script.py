"""A script does what no tool does: its answer and its files come back, nothing else, and it is confined."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool
from outcrop_specialists.tools.scripts import running

Run = Callable[..., ToolResult]


@pytest.fixture
def run(context: ToolContext) -> Run:
    def call(code: str, **arguments: Any) -> ToolResult:
        tool = get_tool("run_script")
        source = textwrap.dedent(code)
        return tool.run(context, tool.arguments.model_validate({"code": source, **arguments}))

    return call


def answering(expression: str, before: str = "") -> str:
    answer = f"print('===RESULT===')\nprint(json.dumps({expression}))\nprint('===END_RESULT===')"
    return f"import json, os, sys\n{before}\n{answer}"


def test_its_answer_is_what_stands_between_the_markers(run: Run, context: ToolContext, write_file: Any) -> None:
    name = write_file("a.csv", "x\n1\n2\n")
    code = answering("{'lines': len(open(sys.argv[1]).readlines())}", "print('chatter')")
    found = run(code, data=[name])
    assert found.results["answer"] == {"lines": 3}
    assert found.results["script"].startswith("results/scripts/a_run_script_")
    assert (context.workspace / found.results["script"]).read_text() == code
    assert "chatter" not in str(found.as_json())


def test_the_last_answer_counts_and_text_is_an_answer_too(run: Run) -> None:
    found = run("for word in ('one', 'two'): print('===RESULT===', word, '===END_RESULT===', sep='\\n')")
    assert found.results["answer"] == "two"
    assert "2 answers were printed; the last one counts" in found.notes


def test_its_files_are_published_with_lineage_and_never_replaced(
    run: Run, context: ToolContext, write_file: Any
) -> None:
    name = write_file("a.csv", "x\n1\n2\n")
    code = answering("1", "open('out.csv', 'w').write('y\\n3\\n')")
    first, again = run(code, data=[name]), run(code, data=[name])
    table = next(artifact for artifact in first.artifacts if artifact.kind == "table")
    assert table.path.startswith("results/a_run_script_out_")
    assert (context.workspace / table.path).read_text() == "y\n3\n"
    assert [a.path for a in again.artifacts] == [a.path for a in first.artifacts]
    assert (context.workspace / "results/.lineage" / f"{table.path.removeprefix('results/')}.json").exists()


def test_it_reads_what_it_was_given_writes_its_folder_and_has_no_network(
    run: Run, context: ToolContext, write_file: Any
) -> None:
    given, other = write_file("given.csv", "x\n1\n"), write_file("other.csv", "x\n1\n")
    before = f"""
def attempt(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"
import socket
found = {{
    "given": attempt(lambda: open(sys.argv[1])),
    "own": attempt(lambda: open("own.txt", "w")),
    "other": attempt(lambda: open({str(context.workspace / other)!r})),
    "overwrite": attempt(lambda: open(sys.argv[1], "a")),
    "results": attempt(lambda: open({str(context.workspace / "results" / "x.csv")!r}, "w")),
    "socket": attempt(lambda: socket.socket()),
    "session": attempt(os.setsid),
    "channel": attempt(lambda: os.fstat(3)),
}}
"""
    found = run(answering("found", before), data=[given]).results["answer"]
    assert {name for name, said in found.items() if said == "done"} == {"given", "own"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("print(undefined_name)", "NameError"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("print('no answer')", "printed no answer between ===RESULT==="),
    ],
)
def test_a_script_that_fails_says_why(run: Run, code: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        run(code)


def test_source_that_is_no_python_is_refused_before_it_runs(run: Run) -> None:
    with pytest.raises(ArgumentError, match="line 2: ") as caught:
        run("x = 1\nx ==== 2\n")
    assert caught.value.field == "code"


def test_a_long_answer_is_cut_and_kept_in_a_file(run: Run, context: ToolContext) -> None:
    found = run(answering("'y' * 10_000"))
    assert len(found.results["answer"]) == limits.SCRIPT_ANSWER_CHARS
    (note,) = found.notes
    path = context.workspace.parent / "scratch"
    assert "10002 characters" in note
    assert any(len(each.read_text()) == 10_002 for each in path.rglob("answer.txt"))


def test_what_takes_longer_goes_on_and_is_waited_for(run: Run, context: ToolContext) -> None:
    check = get_tool("check_script")
    code = answering("'late'", "import select; select.select([], [], [], 1.5)")
    found = run(code, wait_seconds=0.2)
    assert found.results["state"] == "running"
    arguments = check.arguments.model_validate({"handle": found.results["handle"]})
    assert check.run(context, arguments).results["answer"] == "late"
    with pytest.raises(ArgumentError, match="none is running"):
        check.run(context, arguments)


def test_a_running_script_can_be_ended_with_its_children(run: Run, context: ToolContext) -> None:
    check = get_tool("check_script")
    sleep = "import time; time.sleep(300)"
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {sleep!r}])\n{sleep}"
    handle = run(code, wait_seconds=0.5).results["handle"]
    process = psutil.Process(running.DETACHED[handle].process.pid)
    family = [process, *process.children(recursive=True)]
    found = check.run(context, check.arguments.model_validate({"handle": handle, "stop": True}))
    assert found.results["state"] == "stopped"
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []


def test_an_answer_longer_than_what_is_read_is_said_to_be_so(run: Run) -> None:
    with pytest.raises(DataError, match="answer is too long: of its output of 2,"):
        run("print('===RESULT===')\nprint('x' * 2_000_000)\nprint('===END_RESULT===')")
    with pytest.raises(DataError, match="printed no answer between"):
        run("print('x' * 2_000_000)")
