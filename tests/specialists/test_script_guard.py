"""What a script inside a specialist cannot do, shown by scripts that try."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from outcrop_specialists.guard import kernel
from outcrop_specialists.guard.places import workspace_entries
from outcrop_specialists.guard.script import CONFINEMENT, Script, end_script, start_script

TRY = """
import json, os, signal, socket, subprocess, sys, time
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.strerror
    return "done"
def in_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, os.strerror(number))
"""
Start = Callable[..., Script]


@pytest.fixture(autouse=True)
def kernel_can() -> None:
    if kernel.landlock_abi() < 1:
        pytest.skip("this kernel has no Landlock")


@pytest.fixture
def results(workspace: Path) -> Path:
    (workspace / "results").mkdir()
    return workspace / "results"


@pytest.fixture
def start(workspace: Path, results: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a Python script that may write to `results` and to its own folder; its output goes to the file `said`."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    started = []
    with (tmp_path / "said").open("wb") as said:

        def start(code: str, argv: list[str] | None = None, **environment: str) -> Script:
            script = start_script(
                argv or [sys.executable, "-c", TRY + code],
                readable=workspace_entries(workspace),
                listable=[str(workspace)],
                writable=[str(results)],
                folder=folder,
                environment=environment,
                stdout=said.fileno(),
                stderr=said.fileno(),
            )
            started.append(script)
            return script

        yield start
        for script in started:
            end_script(script, 0.0)


@pytest.fixture
def tried(start: Start, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What a script was answered that tried these actions."""

    def run(**actions: str) -> dict[str, Any]:
        attempts = ", ".join(f"{name!r}: attempt(lambda: {code})" for name, code in actions.items())
        script = start(f"print(json.dumps({{{attempts}}}))")
        script.wait(30)
        end_script(script, 0.0)
        answered: dict[str, Any] = json.loads((tmp_path / "said").read_text())
        return answered

    return run


def done(answered: dict[str, Any]) -> set[str]:
    return {name for name, said in answered.items() if said == "done"}


def test_it_writes_its_folder_and_what_is_granted_and_nothing_else(
    tried: Any, workspace: Path, results: Path, tmp_path: Path
) -> None:
    (workspace / "data.csv").write_text("x\n1\n")
    answered = tried(
        own='open("own.txt", "w")',
        granted=f'open("{results}/table.csv", "w")',
        data=f'open("{workspace}/data.csv", "a")',
        new=f'open("{workspace}/new.csv", "w")',
        beside=f'open("{tmp_path}/outside", "w")',
        link=f'(os.symlink("{tmp_path}", "out"), open("out/outside", "w"))',
        temporary='open("/tmp/outcrop-escape", "w")',
        remove=f'os.remove("{workspace}/data.csv")',
    )
    assert done(answered) == {"own", "granted"}
    assert (workspace / "data.csv").read_text() == "x\n1\n"


def test_it_reads_the_workspace_but_no_journal_no_settings_and_nothing_outside(
    tried: Any, workspace: Path, tmp_path: Path
) -> None:
    journal = workspace / ".outcrop" / "runs" / "r1" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    for path in (journal, workspace / "outcrop.toml", workspace / "data.csv", tmp_path / "secret"):
        path.write_text("x\n")
    answered = tried(
        data=f'open("{workspace}/data.csv")',
        names=f'os.listdir("{workspace}")',
        journal=f'open("{journal}")',
        settings=f'open("{workspace}/outcrop.toml")',
        outside=f'open("{tmp_path}/secret")',
        shadow='open("/etc/shadow")',
    )
    assert done(answered) == {"data", "names"}


def test_it_makes_no_socket_and_leaves_neither_session_nor_group(tried: Any) -> None:
    answered = tried(
        tcp="socket.socket()",
        udp="socket.socket(2, 2)",
        unix="socket.socket(1)",
        pair="socket.socketpair()",
        session="in_child(os.setsid)",
        group="in_child(lambda: os.setpgid(0, 0))",
        popen='subprocess.Popen(["true"], start_new_session=True)',
        plain='subprocess.run(["true"], check=True)',
    )
    assert done(answered) == {"pair", "plain"}
    assert answered["session"] == answered["group"] == "Operation not permitted"


def test_it_has_neither_the_model_channel_nor_any_other_descriptor_of_its_specialist(
    start: Start, tmp_path: Path
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "secret").open("w") as secret:
        for end in (theirs, secret):
            os.set_inheritable(end.fileno(), True)
        code = f"""
found = [name for name in os.listdir("/proc/self/fd") if int(name) > 2]
print(json.dumps([found[:-1], sys.stdin.read(), attempt(lambda: os.write({theirs.fileno()}, b"x")),
    attempt(lambda: open("/proc/{os.getpid()}/fd/{secret.fileno()}", "w"))]))
"""
        start(code).wait(30)
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)
    # The last one listed is the listing's own.
    opened, stdin, channel, through = json.loads((tmp_path / "said").read_text())
    assert (opened, stdin, channel) == ([], "", "Bad file descriptor")
    assert through == "Permission denied"


def test_its_environment_is_the_allowed_part_and_what_is_given(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    start(
        f'print(json.dumps([dict(os.environ), attempt(lambda: open("/proc/{os.getpid()}/environ"))]))', MPLBACKEND="Agg"
    ).wait(30)
    environment, ours = json.loads((tmp_path / "said").read_text())
    assert "canary" not in environment.values()
    assert environment["MPLBACKEND"] == "Agg"
    assert environment["HOME"] == environment["TMPDIR"] == str(tmp_path / "scratch")
    assert ours == "Permission denied"


def test_it_cannot_signal_its_specialist(tried: Any) -> None:
    answered = tried(child=f"os.kill({os.getpid()}, 9)", group=f"os.killpg({os.getpgid(0)}, 9)")
    # To its parent it is answered as if the signal had been sent and ignored; this test would not be here otherwise.
    assert answered["group"] in ("Operation not permitted", "No such process")


FAMILY = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        if os.fork() == 0:
            pass
        break
print("ready", flush=True)
time.sleep(300)
"""


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 30
    while path.read_text().count("ready") < count and time.monotonic() < deadline:
        time.sleep(0.01)


def alive(group: int) -> list[int]:
    found = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except ProcessLookupError:
            continue
    return found


def test_its_end_is_the_end_of_all_that_it_started(start: Start, tmp_path: Path) -> None:
    script = start(FAMILY)
    wait_for_lines(tmp_path / "said", 7)
    assert len(alive(script.pid)) == 7
    end_script(script, 0.1)
    assert alive(script.pid) == []
    assert script.returncode == -9


def test_what_it_leaves_behind_is_ended_too(start: Start, tmp_path: Path) -> None:
    script = start('subprocess.Popen(["sleep", "300"]); print("ready", flush=True)')
    assert script.wait(30) == 0
    assert len(alive(script.pid)) == 1
    end_script(script, 5.0)
    assert alive(script.pid) == []


def test_every_layer_is_taken_also_under_the_confinement_of_a_specialist(tmp_path: Path, workspace: Path) -> None:
    # In a process of its own, since it confines itself like a specialist first.
    program = f"""
import sys
from pathlib import Path
from outcrop_specialists.guard.confine import LAYERS, confine
from outcrop_specialists.guard.places import DEVICES, SYSTEM, interpreter_paths
from outcrop_specialists.guard.script import end_script, start_script
policy = dict(layers=LAYERS, rlimits={{}}, readable=[*SYSTEM, *interpreter_paths()], listable=[], devices=DEVICES,
              writable=[{str(workspace)!r}])
assert set(confine(policy).values()) == {{"ok"}}
script = start_script([sys.executable, "-c", "print('ran')"], readable=[], writable=[], folder=Path({str(workspace)!r}),
                      environment={{}}, stdout=1, stderr=2)
script.wait(30)
end_script(script, 1)
print(script.layers)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/", check=False)
    assert ran.stdout.startswith("ran\n"), ran.stderr
    assert ran.stdout.count("'ok'") == 5


def test_where_confinement_is_off_for_the_specialist_it_is_for_the_script(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONFINEMENT, "off")
    assert start("").layers == {"rlimits": "ok", "no_new_privs": "ok"}
    monkeypatch.delenv(CONFINEMENT)
    assert set(start("").layers) == {"rlimits", "no_new_privs", "capabilities", "landlock", "seccomp"}


def test_a_program_that_is_not_there_is_an_error_with_the_reason(start: Start) -> None:
    with pytest.raises(FileNotFoundError, match="No such file"):
        start("", ["/no/such/program"])


def test_threads_may_start_scripts_at_a_time(start: Start) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(start("pass").wait(30))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0, 0, 0, 0]
