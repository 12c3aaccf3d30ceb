"""What a batch that goes on runs again, and what it keeps of jobs that it did not come to."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from warm import warm

from outcrop.batch import Batch, Line, Standing
from outcrop.batch_resume import UNKNOWN, Retry
from outcrop.cli.main import run
from outcrop.models.scripted import turn
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import RunOutcome

SAID = {"status": "success", "summary": "done"}


class Deadly:
    """A lead that has one piece of work done for each job, and ends as that ended; its specialists are killed where the
    objective says so and `is_deadly` is set."""

    name = "deadly"
    is_free = True

    def __init__(self) -> None:
        self.is_deadly = True

    async def create(self, request: ModelRequest) -> ModelResponse:
        said = str(request.messages)
        is_lead = any(tool.name == "dispatch" for tool in request.tools)
        if not is_lead:
            if self.is_deadly and "to be killed" in said:
                kill_specialists()
            return turn(("complete", SAID))
        if len(request.messages) == 1:
            objective = "count, to be killed" if "to be killed" in said else "count"
            order = {"specialist": "analytics", "objective": objective, "data": ["t.csv"]}
            return turn(("dispatch", order))
        return turn(("complete", {"status": "error" if "crashed" in said else "success", "summary": "done"}))


def kill_specialists() -> None:
    for process in psutil.Process().children(recursive=True):
        # Not what watches over them, and not what ended meanwhile: the nursery of this process forks others.
        with contextlib.suppress(psutil.NoSuchProcess):
            if "/work/d0001" in process.cwd():
                process.kill()


class Failing:
    """A lead that completes at once: with an error where its objective says `fail`, unless it was mended."""

    name = "failing"
    is_free = True

    def __init__(self) -> None:
        self.is_mended = False

    async def create(self, request: ModelRequest) -> ModelResponse:
        has_failed = "fail" in str(request.messages[0].content[-1]) and not self.is_mended
        return turn(("complete", {**SAID, "status": "error"} if has_failed else SAID))


def write(workspace: Path, *objectives: str) -> Path:
    (workspace / "t.csv").write_text("sample,Au\na,1\nb,2\n")
    path = workspace / "jobs.jsonl"
    path.write_text("".join(json.dumps({"objective": objective}) + "\n" for objective in objectives))
    return path


def results(workspace: Path) -> dict[int, str]:
    [path] = (workspace / ".outcrop" / "runs").glob("*/results.jsonl")
    return {found["line"]: found["status"] for found in map(json.loads, path.read_text().splitlines())}


async def test_a_job_whose_specialist_crashed_is_run_again_when_crashed_is_asked_for(workspace: Path) -> None:
    jobs, model = write(workspace, "to be killed", "count"), Deadly()
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model).start()
    assert [outcome.status for outcome in found.outcomes.values()] == ["error", "success"]
    assert {line.status for line in found.outcomes[1].dispatches} == {"crashed"}
    model.is_deadly = False
    for retry, resumed, last in (([], 2, "error"), (["timeout"], 2, "error"), (["crashed"], 1, "success")):
        batch = Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True, retry=retry)
        again = await batch.start()
        assert again.resumed == resumed
        assert again.outcomes[1].status == last
    assert again.outcomes[2].run_id == found.outcomes[2].run_id


def test_the_statuses_of_dispatches_count_where_the_job_is_not_good_and_they_are_named() -> None:
    def told(status: str, *dispatches: str) -> dict[str, Any]:
        return {"status": status, "dispatches": [{"status": one} for one in dispatches]}

    retry = Retry({"crashed", "spawn_error"}, {"cancelled"})
    assert retry.takes(told("crashed"))
    assert retry.takes(told("cancelled"))
    assert retry.takes(told("error", "success", "spawn_error"))
    assert not retry.takes(told("partial", "success", "crashed"))
    assert not retry.takes(told("error", "cancelled"))
    assert not retry.takes({"status": "error"})


def test_retry_without_resume_is_refused(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = write(workspace, "count")
    with pytest.raises(UsageError, match="--resume --retry error"):
        Batch(jobs, workspace=workspace, launcher=warm(), retry=["error"])
    assert run(["batch", str(jobs), "--workspace", str(workspace), "--retry", "interrupted,error"]) == 2
    assert "--resume --retry interrupted,error" in capsys.readouterr().err
    assert not (workspace / ".outcrop").exists()
    assert "--resume --retry interrupted" in UNKNOWN


async def test_jobs_that_were_to_be_run_again_and_were_not_begun_keep_their_record(workspace: Path) -> None:
    jobs, model = write(workspace, "fail a", "fail b", "c"), Failing()
    first = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model).start()
    before = first.results.read_text().splitlines()

    def again(**more: Any) -> Batch:
        return Batch(
            jobs, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True, retry=["error"], **more
        )

    held = await again(max_failures=1).start()
    assert (held.resumed, held.not_begun, held.failures) == (1, 1, 2)
    assert held.results.read_text().splitlines()[1:] == before[1:]
    assert held.outcomes[1].run_id != first.outcomes[1].run_id
    # It goes on being one that is to be run again.
    model.is_mended = True
    assert results(workspace) == {1: "error", 2: "error", 3: "success"}
    assert (await again().start()).is_good
    assert results(workspace) == {1: "success", 2: "success", 3: "success"}


async def test_a_batch_that_is_cancelled_leaves_what_has_ended(workspace: Path) -> None:
    jobs, model = write(workspace, "fail a", "fail b", "c"), Failing()

    def cancel(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        task.cancel()

    task = asyncio.create_task(
        Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model, on_job=cancel).start()
    )
    with pytest.raises(asyncio.CancelledError):
        await task
    assert results(workspace) == {1: "error"}
    [page] = (workspace / ".outcrop" / "runs").glob("*/summary.html")
    assert "1 jobs: 1 error" in page.read_text()
    await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True).start()
    model.is_mended = True
    again = Batch(
        jobs, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True, retry=["error"], on_job=cancel
    )
    task = asyncio.create_task(again.start())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert results(workspace) == {1: "success", 2: "error", 3: "success"}
