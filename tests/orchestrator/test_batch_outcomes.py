"""A batch of any length takes little memory: its outcomes stay in its journal, its page shows so many of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop.batch import Batch
from outcrop.batch_outcomes import BatchOutcome, JobOutcomes
from outcrop.batch_results import write_results
from outcrop.batch_resume import last_batch
from outcrop.journal import Journal
from outcrop.models.scripted import turn
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import RunOutcome


class Simple:
    """A model whose lead completes at once, with what its objective says."""

    name = "simple"
    is_free = True

    def __init__(self) -> None:
        self.asked = 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.asked += 1
        said = str(request.messages[0].content[-1])
        status = "error" if "fail" in said else "success"
        return turn(("complete", {"status": status, "summary": f"answer {self.asked}", "blockers": ["x"]}))


def write(workspace: Path, *objectives: str) -> Path:
    path = workspace / "jobs.jsonl"
    lines = [json.dumps({"objective": objective, "id": f"{n}"}) for n, objective in enumerate(objectives)]
    path.write_text("\n".join(lines) + "\n")
    return path


def outcome(status: str = "success") -> RunOutcome:
    return RunOutcome.model_validate(
        {"run_id": "r", "objective": "o", "status": status, "model": "m", "started_at": "", "duration_s": 1.0}
        | {"run_folder": ""}
    )


async def test_a_record_says_where_it_stands(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    bodies: list[tuple[Any, dict[str, Any]]] = [("run", {"kind": "pool"}), ("event", {"kind": "job_end", "n": 1})]
    places = [await journal.append(kind, "r", body) for kind, body in bodies]
    # Of the first record the journal notes no detail, whatever is in it.
    assert places == read(journal.path)[0].entries
    assert [read(journal.path)[0].at(place).body for place in places] == [body for _, body in bodies]
    await journal.close()


async def test_outcomes_are_read_from_the_journal_in_the_order_of_the_lines(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    found = JobOutcomes(journal.path)
    for number, status in ((3, "success"), (1, "partial"), (2, "error")):
        told = outcome(status)
        place = await journal.append("event", "r", {"kind": "job_end", "outcome": told.model_dump(mode="json")})
        found.add(number, place, told)
    await journal.close()
    assert list(found) == [1, 2, 3]
    assert (found.good, found.failed, dict(found.statuses)) == (
        [1, 3],
        [2],
        {"success": 1, "partial": 1, "error": 1},
    )
    assert found[2] == outcome("error")
    assert 4 not in found
    journal.path.write_bytes(b"x" * journal.path.stat().st_size)
    with pytest.raises(JournalError, match="was changed"):
        found[2]


async def test_the_page_shows_so_many_jobs_and_counts_the_others(tmp_path: Path) -> None:
    failed, good = limits.BATCH_PAGE_FAILED + 5, limits.BATCH_PAGE_GOOD + 5
    journal = Journal.create(tmp_path / "journal.jsonl")
    found = BatchOutcome(tmp_path, JobOutcomes(journal.path))
    told = [outcome("success")] * good + [outcome("error")] * failed
    bodies = [{"kind": "job_end", "outcome": one.model_dump(mode="json")} for one in told]
    places = await asyncio.gather(*(journal.append("event", "r", body) for body in bodies))
    await journal.close()
    for number, (place, one) in enumerate(zip(places, told, strict=True), 1):
        found.outcomes.add(number, place, one)
    write_results(found, {1: "first"})
    page = found.page.read_text()
    assert f"<h1>{failed + good} jobs: {failed} error, {good} success</h1>" in page
    assert page.count("<tr><td>") == limits.BATCH_PAGE_FAILED + limits.BATCH_PAGE_GOOD
    assert f"Of {failed:,} jobs that failed the first {limits.BATCH_PAGE_FAILED:,} are shown" in page
    assert f"Of {good} jobs that were done the first {limits.BATCH_PAGE_GOOD} are shown" in page
    results = [json.loads(line) for line in found.results.read_text().splitlines()]
    assert [result["line"] for result in results] == list(range(1, failed + good + 1))
    assert (results[0]["id"], results[1]["id"], results[-1]["status"]) == ("first", None, "error")


def killed_before_its_end_was_recorded(workspace: Path, path: Path) -> RunFolder:
    """The record of a batch as a kill leaves it after the answer of the last job, and before that is known."""
    folder = last_batch(Workspace(workspace), path)
    assert folder is not None
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    assert b"job_end" in lines[-1]
    folder.journal.write_bytes(b"".join(lines[:-1]))
    return folder


async def test_an_answer_that_the_batch_did_not_hear_of_is_taken_from_the_run(workspace: Path) -> None:
    path, model = write(workspace, "go", "go on"), Simple()
    await Batch(path, workspace=workspace, launcher=warm(), workers=1, model=model).start()
    killed_before_its_end_was_recorded(workspace, path)
    found = await Batch(path, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True).start()
    assert (model.asked, found.resumed) == (2, 2)
    assert [one.summary for one in found.outcomes.values()] == ["answer 1", "answer 2"]


async def test_what_a_job_came_to_when_it_was_done_again_counts_though_the_batch_did_not_hear_of_it(
    workspace: Path,
) -> None:
    path, model = write(workspace, "fail"), Simple()
    await Batch(path, workspace=workspace, launcher=warm(), model=model).start()
    await Batch(path, workspace=workspace, launcher=warm(), model=model, resume=True, retry=["error"]).start()
    killed_before_its_end_was_recorded(workspace, path)
    # Its first end is in the journal, and its second one is not: the second run is what counts.
    found = await Batch(path, workspace=workspace, launcher=warm(), model=model, resume=True).start()
    assert model.asked == 2
    assert [one.summary for one in found.outcomes.values()] == ["answer 2"]
    records, _ = read(found.run_folder / "journal.jsonl")
    ends = [record.body["outcome"]["summary"] for record in records.of("event", "job_end")]
    assert ends == ["answer 1", "answer 2"]
