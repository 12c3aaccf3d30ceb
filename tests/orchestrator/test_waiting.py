"""A dispatch that waits for a place is seen and cancelled by its id, before anything of it was begun."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool, Run
from outcrop.cancelling import REQUESTED, ask_to_cancel
from outcrop.events import DispatchEnded, DispatchLeft, DispatchStarted, DispatchWaiting, Event
from outcrop.logbook import lines
from outcrop.models.offline.model import OfflineModel
from outcrop.records import LEAVES, WAITS
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas.errors import PoolBusyError, UnknownNameError
from outcrop_schemas.messages import ModelRequest, ModelResponse

OUTCROP = Path(sys.executable).with_name("outcrop")
SLOW = "say(type='progress', text='at work'); time.sleep(600); complete()"
Program = Callable[[str], list[str]]


class Told:
    """What a watcher was told, and a way to wait for some of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._came = asyncio.Event()

    def take(self, event: Event) -> None:
        self.events.append(event)
        self._came.set()

    async def wait_for(self, kind: type[Event], count: int = 1) -> Any:
        async with asyncio.timeout(60):
            while True:
                found = [event for event in self.events if isinstance(event, kind)]
                if len(found) >= count:
                    return found[count - 1]
                self._came.clear()
                await self._came.wait()


def outcrop(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OUTCROP, *arguments, "--workspace", workspace], capture_output=True, text=True, timeout=60, check=False
    )


async def recorded(pool: Pool) -> None:
    """Return when what was to be recorded until now is."""
    await pool._open_desk().note("test", {})


def of(run: RunRecord, kind: str, dispatch_id: str) -> int:
    return sum(entry.id == dispatch_id and kind in (entry.type, entry.detail) for entry in run.records.entries)


async def test_one_that_waits_is_shown_and_cancelled_by_its_id_and_nothing_is_launched(
    workspace: Path, program: Program
) -> None:
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        folder = pool.run_folder
        slow = asyncio.create_task(pool.dispatch("mine", "long", command=program(SLOW), grace=0.1))
        await told.wait_for(DispatchStarted)
        marked = program("open('../../../../../marked', 'w').close(); complete()")
        waits = asyncio.create_task(pool.dispatch("mine", "patient", command=marked))
        dispatch_id = (await told.wait_for(DispatchWaiting)).dispatch_id
        await recorded(pool)
        shown = await asyncio.to_thread(outcrop, workspace, "show", "last")
        assert f"{dispatch_id} mine waiting for a place" in shown.stdout
        document = json.loads((await asyncio.to_thread(outcrop, workspace, "show", "last", "--json")).stdout)
        assert document["waiting"] == [{"dispatch_id": dispatch_id, "specialist": "mine", "objective": "patient"}]

        done = await asyncio.to_thread(outcrop, workspace, "cancel", "last", dispatch_id.partition("-")[0])
        assert done.returncode == 0, done.stderr
        outcome = await asyncio.wait_for(waits, 30)
        assert (outcome.dispatch_id, outcome.status, outcome.launch) == (dispatch_id, "cancelled", None)
        assert "on request before its start" in outcome.errors[0]
        assert outcome.usage == {}
        assert not slow.done()
        run = open_run(folder)
        assert run.waiting == []
        assert [of(run, kind, dispatch_id) for kind in (WAITS, "start", "end", LEAVES)] == [1, 1, 1, 0]
        assert [event["agent"] for event in run.events(REQUESTED)] == [dispatch_id]
        assert not folder.transcript(dispatch_id).exists()
        ask_to_cancel(run, "d0001")
        assert (await asyncio.wait_for(slow, 30)).status == "cancelled"
    verified = await asyncio.to_thread(verify, open_run(folder))
    assert all(checked.difference is None for checked in verified)


async def test_a_place_that_comes_free_is_taken_as_before_and_those_that_find_one_are_not_told_of(
    workspace: Path, program: Program
) -> None:
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        folder = pool.run_folder
        outcomes = await asyncio.gather(*(pool.dispatch("mine", str(n), command=program("complete()")) for n in "abc"))
    assert [outcome.status for outcome in outcomes] == ["success"] * 3
    run = open_run(folder)
    assert [entry.id for entry in run.records.entries if entry.detail == WAITS] == [o.dispatch_id for o in outcomes[1:]]
    assert [entry.id for entry in run.records.entries if entry.type == "start"] == [o.dispatch_id for o in outcomes]
    assert not any(isinstance(event, DispatchLeft) for event in told.events)
    assert [line.what for line in lines(run, dispatch=outcomes[1].dispatch_id)][:2] == [
        "waits for a place",
        "begins: mine",
    ]


async def test_whoever_gives_up_waiting_is_on_no_list_and_has_no_outcome(workspace: Path, program: Program) -> None:
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        folder = pool.run_folder
        slow = asyncio.create_task(pool.dispatch("mine", "long", command=program(SLOW), grace=0.1))
        await told.wait_for(DispatchStarted)
        with pytest.raises(PoolBusyError):
            await pool.dispatch("mine", "soon", command=program("complete()"), deadline=0.2)
        gone = asyncio.create_task(pool.dispatch("mine", "never", command=program("complete()")))
        second = await told.wait_for(DispatchWaiting, 2)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert (await told.wait_for(DispatchLeft, 2)).dispatch_id == second.dispatch_id
        slow.cancel()
    run = open_run(folder)
    assert [of(run, LEAVES, event.dispatch_id) for event in told.events if isinstance(event, DispatchWaiting)] == [1, 1]
    assert len(run.outcomes) == 1
    assert run.waiting == []


async def test_one_that_left_cannot_be_cancelled(workspace: Path, program: Program) -> None:
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        folder = pool.run_folder
        slow = asyncio.create_task(pool.dispatch("mine", "long", command=program(SLOW), grace=0.1))
        await told.wait_for(DispatchStarted)
        with pytest.raises(PoolBusyError):
            await pool.dispatch("mine", "soon", command=program("complete()"), deadline=0.2)
        left = await told.wait_for(DispatchLeft)
        # The next record is behind that of its leaving.
        waits = asyncio.create_task(pool.dispatch("mine", "next", command=program("complete()")))
        await told.wait_for(DispatchWaiting, 2)
        await recorded(pool)
        with pytest.raises(UnknownNameError):
            ask_to_cancel(open_run(folder), left.dispatch_id)
        for task in (waits, slow):
            task.cancel()


class Gated:
    """The offline model for specialists, once the gate is open."""

    name = "offline"

    def __init__(self) -> None:
        self.gate, self._model = asyncio.Event(), OfflineModel()

    async def create(self, request: ModelRequest) -> ModelResponse:
        await self.gate.wait()
        return await self._model.create(request)


async def test_a_run_whose_waiting_dispatch_is_cancelled_goes_on_and_is_verified(workspace: Path) -> None:
    rows = "".join(f"s{n},{n / 10},{n % 7}\n" for n in range(1, 40))
    (workspace / "t.csv").write_text("sample,Cu_ppm,Zn_ppm\n" + rows)
    told, gated = Told(), Gated()
    run = Run(
        "summarise Cu_ppm; plot a histogram of Zn_ppm",
        data=["t.csv"],
        workspace=workspace,
        workers=1,
        model={"lead": OfflineModel(), "default": gated},
        watcher=told.take,
    )
    working = asyncio.create_task(run.start())
    waits = await told.wait_for(DispatchWaiting)
    assert run.desk
    folder = RunFolder(run.desk.folder.path)
    # Its event is flushed behind the start of the other, in its order.
    await told.wait_for(DispatchStarted)
    await run.desk.note("test", {})
    assert ask_to_cancel(open_run(folder), waits.dispatch_id) == waits.dispatch_id
    while not any(event.outcome.dispatch_id == waits.dispatch_id for event in _ended(told)):
        told._came.clear()
        await asyncio.wait_for(told._came.wait(), 30)
    gated.gate.set()
    outcome = await asyncio.wait_for(working, 120)
    assert outcome.status == "partial"
    assert {line.status for line in outcome.dispatches} == {"success", "cancelled"}
    record = open_run(folder)
    cancelled = record.outcome(waits.dispatch_id)
    assert cancelled
    assert (cancelled.status, cancelled.usage, cancelled.launch) == ("cancelled", {}, None)
    assert [checked.difference for checked in await asyncio.to_thread(verify, record)] == [None] * 3


def _ended(told: Told) -> list[Any]:
    return [event for event in told.events if isinstance(event, DispatchEnded)]
