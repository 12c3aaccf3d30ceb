"""The live view in a real browser during a batch of another process: looked at, searched, cancelled, compared."""

from __future__ import annotations

import asyncio
import fcntl
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import pytest
from browser import DESK, PHONE, chromium, opened, overflow, serious_faults
from made_runs import made
from ui_server import Live, serving

from outcrop import Pool
from outcrop.recovery import open_run
from outcrop.runs import RunFolder, all_runs
from outcrop.workspace import Workspace
from outcrop_schemas.outcome import Outcome

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TESTS = Path(__file__).resolve().parents[1]
JOBS = 4
PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Batch:
    """A batch in another process, whose specialists wait until the gate is opened."""

    def __init__(self, workspace: Path) -> None:
        rows = "".join(f"s{n},{n / 10},{'granite' if n % 2 else 'shale'}\n" for n in range(1, 40))
        lines = []
        for number in range(1, JOBS + 1):
            (workspace / f"t{number}.csv").write_text("sample,Cu_ppm,rock\n" + rows)
            objective = "summarise Cu_ppm by rock, and plot a histogram of Cu_ppm"
            lines.append(json.dumps({"id": f"job-{number}", "objective": objective, "data": f"t{number}.csv"}))
        self._jobs = workspace / "jobs.jsonl"
        self._jobs.write_text("\n".join(lines) + "\n")
        self._gate = (workspace / "gate").open("w")
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        program = [sys.executable, str(TESTS / "gated_batch.py"), str(workspace), str(self._jobs), self._gate.name]
        self.process = subprocess.Popen(program)

    def open_gate(self) -> None:
        fcntl.flock(self._gate, fcntl.LOCK_UN)

    def close(self) -> None:
        self.open_gate()
        self.process.terminate()
        self.process.wait(60)
        self._gate.close()


@contextmanager
def batch_and_server(workspace: Path) -> Iterator[tuple[Batch, Live]]:
    with ExitStack() as stack:
        batch = Batch(workspace)
        stack.callback(batch.close)
        yield batch, stack.enter_context(serving(workspace))


def pictured(page: Page, folder: Path, name: str) -> None:
    """Nothing is wider than the window, nobody is kept out, on a phone and at a desk; and a picture of each."""
    for size in (PHONE, DESK):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.screenshot(path=folder / f"{name}-{size[0]}.png", full_page=True)
        assert overflow(page) <= 0
        assert serious_faults(page) == []


def test_a_batch_is_looked_at_searched_cancelled_and_compared(
    workspace: Path, browser: Browser, tmp_path: Path
) -> None:
    with batch_and_server(workspace) as (batch, live), opened(browser, live.url, allowed=(live.url,)) as page:
        page.set_default_timeout(PATIENCE_MS)
        # The batch shows up in a list that was open before, and its jobs after it.
        row = page.get_by_role("row").filter(has_text="jobs.jsonl")
        row.locator(".badge", has_text="under way").wait_for()
        page.locator("tbody tr").nth(2).wait_for()
        page.get_by_label("Search objectives").fill("typed")
        page.locator("#runs").evaluate("runs => runs.dataset.seen = 'before'")
        row.get_by_text(re.compile("jobs?, 2 under way")).wait_for()
        assert page.get_by_label("Search objectives").input_value() == "typed"
        pictured(page, tmp_path, "list")

        # The page of the batch lists its jobs, from where it goes to the run of one.
        row.get_by_role("link").click()
        page.locator("#jobs tr[data-find=job]").nth(1).wait_for()
        page.locator("#jobs .now").first.wait_for()
        pictured(page, tmp_path, "batch")
        # Of two jobs that work at a time one may have all places for its dispatches, and the other wait for them.
        at_work = page.locator("#jobs tr[data-find=job]").filter(has_text="dispatches ended").first
        at_work.get_by_role("link", name="report of line").click()

        # What a dispatch does is told; the reader's search, what is unfolded and the place on the page stay.
        dispatch = page.locator("article.dispatch").first
        page.locator("article.dispatch .now").first.wait_for()
        folder = RunFolder(workspace / ".outcrop" / "runs" / page.url.rstrip("/").rpartition("/")[2])
        page.get_by_label("Search dispatches").fill("Cu_ppm")
        dispatch.locator("summary").click()
        page.get_by_label("Search dispatches").focus()
        pictured(page, tmp_path, "run")
        dispatch.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Let it work").click()
        dispatch.get_by_role("button", name="Cancel").click()
        pictured(page, tmp_path, "asked")
        page.get_by_role("button", name="Cancel it").click()
        page.locator("article.dispatch[data-status=cancelled]").first.wait_for()
        assert page.get_by_label("Search dispatches").input_value() == "Cu_ppm"
        assert dispatch.locator("details").first.evaluate("each => each.open")
        batch.open_gate()
        page.locator("#live-state").get_by_text("Ended").wait_for()
        assert page.locator(".now").count() == 0
        assert page.locator("[data-cancel]").count() == 0
        assert page.locator("#answer .summary").count() == 1
        statuses = [outcome.status for outcome in open_run(folder).each_outcome()]
        assert statuses[0] == "cancelled"
        assert "success" in statuses
        page.get_by_label("Search dispatches").fill("")
        pictured(page, tmp_path, "ended")

        # Its files are opened from the page, and two runs compared.
        page.get_by_role("link", name="All runs").click()
        row.locator(".badge", has_text="under way").wait_for(state="detached")
        assert batch.process.wait(120) == 0
        boxes = page.locator("tbody input[type=checkbox]")
        assert page.locator("#compare").is_disabled()
        boxes.nth(0).check()
        boxes.nth(1).check()
        page.locator("#compare").click()
        page.get_by_role("heading", name="Two runs compared").wait_for()
        assert page.get_by_role("heading", name="Steps").count() == 1
        pictured(page, tmp_path, "compared")
        page.get_by_role("link", name="All runs").click()
        page.get_by_role("row").filter(has_text="jobs.jsonl").get_by_role("link").click()
        page.locator("#live-state").get_by_text("Ended").wait_for()
        page.get_by_role("link", name="report of line 4").click()
        address = page.locator("#artifacts a.path").first.get_attribute("href")
        answer = page.request.get(page.url + str(address))
        assert answer.ok
        assert "sandbox" in answer.headers["content-security-policy"]
        page.locator("#live-read a").click()
        page.get_by_role("heading", name="Dispatches, newest first").wait_for()
        pictured(page, tmp_path, "earlier")
    assert len(all_runs(Workspace(workspace))) == JOBS + 1


def test_a_page_says_when_its_run_is_removed_and_when_its_server_is_another_one(
    workspace: Path, browser: Browser
) -> None:
    folder = made(workspace, pending=1)
    with folder.journal.open("rb") as held, serving(workspace) as live:
        fcntl.flock(held, fcntl.LOCK_EX)
        gone, cut = browser.new_page(), browser.new_page()
        for page in (gone, cut):
            page.set_default_timeout(PATIENCE_MS)
        cut.goto(live.url)
        cut.locator("#live-state").get_by_text("Live", exact=True).wait_for()
        gone.goto(f"{live.url}run/{folder.run_id}/")
        gone.locator("article.dispatch .now").wait_for()
        shutil.rmtree(folder.path)
        gone.locator("#live-state").get_by_text("it was removed").wait_for()
        assert gone.get_by_role("button", name="Cancel").first.is_disabled()
        assert gone.locator(".now").count() == 0
        cut.bring_to_front()
        live.end()
        cut.locator("#live-state").get_by_text("trying again").wait_for()
        with serving(workspace, "--port", str(live.port)):
            cut.locator("#live-state").get_by_text("Load this page again").wait_for()
        gone.close()
        cut.close()


def _jobs(count: int) -> Iterator[dict[str, Any]]:
    """Records of so many jobs, each seventh of which failed."""
    for line in range(1, count + 1):
        body = {"job": f"key{line}", "line": line, "id": f"job-{line}", "run_id": f"r{line}"}
        yield {"kind": "job_start", **body}
        failed = {"status": "failed", "errors": ["the disk of the node was full"]}
        told = failed if line % 7 == 0 else {"status": "success", "summary": f"Hole {line} was mapped."}
        objective = f"map hole {line} by rock type, and plot a histogram of its copper"
        yield {"kind": "job_end", **body, "outcome": {**told, "objective": objective, "duration_s": 2.5}}


def test_all_jobs_of_a_large_batch_are_reached_from_the_keyboard(
    workspace: Path, browser: Browser, tmp_path: Path
) -> None:
    folder = made(workspace, events=_jobs(10_000), kind="batch", objective=None, jobs="/somewhere/jobs.jsonl")
    with serving(workspace) as live, opened(browser, f"{live.url}run/{folder.run_id}/", allowed=(live.url,)) as page:
        page.set_default_timeout(PATIENCE_MS)
        assert page.locator("#jobs tr[data-find=job]").count() < 1_000
        page.locator("#jobs").get_by_role("link", name="Go through them by pages").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Jobs 1 to 100 of 10,000").wait_for()
        assert page.get_by_role("row").count() == 101
        pictured(page, tmp_path, "jobs")
        # From page to page, to the end and back.
        page.get_by_role("link", name="Later").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Jobs 101 to 200 of 10,000").wait_for()
        page.get_by_role("link", name="Last").click()
        page.get_by_text("Jobs 9,901 to 10,000 of 10,000").wait_for()
        assert page.get_by_role("link", name="Later").count() == 0
        page.get_by_role("link", name="Earlier").click()
        page.get_by_text("Jobs 9,801 to 9,900 of 10,000").wait_for()
        # By status, by words, by both; what was chosen stays chosen.
        page.get_by_label("Status").select_option("failed")
        page.get_by_role("button", name="Search").click()
        page.get_by_text("Jobs 1 to 100 of 1,428 that are failed").wait_for()
        assert page.get_by_label("Status").input_value() == "failed"
        page.get_by_label("Words of the objective").fill("hole 9996")
        page.keyboard.press("Enter")
        page.get_by_text("1 job found here").wait_for()
        assert page.get_by_role("row").nth(1).get_by_text("the disk of the node was full").count() == 1
        page.get_by_role("button", name="colours").click()
        pictured(page, tmp_path, "found")
        page.get_by_label("Words of the objective").fill("<b>nothing</b>")
        page.keyboard.press("Enter")
        page.get_by_text("No job found").wait_for()
        pictured(page, tmp_path, "nothing")
        page.get_by_role("link", name="This batch").click()
        page.get_by_role("heading", name="Batch: jobs.jsonl").wait_for()


def test_a_dispatch_that_waits_is_seen_and_cancelled_from_its_page(
    workspace: Path, browser: Browser, tmp_path: Path
) -> None:
    async def work(on_open: Callable[[str], None], done: Callable[[], Any]) -> list[Outcome]:
        program = [sys.executable, "-c", "import time; time.sleep(600)"]
        async with Pool(workers=1, workspace=workspace) as pool:
            calls = [pool.dispatch("mine", f"piece {n}", command=program, grace=0.1) for n in range(3)]
            tasks = [asyncio.create_task(call) for call in calls]
            on_open(pool.run_folder.run_id)
            waits = tasks[1]
            outcome = await waits
            await asyncio.to_thread(done)
            for task in tasks:
                task.cancel()
            return [outcome]

    opened_as: Queue[str] = Queue()
    is_seen = threading.Event()
    outcomes: list[Outcome] = []

    def run() -> None:
        outcomes.extend(asyncio.run(work(opened_as.put, lambda: is_seen.wait(PATIENCE_MS / 1000))))

    working = threading.Thread(target=run)
    working.start()
    try:
        address = f"run/{opened_as.get(timeout=60)}/"
        with serving(workspace) as live, opened(browser, live.url + address, allowed=(live.url,)) as page:
            page.set_default_timeout(PATIENCE_MS)
            waiting = page.locator("article.dispatch[data-status=waiting]")
            waiting.nth(1).wait_for()
            page.locator("#live-read").get_by_text("2 waiting for a place, 3 dispatches in all").wait_for()
            pictured(page, tmp_path, "waiting")
            waiting.first.get_by_role("button", name="Cancel").click()
            page.get_by_role("button", name="Cancel it").click()
            page.locator("article.dispatch[data-status=cancelled]").wait_for()
            assert waiting.count() == 1
            page.locator("#live-read a").click()
            page.get_by_label("Status").select_option("waiting")
            page.get_by_role("button", name="Search").click()
            page.get_by_role("row").filter(has_text="piece 2").wait_for()
    finally:
        is_seen.set()
        working.join(60)
    assert [(outcome.objective, outcome.status, outcome.launch) for outcome in outcomes] == [
        ("piece 1", "cancelled", None)
    ]
