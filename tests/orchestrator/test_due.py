"""Every dispatch ends when it was promised to: start, silence, wall clock, cancellation, and what comes after.

Where a bound of the product is looked at, the short form adds ten seconds, for machines that are busy; OUTCROP_LONG=1
does not.
"""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import DAEMON

from outcrop import Pool
from outcrop.launching import LaunchSpec
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.supervised import SupervisedChild
from outcrop.recovery import open_run
from outcrop.runs import RunFolder
from outcrop.stream import StreamScanner
from outcrop_schemas import limits

SLACK_SECONDS = 0.0 if "OUTCROP_LONG" in os.environ else 10.0
Program = Callable[[str], list[str]]

STUBBORN = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{DAEMON}
say(type="progress")
time.sleep(300)
"""


def living(mark: str) -> list[psutil.Process]:
    """The processes with this mark in their command line, zombies apart."""
    found = psutil.process_iter(["cmdline", "status"])
    return [p for p in found if mark in (p.info["cmdline"] or []) and p.info["status"] != psutil.STATUS_ZOMBIE]


async def seconds_to_cancel(tasks: list[asyncio.Task[Any]]) -> float:
    """Cancel them all; how long the last of them took to return."""
    started = time.monotonic()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    return time.monotonic() - started


async def all_running(command: list[str], count: int) -> None:
    """Until so many processes of this command have spoken, or daemonised."""
    while len(living(command[-1])) < count:
        await asyncio.sleep(0.05)


async def test_fifty_that_ignore_sigterm_are_cancelled_within_grace_and_half_a_second(
    workspace: Path, program: Program
) -> None:
    command = program(STUBBORN)
    async with Pool(workers=50, workspace=workspace) as pool:
        tasks = [asyncio.create_task(pool.dispatch("mine", command=command, grace=0.5)) for _ in range(50)]
        # Each is a supervisor's specialist and its daemon.
        await all_running(command, 100)
        took = await seconds_to_cancel(tasks)
        recorded = open_run(pool.run_folder).outcomes
    assert took <= 0.5 + 0.5 + SLACK_SECONDS
    assert [outcome.status for outcome in recorded] == ["cancelled"] * 50
    assert living(command[-1]) == []


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1, 0.3, 0.6])
async def test_fifty_are_cancelled_in_time_also_while_they_start(
    workspace: Path, program: Program, seconds: float
) -> None:
    command = program(STUBBORN)
    async with Pool(workers=50, workspace=workspace) as pool:
        tasks = [asyncio.create_task(pool.dispatch("mine", command=command, grace=0.2)) for _ in range(50)]
        await asyncio.sleep(seconds)
        took = await seconds_to_cancel(tasks)
        record = open_run(pool.run_folder)
    assert took <= 0.2 + 0.5 + SLACK_SECONDS
    # Those that had begun have an end; the others never were.
    assert {outcome.status for outcome in record.outcomes} <= {"cancelled"}
    assert len(record.outcomes) == sum(entry.type == "start" for entry in record.records)
    # One whose start was cut off ends by itself, at once.
    _, alive = psutil.wait_procs(living(command[-1]), timeout=1)
    assert alive == []


async def test_cancelling_while_the_pipes_are_read_out_is_heeded(pool: Pool, program: Program) -> None:
    command = program("subprocess.Popen(['sleep', '300']); open('gone', 'w').close()")
    task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.1))
    while not list(pool.run_folder.path.rglob("gone")):
        await asyncio.sleep(0.01)
    assert await seconds_to_cancel([task]) <= 0.1 + 0.5 + SLACK_SECONDS


async def test_who_cancels_twice_still_finds_nothing_alive(pool: Pool, program: Program) -> None:
    command = program(STUBBORN)
    task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.3))
    await all_running(command, 2)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.05)
    await asyncio.wait([task])
    assert task.cancelled()
    assert living(command[-1]) == []


async def test_a_bound_set_by_the_caller_ends_what_is_under_way(pool: Pool, program: Program) -> None:
    command = program(STUBBORN)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await pool.dispatch("mine", command=command, grace=0.2)
    assert living(command[-1]) == []
    assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"]


async def test_who_is_cancelled_while_leaving_the_pool_leaves_it_whole(workspace: Path, program: Program) -> None:
    command, leaving = program(STUBBORN), asyncio.Event()

    async def work() -> None:
        async with Pool(workspace=workspace) as pool:
            dispatch = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.5))
            await all_running(command, 2)
            leaving.set()
        await dispatch

    task = asyncio.create_task(work())
    await leaving.wait()
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert living(command[-1]) == []
    async with Pool(workspace=workspace) as pool:
        [first] = [folder for folder in pool.run_folder.path.parent.iterdir() if folder != pool.run_folder.path]
    assert [outcome.status for outcome in open_run(RunFolder(first)).outcomes] == ["cancelled"]


class Stuck(ColdLauncher):
    """Never gets `true` started; everything else it does."""

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        if spec.argv and Path(spec.argv[0]).name == "true":
            await asyncio.Event().wait()
        return await super().launch(spec)


async def test_what_does_not_start_in_time_is_a_spawn_error_in_time(workspace: Path) -> None:
    async with Pool(workspace=workspace, launcher=Stuck()) as pool:
        outcome = await pool.dispatch("mine", command=["true"], timeout=0.5, grace=0.2)
    assert outcome.status == "spawn_error"
    assert "was not started within" in outcome.errors[0]
    assert outcome.duration_s <= 0.5 + 0.2 + 1 + SLACK_SECONDS


async def test_a_start_that_hangs_can_be_cancelled(workspace: Path) -> None:
    async with Pool(workspace=workspace, launcher=Stuck()) as pool:
        task = asyncio.create_task(pool.dispatch("mine", command=["true"], grace=0.2))
        while not any(record.type == "start" for record in open_run(pool.run_folder).records):
            await asyncio.sleep(0.01)
        assert await seconds_to_cancel([task]) <= 0.2 + 0.5 + SLACK_SECONDS
        assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"]


class Broken(ColdLauncher):
    """Fails with what nobody foresaw, where it is asked for `true`."""

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        if spec.argv and Path(spec.argv[0]).name == "true":
            raise KeyError("no such machine")
        return await super().launch(spec)


async def test_a_launcher_that_breaks_is_a_spawn_error_with_its_end_recorded(workspace: Path) -> None:
    async with Pool(workspace=workspace, launcher=Broken()) as pool:
        outcome = await pool.dispatch("mine", command=["true"])
        assert open_run(pool.run_folder).outcomes == [outcome]
    assert outcome.status == "spawn_error"
    assert "KeyError: 'no such machine'" in outcome.errors[0]


async def test_artifacts_too_large_to_read_in_time_do_not_hold_up_the_outcome(pool: Pool, program: Program) -> None:
    body = """
    names = [f"huge{n}.bin" for n in range(8)]
    for name in names:
        open(name, "w").close()
        os.truncate(name, 4 << 30)
    complete(artifacts=names)
    """
    outcome = await pool.dispatch("mine", command=program(body), timeout=1.0, grace=0.3)
    assert outcome.status == "success"
    assert any("was not checked to its end" in warning for warning in outcome.warnings)
    assert outcome.duration_s <= 1.0 + 0.3 + 1 + SLACK_SECONDS


async def test_tables_too_long_to_measure_in_time_do_not_hold_up_the_outcome(pool: Pool, program: Program) -> None:
    body = """
    with open("lines.csv", "wb") as file:
        for _ in range(200):
            file.write(b"\\n" * (1 << 20))
    complete(artifacts=[{"path": "lines.csv", "kind": "table"}])
    """
    outcome = await pool.dispatch("mine", command=program(body), timeout=2.0, grace=0.3)
    assert outcome.status == "success"
    assert any("not measured: the time" in said or "not checked" in said for said in outcome.warnings)
    assert outcome.duration_s <= 2.0 + 0.3 + 1 + SLACK_SECONDS


@pytest.fixture
def slow_reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A line that takes ever so long to look at; the event ends it."""
    release, feed = threading.Event(), StreamScanner.feed

    def feed_slowly(scanner: StreamScanner, chunk: bytes) -> None:
        feed(scanner, chunk)
        if b"ever so long" in chunk:
            release.wait(120)

    monkeypatch.setattr(StreamScanner, "feed", feed_slowly)
    yield release
    release.set()


LONG_LINE = "say(type='progress', partial={'n': 1}); say(type='log', text='ever so long')"


async def until_left_alone() -> None:
    """Until a reading thread has closed what it reads from."""
    while any(thread.name.startswith("read-") for thread in threading.enumerate()):
        await asyncio.sleep(0.01)


async def test_a_line_that_is_still_looked_at_does_not_hold_up_the_end(
    pool: Pool, program: Program, slow_reading: threading.Event
) -> None:
    command = program(f"{LONG_LINE}; time.sleep(300)")
    before = psutil.Process().num_fds()
    outcome = await pool.dispatch("mine", command=command, timeout=1.0, grace=0.2)
    assert outcome.status == "timeout"
    assert outcome.results == {"n": 1}
    assert any("was not read to the end" in said for said in outcome.warnings)
    assert outcome.duration_s <= 1.0 + 0.2 + 1 + SLACK_SECONDS
    assert any(thread.name.startswith("read-") for thread in threading.enumerate())
    # Its numbers may be another's now: it must take nothing of it.
    others = [pool.dispatch("mine", command=program("complete(ID)")) for _ in range(3)]
    slow_reading.set()
    for other in await asyncio.gather(*others):
        assert other.results == {"answer": other.dispatch_id}
    await until_left_alone()
    assert psutil.Process().num_fds() <= before


@pytest.mark.parametrize("nth", [1, 2])
async def test_what_cannot_be_read_for_want_of_files_is_a_spawn_error_and_ends(
    pool: Pool, program: Program, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    class Os:
        """As the reader sees it; others have their files."""

        calls = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def dup(self, descriptor: int) -> int:
            self.calls += 1
            if self.calls == nth:
                raise OSError(errno.EMFILE, "Too many open files")
            return os.dup(descriptor)

    command = program("time.sleep(300)")
    await pool.dispatch("mine", command=program("complete()"))
    before = psutil.Process().num_fds()
    for _ in range(times := 4):
        with monkeypatch.context() as patch:
            patch.setattr("outcrop.reader.os", Os())
            outcome = await pool.dispatch("mine", command=command, grace=0.2)
        assert outcome.status == "spawn_error"
        assert "ulimit" in outcome.errors[0]
    assert living(command[-1]) == []
    # A nursery that got warm meanwhile has a few; what each dispatch left behind would be more.
    assert psutil.Process().num_fds() < before + times


async def test_what_has_ended_in_time_is_read_out_as_long_as_there_is_time(
    pool: Pool, program: Program, slow_reading: threading.Event
) -> None:
    threading.Timer(2.5, slow_reading.set).start()
    outcome = await pool.dispatch("mine", command=program(f"{LONG_LINE}; complete(5)"), timeout=60.0, grace=0.2)
    assert (outcome.status, outcome.results) == ("success", {"answer": 5})


async def test_a_line_that_is_still_looked_at_does_not_hold_up_cancelling(
    pool: Pool, program: Program, slow_reading: threading.Event
) -> None:
    command = program(f"{LONG_LINE}; time.sleep(300)")
    task = asyncio.create_task(pool.dispatch("mine", command=command, grace=0.2))
    await all_running(command, 1)
    while not any(thread.name.startswith("read-") for thread in threading.enumerate()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    assert await seconds_to_cancel([task]) <= 0.2 + 0.5 + SLACK_SECONDS
    assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"]


async def test_slow_work_of_the_application_holds_up_no_dispatch(pool: Pool, program: Program) -> None:
    release = threading.Event()
    slow = [asyncio.create_task(asyncio.to_thread(release.wait)) for _ in range(64)]
    try:
        outcome = await asyncio.wait_for(pool.dispatch("mine", command=program("complete()")), 60)
    finally:
        release.set()
        await asyncio.wait(slow)
    assert outcome.status == "success"


class Actor(ColdLauncher):
    """Plays a built-in specialist with a program of the test's, which gets the limits of a built-in one."""

    def __init__(self, command: list[str]) -> None:
        super().__init__()
        self._command = command

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        readable = [*spec.policy["readable"], str(Path(self._command[-1]).parent)]
        policy = {**spec.policy, "readable": readable}
        return await super().launch(dataclasses.replace(spec, argv=spec.argv or self._command, policy=policy))


async def played(workspace: Path, command: list[str], **options: Any) -> Any:
    async with Pool(workspace=workspace, launcher=Actor(command)) as pool:
        return await pool.dispatch("analytics", "summarise", **options)


async def test_a_specialist_without_a_first_message_is_ended(
    workspace: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_MESSAGE_SECONDS", 1.0)
    outcome = await played(workspace, program("time.sleep(300)"), grace=0.2)
    assert outcome.status == "timeout"
    assert "no first message within 1 s" in outcome.errors[0]


async def test_a_specialist_that_falls_silent_is_ended_and_its_findings_come_back(
    workspace: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "IDLE_SECONDS", 1.0)
    body = "say(type='progress', partial={'rows': 3}); say(type='progress', partial={'rows': 7}); time.sleep(300)"
    outcome = await played(workspace, program(body), grace=0.2)
    assert outcome.status == "timeout"
    assert "silent for 1 s" in outcome.errors[0]
    assert outcome.results == {"rows": 7}
    assert "partial findings" in outcome.warnings[0]


async def test_heartbeats_keep_a_silent_specialist_alive_up_to_the_wall_clock(
    workspace: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "IDLE_SECONDS", 2.0)
    body = "[(say(type='beat'), time.sleep(0.2)) for _ in range(300)]"
    outcome = await played(workspace, program(body), timeout=5.0, grace=0.2)
    assert outcome.status == "timeout"
    assert "wall-clock limit of 5 s" in outcome.errors[0]


async def test_a_command_may_be_silent_as_long_as_it_has_time(
    pool: Pool, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_MESSAGE_SECONDS", 0.2)
    monkeypatch.setattr(limits, "IDLE_SECONDS", 0.2)
    assert (await pool.dispatch("mine", command=program("time.sleep(1); complete()"))).status == "success"
