"""The nursery: fresh processes in milliseconds, restarted when it dies, never trusted with threads."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
from processes import is_alive

from outcrop import Pool, ScriptedModel
from outcrop.launching.nursery import NurseryLauncher
from outcrop.models.scripted import turn
from outcrop_schemas.messages import ModelResponse


def working() -> Iterator[ModelResponse]:
    """Real work of polars, scikit-learn and matplotlib, then a completion, for ever."""
    calls = [
        ("cluster", {"path": "a.csv", "columns": ["x", "y"], "n_clusters": 2}),
        ("reduce_dimensions", {"path": "a.csv", "columns": ["x", "y"]}),
        ("plot_scatter", {"path": "a.csv", "x": "x", "y": "y"}),
        ("complete", {"status": "success", "summary": "done", "results": {"n": 1}}),
    ]
    number = 0
    while True:
        number += 1
        yield turn(*calls, turn_id=f"t{number}")


@pytest.fixture
async def launcher(workspace: Path) -> NurseryLauncher:
    return NurseryLauncher(workspace / ".outcrop" / "cache")


@pytest.fixture
async def pool(workspace: Path, launcher: NurseryLauncher) -> AsyncIterator[Pool]:
    rows = "\n".join(f"{n % 7},{(n * 3) % 11}" for n in range(60))
    (workspace / "a.csv").write_text(f"x,y\n{rows}\n")
    models = {"analytics": ScriptedModel(working()), "plotting": ScriptedModel(working())}
    async with Pool(workers=2, workspace=workspace, model=models, launcher=launcher) as opened:
        launcher.warm()
        await asyncio.wait_for(launcher.ready.wait(), 120)
        yield opened


def nursery_of(launcher: NurseryLauncher) -> psutil.Process:
    assert launcher._process is not None
    return psutil.Process(launcher._process.pid)


async def test_a_specialist_from_the_nursery_is_a_process_of_its_own_and_does_real_work(pool: Pool) -> None:
    count = 500 if "OUTCROP_LONG" in os.environ else 20
    outcomes = await asyncio.gather(*(pool.dispatch("analytics", "work", ["a.csv"]) for _ in range(count)))
    assert {(outcome.status, outcome.launch) for outcome in outcomes} == {("success", "nursery")}
    assert all("a_cluster_" in outcome.artifacts[0].path for outcome in outcomes)
    assert all(outcome.isolation["write_confined"].active for outcome in outcomes)


async def test_a_specialist_starts_from_a_nursery_that_has_no_more_threads_than_after_its_imports(
    pool: Pool, launcher: NurseryLauncher
) -> None:
    before = nursery_of(launcher).num_threads()
    for _ in range(5):
        await pool.dispatch("analytics", "work", ["a.csv"])
    assert nursery_of(launcher).num_threads() <= before


async def test_a_nursery_that_dies_is_started_again_and_meanwhile_work_starts_cold(
    pool: Pool, launcher: NurseryLauncher
) -> None:
    nursery_of(launcher).kill()
    while launcher.ready.is_set():
        await asyncio.sleep(0.01)
    assert (await pool.dispatch("analytics", "work", ["a.csv"])).launch == "cold"
    await asyncio.wait_for(launcher.ready.wait(), 120)
    assert (await pool.dispatch("analytics", "work", ["a.csv"])).launch == "nursery"


async def test_a_nursery_that_dies_again_and_again_fails_with_the_reason(pool: Pool, launcher: NurseryLauncher) -> None:
    for _ in range(4):
        nursery_of(launcher).kill()
        while launcher._process is not None:
            await asyncio.sleep(0.01)
        launcher.warm()
    nursery_of(launcher).kill()
    while launcher._process is not None:
        await asyncio.sleep(0.01)
    outcome = await pool.dispatch("analytics", "work", ["a.csv"])
    assert outcome.status == "spawn_error"
    assert "the nursery died 5 times" in outcome.errors[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_nursery_that_dies_or_hangs_while_it_is_asked_costs_no_dispatch(
    pool: Pool, launcher: NurseryLauncher, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outcrop_schemas.limits.NURSERY_ANSWER_SECONDS", 1.0)
    process = nursery_of(launcher)
    # In one turn of the loop: nobody has noticed yet when it is asked.
    process.send_signal(number)
    outcomes = await asyncio.gather(*(pool.dispatch("analytics", "work", ["a.csv"]) for _ in range(3)))
    assert {(outcome.status, outcome.launch) for outcome in outcomes} == {("success", "cold")}
    assert not is_alive(process)
    launcher.warm()
    await asyncio.wait_for(launcher.ready.wait(), 120)
    assert (await pool.dispatch("analytics", "work", ["a.csv"])).launch == "nursery"


async def test_a_reset_by_the_nursery_is_its_death(pool: Pool, launcher: NurseryLauncher) -> None:
    assert launcher._socket is not None
    os.kill(nursery_of(launcher).pid, signal.SIGSTOP)
    launcher._socket.send(b"d")
    # With words of ours unread: recv answers with a reset.
    nursery_of(launcher).kill()
    while launcher._process is not None:
        await asyncio.sleep(0.01)
    assert not launcher.ready.is_set()


async def test_the_nursery_ends_with_the_pool(workspace: Path) -> None:
    launcher = NurseryLauncher(workspace / ".outcrop" / "cache")
    async with Pool(workspace=workspace, launcher=launcher):
        launcher.warm()
        process = nursery_of(launcher)
    assert not is_alive(process)


async def test_the_nursery_holds_no_key_and_no_data(
    pool: Pool, launcher: NurseryLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set(nursery_of(launcher).environ())
    assert not any("KEY" in name or "TOKEN" in name for name in names)
    assert not any(opened.path.endswith(".csv") for opened in nursery_of(launcher).open_files())


async def test_a_command_never_pays_for_a_nursery(workspace: Path) -> None:
    launcher = NurseryLauncher(workspace / ".outcrop" / "cache")
    async with Pool(workspace=workspace, launcher=launcher) as opened:
        outcome = await opened.dispatch("mine", command=["true"])
    assert outcome.launch == "cold"
    assert not launcher._starts


REFUSES = """
import os, socket, sys, threading
from outcrop_specialists.guard import nursery

nursery.PRELOADED = ()
nursery.preload = lambda: None
served = nursery.Nursery(socket.socket(fileno=int(sys.argv[1])))
original = nursery._thread_count
# One thread more than after the imports, as if a library had been used.
counts = iter([1])
nursery._thread_count = lambda: next(counts, 2)
served.serve()
"""


async def test_a_nursery_whose_threads_have_grown_refuses_to_fork(workspace: Path) -> None:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-c", REFUSES, str(theirs.fileno())], pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL
    )
    theirs.close()
    assert await asyncio.to_thread(ours.recv, 64) == b"ready\n"
    control, given = socket.socketpair()
    null = os.open(os.devnull, os.O_RDWR)
    socket.send_fds(ours, [b"d"], [null, null, null, null, given.fileno(), null])
    given.close()
    said = await asyncio.to_thread(control.recv, 4096)
    assert said == b"failed the nursery has 2 threads, 1 after its imports\n"
    os.close(null)
    ours.close()
    assert await asyncio.to_thread(process.wait, 30) == 0
