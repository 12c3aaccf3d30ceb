"""The pool as a backend: many calls, bounded queues, deadlines, events, statistics, and an end in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool, PoolBusyError, Work
from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted
from outcrop_schemas.errors import PoolClosedError, UsageError

QUICK = "complete(ID)"
SLOW = "time.sleep(30); complete(ID)"


async def begun(pool: Pool, running: int) -> None:
    """Wait until so many dispatches run."""
    while pool.statistics()["running"] != running:
        await asyncio.sleep(0.01)


async def test_as_completed_gives_each_work_its_outcome_as_it_ends(workspace: Path, program: Any) -> None:
    works = [Work("mine", str(n), command=program(f"time.sleep({n} / 4); complete(ID)"), tag=n) for n in (3, 0, 1)]
    async with Pool(workers=3, workspace=workspace) as pool:
        found = [(work.tag, outcome.objective) async for work, outcome in pool.as_completed(works)]
    assert found == [(0, "0"), (1, "1"), (3, "3")]


async def test_map_keeps_the_order_and_takes_few_ahead(workspace: Path, program: Any) -> None:
    command, taken = program(QUICK), []

    def endless() -> Iterator[Work]:
        while True:
            taken.append(len(taken))
            yield Work("mine", str(len(taken)), command=command)

    found = []
    async with Pool(workers=2, workspace=workspace) as pool:
        outcomes = pool.map(endless())
        async for outcome in outcomes:
            found.append(outcome.objective)
            if len(found) == 6:
                break
        await outcomes.aclose()  # type: ignore[attr-defined]
        assert pool.statistics()["running"] == pool.statistics()["waiting"] == 0
    assert found == ["1", "2", "3", "4", "5", "6"]
    assert len(taken) <= 6 + 2 * 2


async def test_an_order_that_makes_no_sense_ends_the_others_and_is_raised(workspace: Path, program: Any) -> None:
    works = [Work("mine", "slow", command=program(SLOW)), Work("mine", "", command=program(QUICK))]
    async with Pool(workers=2, workspace=workspace) as pool:
        with pytest.raises(UsageError):
            _ = [outcome async for _, outcome in pool.as_completed(works)]
        assert pool.statistics()["running"] == 0


async def test_more_calls_than_may_wait_are_refused_and_nothing_is_lost(workspace: Path, program: Any) -> None:
    command = program("time.sleep(0.3); complete(ID)")
    async with Pool(workers=2, queue=3, workspace=workspace) as pool:
        calls = [asyncio.create_task(pool.dispatch("mine", str(n), command=command)) for n in range(8)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        health, told = pool.health(), pool.statistics()
    refused = [each for each in found if isinstance(each, PoolBusyError)]
    assert len(refused) == 3
    assert [each.status for each in found if not isinstance(each, BaseException)] == ["success"] * 5
    assert told["refused"] == 3
    assert told["statuses"] == {"success": 5}
    assert told["wait_s"]["p99"] >= 0.3
    assert health["status"] == "ok"


async def test_without_a_queue_a_call_finds_a_worker_or_is_refused(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, queue=0, workspace=workspace) as pool:
        call = asyncio.create_task(pool.dispatch("mine", "o", command=program(SLOW)))
        await begun(pool, 1)
        assert pool.health()["status"] == "busy"
        with pytest.raises(PoolBusyError, match="1 workers"):
            await pool.dispatch("mine", "o", command=program(QUICK))
        call.cancel()
        await asyncio.wait([call])
        assert (await pool.dispatch("mine", "o", command=program(QUICK))).status == "success"


async def test_a_deadline_bounds_waiting_and_working_together(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        first = asyncio.create_task(pool.dispatch("mine", "o", command=program(SLOW), deadline=1.0, grace=0.2))
        await begun(pool, 1)
        with pytest.raises(PoolBusyError, match="before the deadline"):
            await pool.dispatch("mine", "o", command=program(QUICK), deadline=0.1)
        assert (await first).status == "timeout"
        assert (await pool.dispatch("mine", "o", command=program(QUICK), deadline=60.0)).status == "success"
        assert pool.statistics()["refused"] == 1


async def test_the_events_of_a_dispatch_are_its_own_and_end_with_its_outcome(workspace: Path, program: Any) -> None:
    body = "\n".join(f"print(json.dumps({{'type': 'progress', 'text': 'step {n}'}}), flush=True)" for n in range(3))
    async with Pool(workers=2, workspace=workspace) as pool:
        other = asyncio.create_task(pool.dispatch("mine", "other", command=program(QUICK)))
        events = [event async for event in pool.stream(Work("mine", "o", command=program(f"{body}\n{QUICK}")))]
        await other
    assert isinstance(events[0], DispatchStarted)
    assert isinstance(events[-1], DispatchEnded)
    assert events[-1].outcome.objective == "o"
    told = [event for event in events if isinstance(event, DispatchProgress)]
    assert told
    assert {event.dispatch_id for event in told} == {events[0].dispatch_id}


async def test_whoever_stops_listening_ends_the_dispatch(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        events = pool.stream(Work("mine", "o", command=program(SLOW)))
        assert isinstance(await anext(events), DispatchStarted)
        await events.aclose()  # type: ignore[attr-defined]
        assert pool.statistics()["statuses"] == {"cancelled": 1}


async def test_a_stream_of_what_cannot_start_raises(workspace: Path) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        with pytest.raises(UsageError):
            await anext(pool.stream(Work("analytics", "")))


async def test_draining_lets_what_was_taken_end_and_takes_no_more(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        command = program("time.sleep(0.3); complete(ID)")
        taken = [asyncio.create_task(pool.dispatch("mine", "o", command=command)) for _ in range(2)]
        await begun(pool, 1)
        assert await pool.drain(60) == 0
        assert [call.result().status for call in taken] == ["success", "success"]
        assert pool.health()["status"] == "draining"
        with pytest.raises(PoolClosedError, match="draining"):
            await pool.dispatch("mine", "o", command=command)


async def test_what_does_not_end_while_draining_is_cancelled(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        calls = [asyncio.create_task(pool.dispatch("mine", "o", command=program(SLOW), grace=0.2)) for _ in range(2)]
        await begun(pool, 1)
        assert await pool.drain(0.1) == 2
        assert all(call.cancelled() for call in calls)
        assert pool.statistics()["statuses"] == {"cancelled": 1}


async def test_a_signal_drains(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        pool.drain_on(signal.SIGUSR2, seconds=60)
        call = asyncio.create_task(pool.dispatch("mine", "o", command=program("time.sleep(0.3); complete(ID)")))
        await begun(pool, 1)
        os.kill(os.getpid(), signal.SIGUSR2)
        assert (await call).status == "success"
        assert pool.health()["status"] == "draining"
    assert pool.health()["status"] == "closed"


async def test_another_event_loop_is_told_what_to_do(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        work = pool.dispatch("mine", "o", command=program(QUICK))
        with pytest.raises(PoolClosedError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, work)


def test_a_forked_process_does_not_use_its_parents_pool(workspace: Path, program: Any) -> None:
    command = program(QUICK)
    with Pool(workers=1, workspace=workspace) as pool:
        child = os.fork()
        if not child:
            try:
                pool.run_folder  # noqa: B018 - asking for it is what must fail
            except PoolClosedError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert pool.dispatch_sync("mine", "o", command=command).status == "success"


def test_a_negative_queue_is_refused(workspace: Path) -> None:
    with pytest.raises(UsageError, match="queue"):
        Pool(queue=-1, workspace=workspace)
