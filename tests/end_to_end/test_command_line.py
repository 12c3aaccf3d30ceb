"""What a user meets at the command line: exit statuses, one JSON document, clear errors, nothing lost."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from installed import OUTCROP
from processes import is_alive, name_of

CSV = "sample,Au_ppm,Lithology\na,0.1,granite\nb,0.2,Granite\nc,0.4,basalt\n"


@pytest.fixture
def assays(workspace: Path) -> Path:
    path = workspace / "assays.csv"
    path.write_text(CSV)
    return path


def test_a_good_run_reports_what_was_found_and_where(outcrop: Any, assays: Path) -> None:
    done = outcrop("run", "summarise Au_ppm", "--data", "assays.csv")
    assert done.returncode == 0
    assert "SUCCESS" in done.stdout
    assert "Files:" in done.stdout
    assert "Record: " in done.stdout
    assert "offline model" in done.stdout
    assert "d0001 analytics started" in done.stderr


def test_json_is_one_document_on_stdout_and_nothing_else(outcrop: Any, assays: Path) -> None:
    done = outcrop("run", "summarise Au_ppm", "--data", "assays.csv", "--json")
    assert len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["status"] == "success"


def test_what_is_not_understood_is_a_blocker_with_its_words(outcrop: Any, assays: Path) -> None:
    done = outcrop("run", "summarise Au_ppm, then predict the price of gold", "--data", "assays.csv", "--json")
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"]) == (0, "partial")
    assert "predict the price of gold" in " ".join(outcome["blockers"])


def test_an_unknown_column_is_named_with_the_closest_ones(outcrop: Any, assays: Path) -> None:
    done = outcrop("run", "summarise Au_pmp", "--data", "assays.csv", "--json")
    outcome = json.loads(done.stdout)
    said = " ".join([*outcome["blockers"], *outcome["errors"]])
    assert outcome["status"] in ("partial", "error")
    assert "Au_pmp" in said
    assert "Au_ppm" in said


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["run", "summarise", "--data", "missing.csv"], 1, "missing.csv"),
        (["run", "summarise", "--data", "asays.csv"], 1, "assays.csv"),
        (["run", "summarise", "--data", "empty.csv"], 1, "is empty"),
        (["run", "summarise", "--data", "folder"], 1, "is a folder"),
        (["run", "summarise", "--data", "/etc/passwd"], 1, "outside the workspace"),
        (["run", "summarise", "--data", "link.csv"], 1, "outside the workspace"),
        (["run", "", "--data", "assays.csv"], 2, "objective is empty"),
        (["run", "   ", "--data", "assays.csv"], 2, "objective is empty"),
        (["run", "x" * 100_000, "--data", "assays.csv"], 2, "100000 characters"),
        (["run", "summarise", "--workspace", "nowhere"], 1, "does not exist"),
        (["run", "summarise", "--data", "assays.csv", "--model", "gpt-9"], 2, "gpt-9"),
        (["run", "summarise", "--data", "assays.csv", "--pin", "nonsense"], 2, "KEY=VALUE"),
        (["dispatch", "analitics", "--objective", "x"], 2, "analytics"),
        (["dispatch", "analytics"], 2, "--objective"),
        (["dispatch"], 2, "COMMAND after --"),
        (["batch", "nothing.jsonl"], 1, "nothing.jsonl"),
        (["show", "20990101"], 2, "no run"),
        (["run"], 2, "OBJECTIVE"),
        (["dig"], 2, "dig"),
    ],
)
def test_bad_input_is_a_clear_error_with_the_right_status(
    outcrop: Any, assays: Path, workspace: Path, arguments: list[str], status: int, said: str
) -> None:
    (workspace / "empty.csv").touch()
    (workspace / "folder").mkdir()
    (workspace / "link.csv").symlink_to("/etc/passwd")
    done = outcrop(*arguments)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_objective_can_come_from_stdin_and_its_length_is_checked(outcrop: Any, assays: Path) -> None:
    good = outcrop("run", "-", "--data", "assays.csv", "--json", input="summarise Au_ppm\n")
    assert json.loads(good.stdout)["objective"] == "summarise Au_ppm"
    long = outcrop("run", "-", "--data", "assays.csv", input="x" * 200_000)
    assert (long.returncode, "200000 characters" in long.stderr) == (2, True)


def test_a_binary_file_is_an_error_that_names_it(outcrop: Any, workspace: Path) -> None:
    (workspace / "picture.csv").write_bytes(bytes(range(256)) * 40)
    done = outcrop("run", "summarise everything", "--data", "picture.csv", "--json")
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"]) == (1, "error")
    assert "picture.csv" in json.dumps(outcome)
    assert "Traceback" not in done.stderr


def test_a_traceback_comes_only_when_asked_for(outcrop: Any, workspace: Path) -> None:
    assert "Traceback" in outcrop("run", "x", "--workspace", "nowhere", "--debug").stderr


def test_a_workspace_that_cannot_be_written_to_is_a_workspace_error(
    outcrop: Any, assays: Path, workspace: Path
) -> None:
    # A file where the folder belongs: unlike permissions, this stops root too.
    (workspace / ".outcrop").write_text("in the way")
    done = outcrop("run", "summarise Au_ppm", "--data", "assays.csv")
    assert done.returncode == 1
    assert "cannot be written to" in done.stderr


def children_of(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def start_slow_dispatch(workspace: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """An `outcrop dispatch` whose command sleeps, and its processes once they are there."""
    command = [OUTCROP, "dispatch", "--workspace", str(workspace), "--grace", "0.5", "--", "sleep", "60"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [child for child in children_of(process) if name_of(child) == "sleep"]
        if found:
            return process, found
    raise AssertionError("the command was not started")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything_and_leaves_a_readable_journal(outcrop: Any, workspace: Path, number: int) -> None:
    process, children = start_slow_dispatch(workspace)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not any(map(is_alive, children))
    shown = outcrop("show", "last")
    assert "cancelled" in shown.stdout


def test_a_second_run_in_the_same_workspace_is_refused(outcrop: Any, assays: Path, workspace: Path) -> None:
    process, _ = start_slow_dispatch(workspace)
    done = outcrop("run", "summarise Au_ppm", "--data", "assays.csv")
    assert done.returncode == 1
    assert "another run is under way" in done.stderr
    assert str(process.pid) in done.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_a_dispatch_in_flight_at_kill_9_is_shown_as_interrupted(outcrop: Any, workspace: Path) -> None:
    process, children = start_slow_dispatch(workspace)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert [child for child in alive if is_alive(child)] == []
    shown = outcrop("show", "last")
    assert "interrupted" in shown.stdout
    assert "in flight" in shown.stderr


def test_a_dispatch_of_a_command_takes_relative_files_from_here(outcrop: Any, workspace: Path) -> None:
    script = (
        "import json, sys\n"
        "request = json.loads(sys.stdin.readline())\n"
        "print(json.dumps({'type': 'completion', 'dispatch_id': request['dispatch_id'], 'status': 'success',"
        " 'results': {'text': '\\u202egpj.exe \\x1b[2J \\u2028 end'}}))\n"
    )
    (workspace / "mine.py").write_text(script)
    as_json = outcrop("dispatch", "--json", "--", sys.executable, "mine.py")
    assert len(as_json.stdout.splitlines()) == 1
    assert json.loads(as_json.stdout)["results"]["text"] == "\u202egpj.exe \x1b[2J \u2028 end"
    shown = outcrop("dispatch", "--", sys.executable, "mine.py")
    assert "\x1b" not in as_json.stdout + shown.stdout
    assert "\u202e" not in as_json.stdout + shown.stdout


def test_specialists_can_be_dispatched_one_at_a_time(outcrop: Any, assays: Path) -> None:
    done = outcrop("dispatch", "analytics", "--objective", "summarise Au_ppm", "--data", "assays.csv", "--json")
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"]) == (0, "success")
    assert outcome["specialist"] == "analytics"


@pytest.mark.parametrize("name", ["dispatch", "stream", "completion", "outcome", "journal"])
def test_schemas_are_json_schemas(outcrop: Any, name: str) -> None:
    schema = json.loads(outcrop("schema", name).stdout)
    assert schema["$schema"].startswith("https://json-schema.org")
    assert "properties" in schema or "oneOf" in schema


def test_facts_can_be_read_by_people_and_by_programs(outcrop: Any) -> None:
    for name in ("tools", "limits", "runs"):
        assert outcrop(name).returncode == 0
        assert isinstance(json.loads(outcrop(name, "--json").stdout), list)
    report = json.loads(outcrop("doctor", "--json").stdout)
    assert {check["name"] for check in report["checks"]} >= {"Python", "polars", "model", "workspace", "byte code"}
    assert all(isinstance(found["active"], bool) and found["by"] for found in report["isolation"].values())
    assert "8,000" in outcrop("limits").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_command_line_completes_with_tab(outcrop: Any, shell: str) -> None:
    assert "--workspace" in outcrop("completion", shell).stdout


def test_help_and_version_are_quick_to_read(outcrop: Any) -> None:
    assert "Exit status" in outcrop("--help").stdout
    assert outcrop("--version").stdout.startswith("outcrop 0.")
    assert outcrop().returncode == 2


def test_the_installed_script_does_what_the_forked_command_does(outcrop: Any, assays: Path, workspace: Path) -> None:
    """Most tests run commands in forked processes (`installed.py`); here each stands beside the script itself."""
    script = [OUTCROP, "run", "summarise Au_ppm", "--data", "assays.csv"]
    assert subprocess.run(script, cwd=workspace, capture_output=True).returncode == 0
    for command in (
        "show last", "show last --json", "log last", "context last", "replay last --verify", "diff last last", "pins",
        "memory", "tools", "limits --json", "schema dispatch", "completion zsh", "gc --older-than 3d",
        "export-plan last", "show 2019", "run x --data none.csv", "cancel last d0009", "nonsense",
    ):  # fmt: skip
        done = subprocess.run([OUTCROP, *command.split()], cwd=workspace, capture_output=True, text=True)
        forked = outcrop(*command.split())
        found = (forked.returncode, forked.stdout, forked.stderr)
        assert (done.returncode, done.stdout, done.stderr) == found, command


def test_a_reader_that_goes_away_is_no_error(workspace: Path) -> None:
    shell = f"'{OUTCROP}' limits --json | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], cwd=workspace, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""


def test_on_a_terminal_the_dispatches_are_shown_live(assays: Path, workspace: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [OUTCROP, "run", "summarise Au_ppm", "--data", "assays.csv", "--json"],
        cwd=workspace, stdout=subprocess.PIPE, stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["status"] == "success"
    assert b"analytics" in shown
    assert b"success" in shown
    assert b"summarise Au_ppm" in shown


def test_a_name_that_is_not_utf8_in_the_folder_hurts_no_run(outcrop: Any, assays: Path, workspace: Path) -> None:
    Path(os.fsdecode(os.fsencode(workspace) + b"/donn\xe9es.pdf")).write_text("x")
    assert outcrop("run", "summarise Au_ppm", "--data", "assays.csv").returncode == 0
    done = outcrop("run", "summarise Au_ppm", "--data", b"\xff\xfe.csv")
    assert done.returncode == 1
    assert "is not a path" in done.stderr


@pytest.mark.parametrize("name", ["lock", "runs", "cache"])
def test_a_link_in_the_place_of_our_records_is_refused_and_not_followed(
    outcrop: Any, assays: Path, workspace: Path, tmp_path: Path, name: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (workspace / ".outcrop").mkdir()
    (workspace / ".outcrop" / name).symlink_to(precious)
    done = outcrop("run", "summarise Au_ppm", "--data", "assays.csv")
    assert done.returncode == 1
    assert "is a link" in done.stderr
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("pipe", ["2>&1 | head -1", "2>&-", "2> >(true)"])
def test_a_run_goes_on_when_nobody_reads_its_progress(outcrop: Any, assays: Path, workspace: Path, pipe: str) -> None:
    kept = "" if pipe.startswith("2>&1") else "--json > out.json"
    shell = f"'{OUTCROP}' run 'summarise Au_ppm, then draw a histogram of Au_ppm' --data assays.csv {kept} {pipe}"
    subprocess.run(["bash", "-c", shell], cwd=workspace, capture_output=True, timeout=150)
    shown = outcrop("show", "last", "--json")
    assert json.loads(shown.stdout)["answer"]["status"] == "success"
    assert left_behind(workspace) == []


def left_behind(workspace: Path) -> list[psutil.Process]:
    """Processes that belong to this workspace: its path is in their environment or their folder lies in it."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(workspace) in "".join([process.cwd(), *process.environ().values()]):
                found.append(process)
        except psutil.Error:
            continue
    _, alive = psutil.wait_procs(found, timeout=5)
    return [process for process in alive if is_alive(process)]


@pytest.mark.parametrize("arguments", [["runs"], ["--help"], ["--version"], ["tools"]])
def test_output_that_nobody_reads_is_no_error(workspace: Path, arguments: list[str]) -> None:
    shell = f"'{OUTCROP}' {' '.join(arguments)} | true"
    done = subprocess.run(["bash", "-c", shell], cwd=workspace, capture_output=True, text=True)
    assert done.stderr == ""


def test_what_went_wrong_stands_on_stderr_too(outcrop: Any, workspace: Path) -> None:
    (workspace / "header.csv").write_text("a,b\n")
    done = outcrop("run", "summarise a", "--data", "header.csv")
    assert done.returncode == 1
    assert "header.csv" in done.stderr


def test_last_is_the_run_that_began_last(outcrop: Any, workspace: Path) -> None:
    for number in range(3):
        outcrop("dispatch", "--objective", f"number {number}", "--", "true")
        assert f"number {number}" in outcrop("show", "last").stdout


def test_a_run_folder_without_a_first_record_is_passed_over(outcrop: Any, workspace: Path) -> None:
    outcrop("dispatch", "--objective", "real", "--", "true")
    for name in ("99990101-000000-000000-aaaa", "99990101-000000-000000-bbbb"):
        (workspace / ".outcrop" / "runs" / name).mkdir()
    (workspace / ".outcrop" / "runs" / name / "journal.jsonl").touch()
    assert "real" in outcrop("show", "last").stdout
    assert outcrop("runs").returncode == 0
