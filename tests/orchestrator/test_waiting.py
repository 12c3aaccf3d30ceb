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
from outcrop.waiting import Waiting
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


KILLED = """
import asyncio, os, signal, sys
from outcrop import Pool
from outcrop.events import DispatchStarted, DispatchWaiting

async def main():
    told = asyncio.Queue()
    async with Pool(workers=1, workspace=sys.argv[1], watcher=told.put_nowait) as pool:
        works = [asyncio.create_task(pool.dispatch("mine", name, command=sys.argv[2:])) for name in "abc"]
        kinds = []
        while kinds.count(DispatchWaiting) < 2 or DispatchStarted not in kinds:
            kinds.append(type(await told.get()))
        await pool._open_desk().note("test", {})
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_of_those_that_waited_when_the_orchestrator_was_killed_is_told(workspace: Path, program: Program) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, workspace, *program(SLOW)], timeout=60, check=False)
    assert killed.returncode < 0
    shown = outcrop(workspace, "show", "last")
    told = "2 dispatches waited for a place when the orchestrator ended; nothing was started for them"
    assert told in " ".join(shown.stderr.split())
    document = json.loads(outcrop(workspace, "show", "last", "--json").stdout)
    assert "waiting" not in document
    assert told in document["notices"]
    gone = outcrop(workspace, "cancel", "last", "d0003")
    assert gone.returncode == 1
    assert "its orchestrator is gone" in gone.stderr
    page = Path(outcrop(workspace, "report", "last").stdout.strip()).read_text()
    assert told in page


async def test_one_whose_attached_files_wait_for_a_place_is_cancelled_by_its_id_and_nothing_is_launched(
    workspace: Path, program: Program
) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n")
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        folder = pool.run_folder
        slow = asyncio.create_task(pool.dispatch("mine", "long", command=program(SLOW), grace=0.1))
        await told.wait_for(DispatchStarted)
        waits = asyncio.create_task(pool.dispatch("mine", "reads", command=program("complete()"), attach=["t.csv"]))
        dispatch_id = (await told.wait_for(DispatchWaiting)).dispatch_id
        await recorded(pool)
        assert [entry.id for entry in open_run(folder).waiting] == [dispatch_id]
        assert ask_to_cancel(open_run(folder), dispatch_id) == dispatch_id
        outcome = await asyncio.wait_for(waits, 30)
        assert (outcome.dispatch_id, outcome.status, outcome.launch) == (dispatch_id, "cancelled", None)
        assert not slow.done()
        slow.cancel()
    run = open_run(folder)
    assert [of(run, kind, dispatch_id) for kind in (WAITS, "start", "end", LEAVES)] == [1, 1, 1, 0]


async def test_the_time_that_attached_files_wait_for_a_place_counts_for_the_deadline(
    workspace: Path, program: Program
) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n")
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        slow = asyncio.create_task(pool.dispatch("mine", "long", command=program(SLOW), grace=0.1))
        await told.wait_for(DispatchStarted)
        reads = pool.dispatch("mine", "reads", command=program("complete()"), attach=["t.csv"], deadline=0.2)
        with pytest.raises(PoolBusyError):
            await asyncio.wait_for(reads, 30)
        await told.wait_for(DispatchLeft)
        assert not slow.done()
        slow.cancel()


async def test_one_that_attaches_files_and_finds_a_place_is_told_of_once(workspace: Path, program: Program) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n")
    told = Told()
    async with Pool(workers=1, workspace=workspace, watcher=told.take) as pool:
        free = await pool.dispatch("mine", "alone", command=program("complete()"), attach=["t.csv"])
        both = await asyncio.gather(
            *(pool.dispatch("mine", n, command=program("complete()"), attach=["t.csv"]) for n in "ab")
        )
        folder = pool.run_folder
    assert {outcome.status for outcome in (free, *both)} == {"success"}
    waited = [event.dispatch_id for event in told.events if isinstance(event, DispatchWaiting)]
    assert sorted(waited) == sorted(outcome.dispatch_id for outcome in both)
    assert all(of(open_run(folder), LEAVES, each) == 0 for each in waited)


@pytest.mark.parametrize("ends_by", ["being cancelled", "its deadline"])
async def test_one_that_is_ending_already_can_be_cancelled(ends_by: str) -> None:
    """Between the end of waiting and the moment its task learns of it."""
    waiting, loop = Waiting("d0001-0"), asyncio.get_running_loop()
    failed: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: failed.append(context))

    async def waits() -> None:
        async with asyncio.timeout(0.01) as wait:
            with waiting.within(wait):
                if ends_by == "being cancelled":
                    loop.call_soon(waiting.cancel, "first")

                def again() -> None:
                    if wait.expired():
                        waiting.cancel("again")
                    else:
                        loop.call_soon(again)

                loop.call_soon(again)
                await asyncio.Semaphore(0).acquire()

    with pytest.raises(TimeoutError):
        await waits()
    assert waiting.is_cancelled
    assert failed == []


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
