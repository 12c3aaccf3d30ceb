"""Whatever a specialist starts ends with it, and everything ends with the orchestrator."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import DAEMON, begun_since, is_alive

from outcrop import Pool
from outcrop.launching import LaunchSpec
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.supervised import SupervisedChild

IS_LONG = "OUTCROP_LONG" in os.environ


def marked(mark: str) -> list[psutil.Process]:
    """The living processes with this mark in their command line, also forks of them."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if (
            any(mark in part for part in process.info["cmdline"] or [])
            and process.info["status"] != psutil.STATUS_ZOMBIE
        ):
            found.append(process)
    return found


async def test_a_daemon_in_a_session_of_its_own_is_ended_and_counted(pool: Pool, program: Any) -> None:
    command = program(DAEMON + "complete()")
    outcome = await pool.dispatch("mine", command=command, grace=0.5)
    assert outcome.status == "success"
    assert "1 processes that it had left behind" in outcome.warnings[0]
    assert marked(command[-1]) == []


async def test_two_hundred_children_that_ignore_sigterm_are_ended(pool: Pool, program: Any) -> None:
    body = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(300)
    complete()
    """
    command = program(body)
    outcome = await pool.dispatch("mine", command=command, grace=0.3)
    assert outcome.status == "success"
    assert "200 processes that it had left behind were ended (SIGTERM, SIGKILL)" in outcome.warnings[0]
    assert marked(command[-1]) == []


async def test_more_processes_than_allowed_end_the_dispatch(pool: Pool, program: Any) -> None:
    body = """
    for _ in range(600):
        if os.fork() == 0:
            time.sleep(300)
    time.sleep(300)
    """
    command = program(body)
    outcome = await pool.dispatch("mine", command=command, grace=0.3, timeout=60)
    assert outcome.status == "failed"
    assert any("processes" in error for error in outcome.errors)
    assert marked(command[-1]) == []


ORCHESTRATOR = """
import asyncio, sys
from outcrop import Pool

async def main():
    async with Pool(workers=3, workspace=sys.argv[1]) as pool:
        commands = [[sys.executable, path] for path in sys.argv[2:]]
        print("ready", flush=True)
        await asyncio.gather(*(pool.dispatch("mine", command=command) for command in commands * 2))

asyncio.run(main())
"""
WARMING = """
import asyncio, sys
from outcrop import Pool

async def main():
    async with Pool(workers=3, workspace=sys.argv[1]) as pool:
        pool._desk.shared.launcher.warm()
        print("ready", flush=True)
        while True:
            await pool.dispatch("analytics", "look around")

asyncio.run(main())
"""
BODIES = {
    "hangs": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)",
    "forks": "[os.fork() for _ in range(3)]; time.sleep(300)",
    "daemonises": DAEMON + "time.sleep(300)",
}


@pytest.mark.parametrize("seed", range(100 if IS_LONG else 4))
def test_when_the_orchestrator_is_killed_nothing_is_left_after_a_second(
    workspace: Path, program: Any, seed: int, tmp_path: Path
) -> None:
    paths = [program(body)[-1] for body in BODIES.values()]
    chance = random.Random(seed)
    process = subprocess.Popen(
        [sys.executable, "-c", ORCHESTRATOR, str(workspace), *paths], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if chance.random() < 0.5:
        # Any moment, whatever has been started by then.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0, 0.6))
    else:
        target = chance.choice([1, 3, 5])
        deadline = time.monotonic() + 30
        while len([p for path in paths for p in marked(path)]) - 1 < target and time.monotonic() < deadline:
            pass
    with process.stdout:
        assert ended_with(process, workspace, paths) == []


@pytest.mark.parametrize("seed", range(40 if IS_LONG else 3))
def test_when_the_orchestrator_is_killed_while_its_nursery_warms_nothing_is_left_after_a_second(
    workspace: Path, seed: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WARMING, str(workspace)], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.Random(seed).uniform(0, 1.5))
        assert ended_with(process, workspace, []) == []


def ended_with(process: subprocess.Popen[str], workspace: Path, marks: list[str]) -> list[psutil.Process]:
    """Kill an orchestrator; what of it is still there a second later."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    found = [*children, *(p for mark in marks for p in marked(mark)), *of_workspace(workspace)]
    # Every one of them ends within the second; a machine that is busy with other things gets some more.
    _, alive = psutil.wait_procs(set(found), timeout=1 if IS_LONG else 6)
    alive += [*(p for mark in marks for p in marked(mark)), *of_workspace(workspace)]
    return [p for p in alive if is_alive(p)]


def of_workspace(workspace: Path) -> list[psutil.Process]:
    """What has this workspace in its environment: the nursery, its spares, every specialist."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(str(workspace) in value for value in process.environ().values()):
                found.append(process)
    return found


async def test_dispatches_leave_descriptors_threads_and_processes_as_they_were(pool: Pool, program: Any) -> None:
    command, before = program(DAEMON + "complete()"), psutil.Process().children()
    await pool.dispatch("mine", command=command, grace=0.2)
    own = psutil.Process()
    await supervisors_reaped(before)
    descriptors, threads = own.num_fds(), own.num_threads()
    for _ in range(5):
        await asyncio.gather(*(pool.dispatch("mine", command=command, grace=0.2) for _ in range(4)))
    await supervisors_reaped(before)
    assert own.num_fds() <= descriptors
    # The executor of the event loop makes threads up to a limit of its own, and keeps them.
    assert own.num_threads() <= threads + min(32, (os.cpu_count() or 1) + 4)
    assert begun_since(before) == []
    assert marked(command[-1]) == []


async def supervisors_reaped(before: list[psutil.Process]) -> None:
    """A supervisor ends just after its last word; its pidfd is closed when that is noticed."""
    for _ in range(200):
        if not begun_since(before):
            return
        await asyncio.sleep(0.02)


async def test_a_supervisor_that_is_killed_costs_its_dispatch_and_nothing_else(pool: Pool, program: Any) -> None:
    slow, quick = program("say(type='progress'); time.sleep(300)"), program("complete()")
    task = asyncio.create_task(pool.dispatch("mine", command=slow, grace=0.3, timeout=60))
    while not (found := marked(slow[-1])):
        await asyncio.sleep(0.02)
    supervisor = found[0].parent()
    assert supervisor is not None
    supervisor.kill()
    outcome = await asyncio.wait_for(task, 30)
    assert outcome.status in ("no_completion", "crashed", "failed")
    assert (await pool.dispatch("mine", command=quick)).status == "success"
    assert marked(slow[-1]) == []


class Deaf(ColdLauncher):
    """Does not listen to supervisors; keeps the children it started."""

    def __init__(self) -> None:
        super().__init__()
        self.children: list[SupervisedChild] = []

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        child = await super().launch(spec)
        if spec.argv and "program" in spec.argv[-1]:
            asyncio.get_running_loop().remove_reader(child._ends.control)
            self.children.append(child)
        return child


async def test_an_orchestrator_that_ends_with_words_unread_leaves_no_daemon(workspace: Path, program: Any) -> None:
    launcher, command = Deaf(), program(DAEMON)
    async with Pool(workspace=workspace, launcher=launcher) as pool:
        task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.2))
        while not launcher.children:
            await asyncio.sleep(0.01)
        [child] = launcher.children
        # "exited" lies unread: closing this end now resets the other, while the lifeline still holds.
        await asyncio.to_thread(select.select, [child._ends.control], [], [], 60)
        child._ends.control.close()
        _, alive = await asyncio.to_thread(psutil.wait_procs, marked(command[-1]), 20)
        assert alive == []
        child._gone()
        assert (await task).status == "no_completion"


def test_the_grace_time_of_a_stubborn_specialist_ends_with_the_orchestrator(workspace: Path, program: Any) -> None:
    told = workspace / "results" / "told"
    body = f"""
    signal.signal(signal.SIGTERM, lambda *_: open({str(told)!r}, "w").close())
    while True:
        time.sleep(1)
    """
    path = program(body)[-1]
    script = ORCHESTRATOR.replace("command=command)", "command=command, grace=60, timeout=5)")
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(workspace), path],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 60
        while not told.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert told.exists()
        assert ended_with(process, workspace, [path]) == []


HEADLESS = """
import ctypes
def headless(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
    def work():
        block = bytearray(HELD)
        block[::4096] = b"x" * len(block[::4096])
        time.sleep(60)
        os._exit(0)
    threading.Thread(target=work).start()
    time.sleep(0.1)
    ctypes.CDLL(None).pthread_exit(0)
"""


def called(name: str) -> list[int]:
    """The processes with this name, also those that look like zombies since their first thread has ended."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and (folder / "comm").read_text().strip() == name:
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize("who", ["daemon", "itself"])
async def test_a_process_whose_first_thread_has_ended_is_ended_too(pool: Pool, program: Any, who: str) -> None:
    name = f"headless{os.getpid() % 100_000}"
    daemon = f"""
if os.fork() == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    headless(b"{name}")
time.sleep(0.4)
complete()
"""
    itself = f'complete()\nheadless(b"{name}")\n'
    body = "HELD = 4096\n" + HEADLESS + (daemon if who == "daemon" else itself)
    outcome = await pool.dispatch("mine", command=program(body), grace=0.5)
    assert outcome.status == "success"
    assert called(name) == []


@pytest.mark.parametrize("who", ["headless", "memory file"])
async def test_memory_that_is_no_process_s_own_is_counted(
    pool: Pool, program: Any, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outcrop_schemas.limits.DISPATCH_MEMORY_BYTES", 200 << 20)
    held = """
file = os.memfd_create("held")
for _ in range(250):
    os.write(file, b"x" * (1 << 20))
time.sleep(30)
"""
    # Its data segment is bound to the same number: two of them are over it.
    headless = f"HELD = {120 << 20}\n" + HEADLESS + 'if os.fork() == 0:\n    headless(b"held")\nheadless(b"held")\n'
    outcome = await pool.dispatch("mine", command=program(held if who == "memory file" else headless), timeout=30)
    assert outcome.status == "failed"
    assert "bytes are resident" in " ".join(outcome.errors)


async def test_a_mapped_memory_file_counts_once(pool: Pool, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outcrop_schemas.limits.DISPATCH_MEMORY_BYTES", 300 << 20)
    body = """
    import mmap
    file = os.memfd_create("held")
    os.ftruncate(file, 180 << 20)
    mapped = mmap.mmap(file, 180 << 20)
    for _ in range(180):
        mapped.write(b"x" * (1 << 20))
    time.sleep(1.5)
    complete()
    """
    assert (await pool.dispatch("mine", command=program(body))).status == "success"


SUPERVISING = """
import os, resource, select, socket, subprocess, sys, time
from outcrop_specialists.guard import supervisor
control, theirs = socket.socketpair()
lifeline, held = os.pipe()
if os.fork() == 0:
    supervisor.prepare()
    watched = supervisor.Supervisor(theirs.fileno(), lifeline, {"memory_bytes": 1 << 40, "processes": 99, "policy": {}})
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.setsid()
        while True:
            time.sleep(1)
    time.sleep(0.3)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)) if BARE else None
    watched._child = child
    watched._sweep(0.1)
theirs.close()
said = b""
while piece := control.recv(4096):
    said += piece
print(said.decode().split()[-3:])
"""


@pytest.mark.parametrize("bare", [False, True])
def test_a_supervisor_without_a_descriptor_left_ends_everything_all_the_same(bare: bool) -> None:
    code = f"BARE = {bare}\n" + SUPERVISING
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.startswith("['swept', 'SIGTERM"), ran.stderr
    assert marked(code) == []
