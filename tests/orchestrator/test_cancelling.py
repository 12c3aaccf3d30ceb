"""A dispatch is cancelled from another process; the run goes on, and no specialist can ask for it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from installed import outcrop

from outcrop import Pool
from outcrop.cancelling import REQUESTED, ask_to_cancel, leave_request
from outcrop.events import DispatchProgress, DispatchStarted, Event
from outcrop.recovery import open_run
from outcrop.runs import RunFolder
from outcrop_schemas.errors import NotUnderWayError, UnknownNameError

SLOW = "say(type='progress', text='at work'); time.sleep(600); complete()"


class Started:
    """Knows the dispatches that said something, once they did."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.at_work = asyncio.Event()

    def take(self, event: Event) -> None:
        if isinstance(event, DispatchStarted):
            self.ids.append(event.dispatch_id)
        elif isinstance(event, DispatchProgress):
            self.at_work.set()


async def slow(pool: Pool, program: Any) -> tuple[str, asyncio.Task[Any]]:
    """A dispatch that is at work and will not end by itself."""
    watched = Started()
    task = asyncio.create_task(pool.dispatch("mine", "o", command=program(SLOW), grace=0.1, watcher=watched.take))
    await asyncio.wait_for(watched.at_work.wait(), 30)
    return watched.ids[0], task


def cancel(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return outcrop(workspace, "cancel", *arguments)


async def test_another_process_cancels_one_dispatch_and_the_others_go_on(
    pool: Pool, program: Any, workspace: Path
) -> None:
    dispatch_id, task = await slow(pool, program)
    other = asyncio.create_task(pool.dispatch("mine", "o", command=program("complete(7)")))
    done = await asyncio.to_thread(cancel, workspace, "last", dispatch_id.partition("-")[0], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dispatch_id"] == dispatch_id
    outcome = await asyncio.wait_for(task, 30)
    assert outcome.status == "cancelled"
    assert "on request" in outcome.errors[0]
    assert (await other).status == "success"
    run = open_run(pool.run_folder)
    assert [event["agent"] for event in run.events(REQUESTED)] == [dispatch_id]
    assert list(pool.run_folder.requests.iterdir()) == []
    assert (await pool.dispatch("mine", "o", command=program("complete(7)"))).status == "success"


async def test_what_has_ended_or_never_was_cannot_be_cancelled(pool: Pool, program: Any, workspace: Path) -> None:
    outcome = await pool.dispatch("mine", "o", command=program("complete()"))
    ended = await asyncio.to_thread(cancel, workspace, "last", outcome.dispatch_id)
    assert (ended.returncode, "has ended: success" in ended.stderr) == (1, True)
    unknown = await asyncio.to_thread(cancel, workspace, "last", "d9999")
    assert (unknown.returncode, "no dispatch" in unknown.stderr) == (2, True)
    with pytest.raises(NotUnderWayError):
        ask_to_cancel(open_run(pool.run_folder), outcome.dispatch_id)
    with pytest.raises(UnknownNameError):
        ask_to_cancel(open_run(pool.run_folder), "")


async def test_a_request_for_something_else_changes_nothing_and_is_removed(pool: Pool, program: Any) -> None:
    folder = pool.run_folder
    folder.requests.mkdir()
    (folder.requests / "cancel-d0001-0000000000000000").touch()
    (folder.requests / "what is this").touch()
    dispatch_id, task = await slow(pool, program)
    leave_request(folder, dispatch_id)
    assert (await asyncio.wait_for(task, 30)).status == "cancelled"
    assert list(folder.requests.iterdir()) == []
    assert len(open_run(folder).events(REQUESTED)) == 1


async def test_what_cannot_be_removed_stands_in_the_way_of_no_request_and_is_told_once(
    pool: Pool, program: Any, caplog: pytest.LogCaptureFixture
) -> None:
    folder = pool.run_folder
    for number in range(20):
        (folder.requests / f"cancel-{number}").mkdir(parents=True)
    for _ in range(2):
        dispatch_id, task = await slow(pool, program)
        leave_request(folder, dispatch_id)
        assert (await asyncio.wait_for(task, 30)).status == "cancelled"
    assert len([each for each in caplog.messages if "cannot be taken" in each]) == 20


async def test_a_request_that_comes_too_late_is_removed_with_the_end_of_the_run(workspace: Path, program: Any) -> None:
    async with Pool(workers=1, workspace=workspace) as pool:
        folder = pool.run_folder
        outcome = await pool.dispatch("mine", "o", command=program("complete()"))
        leave_request(folder, outcome.dispatch_id)
    assert list(folder.requests.iterdir()) == []


async def test_a_specialist_cannot_write_requests(pool: Pool, program: Any) -> None:
    folder = pool.run_folder
    folder.requests.mkdir()
    dispatch_id, task = await slow(pool, program)
    body = f"""
    def attempt(action):
        try:
            action()
        except OSError:
            return "refused"
        return "done"
    folder = {str(folder.requests)!r}
    complete({{
        "write": attempt(lambda: open(folder + "/cancel-{dispatch_id}", "w").close()),
        "link": attempt(lambda: os.symlink("/etc/passwd", folder + "/cancel-x")),
        "replace": attempt(lambda: os.rename(folder, folder + "2")),
    }})
    """
    outcome = await pool.dispatch("mine", "o", command=program(body))
    if not outcome.isolation["write_confined"].active:
        pytest.skip("this kernel cannot confine writes")
    assert outcome.results["answer"] == {"write": "refused", "link": "refused", "replace": "refused"}
    assert not task.done()
    ask_to_cancel(open_run(RunFolder(folder.path)), dispatch_id)
    assert (await asyncio.wait_for(task, 30)).status == "cancelled"
