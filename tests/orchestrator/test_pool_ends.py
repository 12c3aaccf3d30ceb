"""How a pool ends: draining from anywhere, forked children that leave it alone, and numbers that make no sense."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool, Work
from outcrop_schemas.errors import PoolClosedError, UsageError

QUICK = "complete(ID)"
SHORT = "time.sleep(0.3); complete(ID)"
SLOW = "time.sleep(30); complete(ID)"
CHILD_SECONDS = 20


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a forked child that does this: 7 for PoolClosedError, 0 where nothing is raised."""
    child = os.fork()
    if not child:
        signal.alarm(CHILD_SECONDS)  # one that hangs ends by SIGALRM
        code = 1
        try:
            work()
            code = 0
        except PoolClosedError:
            code = 7
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_the_sync_face_in_a_forked_child_says_at_once_that_it_is_its_parents(workspace: Path, program: Any) -> None:
    command = program(QUICK)
    with Pool(workers=1, workspace=workspace) as pool:
        assert in_child(lambda: pool.dispatch_sync("mine", "o", command=command)) == 7
        assert in_child(lambda: pool.drain_sync(1)) == 7
        assert pool.dispatch_sync("mine", "o", command=command).status == "success"


def test_a_forked_child_that_leaves_the_block_leaves_the_pool_to_its_parent(workspace: Path, program: Any) -> None:
    command, found = program(SHORT), []
    with Pool(workers=1, workspace=workspace) as pool:
        work = threading.Thread(target=lambda: found.append(pool.dispatch_sync("mine", "o", command=command).status))
        work.start()
        while pool.statistics()["running"] != 1:
            pass  # each look takes a moment
        assert in_child(lambda: pool.__exit__(None, None, None)) == 0
        work.join()
        assert pool.dispatch_sync("mine", "o", command=command).status == "success"
    assert found == ["success"]


def works(command: list[str], taken: list[int]) -> Iterator[Work]:
    """Without end; `taken` has those that were asked for."""
    while True:
        taken.append(len(taken))
        yield Work("mine", str(len(taken)), command=command, tag=len(taken))


@pytest.mark.parametrize("in_order", [True, False], ids=["map", "as_completed"])
async def test_iterators_of_a_draining_pool_give_what_was_taken_and_end(
    workspace: Path, program: Any, caplog: pytest.LogCaptureFixture, in_order: bool
) -> None:
    caplog.set_level(logging.ERROR, "asyncio")
    taken: list[int] = []
    found: list[str] = []
    async with Pool(workers=2, workspace=workspace) as pool:
        pool.drain_on(signal.SIGUSR2, seconds=60)
        endless = works(program(SHORT), taken)
        told = pool.map(endless) if in_order else (outcome async for _, outcome in pool.as_completed(endless))
        async for outcome in told:
            found.append(outcome.status)
            if len(found) == 1:
                os.kill(os.getpid(), signal.SIGUSR2)
        assert pool.health()["status"] == "draining"
        assert [outcome async for outcome in pool.map(endless)] == []
        assert pool.statistics()["statuses"] == {"success": len(found)}
    # Those that had come to the pool when the signal did have ended.
    assert 4 <= len(found) <= len(taken) <= 6
    assert set(found) == {"success"}
    assert not caplog.records


@pytest.mark.parametrize("in_order", [True, False], ids=["map", "as_completed"])
async def test_what_a_drain_cuts_short_is_an_outcome_and_no_cancellation_of_who_asked(
    workspace: Path, program: Any, in_order: bool
) -> None:
    command = program(SLOW)
    works = [Work("mine", str(n), command=command, grace=0.2) for n in range(3)]
    async with Pool(workers=1, workspace=workspace) as pool:

        async def drained() -> int:
            while pool.statistics()["running"] != 1:
                await asyncio.sleep(0.01)
            return await pool.drain(0)

        draining = asyncio.create_task(drained())
        told = pool.map(works) if in_order else (outcome async for _, outcome in pool.as_completed(works))
        assert [outcome.status async for outcome in told] == ["cancelled"]
        assert await draining == 2


async def test_several_that_fail_at_once_are_one_error_and_no_complaint(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "asyncio")
    async with Pool(workers=2, workspace=workspace) as pool:
        with pytest.raises(UsageError):
            _ = [outcome async for outcome in pool.map([Work("mine", "", command=["true"]) for _ in range(4)])]
    assert not caplog.records


def test_the_sync_face_drains_while_threads_wait(workspace: Path, program: Any) -> None:
    command, found = program(SHORT), []
    with Pool(workers=1, workspace=workspace) as pool:
        work = threading.Thread(target=lambda: found.append(pool.dispatch_sync("mine", "o", command=command).status))
        work.start()
        while pool.statistics()["running"] != 1:
            pass  # each look takes a moment
        with pytest.raises(PoolClosedError, match="another event loop"):
            asyncio.run(pool.drain(1))
        assert pool.health()["status"] != "draining"
        assert pool.drain_sync(60) == 0
        work.join()
        with pytest.raises(PoolClosedError, match="draining"):
            pool.dispatch_sync("mine", "o", command=command)
    assert found == ["success"]


async def test_a_handler_that_was_there_is_called_too_and_put_back(workspace: Path) -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGUSR2, lambda number, _: told.append(number))
    try:
        ours = signal.getsignal(signal.SIGUSR2)
        async with Pool(workers=1, workspace=workspace) as pool:
            pool.drain_on(signal.SIGUSR2, seconds=1, pass_on=True)
            os.kill(os.getpid(), signal.SIGUSR2)
            while not told:
                await asyncio.sleep(0)
            assert pool.health()["status"] == "draining"
        assert signal.getsignal(signal.SIGUSR2) is ours
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert told == [signal.SIGUSR2]


@pytest.mark.parametrize("given", [0, -1, float("nan"), float("inf"), 10**400, "x", True])
async def test_a_deadline_that_is_no_time_is_refused(workspace: Path, given: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        with pytest.raises(UsageError, match="deadline"):
            await pool.dispatch("mine", "o", command=["true"], deadline=given)
        with pytest.raises(UsageError, match="timeout"):
            await pool.dispatch("mine", "o", command=["true"], timeout=given)
        with pytest.raises(UsageError, match="seconds"):
            await pool.drain(given or float("nan"))
        assert pool.statistics()["statuses"] == {}
        assert pool.health()["status"] == "ok"


@pytest.mark.parametrize("name", ["queue", "workers"])
@pytest.mark.parametrize("given", ["x", True, 1.5, -1])
def test_a_count_that_is_none_is_refused_by_name(workspace: Path, name: str, given: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} must be a whole number"):
        Pool(workspace=workspace, **{name: given})
