"""Jobs from CSV files and templates, by priority, within their limits, and done again where that is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop.batch import Batch, Line, Standing, read_jobs
from outcrop.jobs import over_files, write_jobs
from outcrop.models.scripted import turn
from outcrop.records import read
from outcrop.workspace import Workspace
from outcrop_schemas.errors import UnknownNameError, UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse, TextBlock
from outcrop_schemas.outcome import RunOutcome


class Obedient:
    """A model whose lead completes with the status that its objective names, after as many seconds as it names."""

    name = "obedient"
    is_free = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        texts = [
            block.text for message in request.messages for block in message.content if isinstance(block, TextBlock)
        ]
        said = next(text for text in texts if "please end with" in text)
        words = said[said.index("please end with") :].split()
        self.asked.append(words[3])
        await asyncio.sleep(float(words[5]))
        return turn(("complete", {"status": words[3], "summary": "<b>done</b>"}))


def job(status: str, after: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"objective": f"please end with {status} after {after} seconds", **more}


def write(workspace: Path, *jobs: dict[str, Any]) -> Path:
    path = workspace / "jobs.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in jobs))
    return path


def statuses(outcomes: Mapping[int, RunOutcome]) -> dict[int, str]:
    return {number: outcome.status for number, outcome in outcomes.items()}


def test_rows_of_a_csv_file_are_jobs(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        '\ufeffid,objective,data,priority\na,"summarise Au,\nplease",x.csv; y.csv,3\nb,map Cu,,\nc,,x.csv,\n'
        "d,plot,z.csv,high\ne,plot,z.csv,1,more\n",
        encoding="utf-8",
    )
    lines, bad = read_jobs(path)
    assert [(line.number, line.job.id, line.job.data, line.job.priority) for line in lines] == [
        (3, "a", ["x.csv", "y.csv"], 3),
        (4, "b", [], 0),
    ]
    assert lines[0].job.objective == "summarise Au,\nplease"
    assert [one.number for one in bad] == [5, 6, 7]
    assert "objective" in bad[0].reason
    assert "priority" in bad[1].reason
    assert "more fields than the header" in bad[2].reason


def test_a_csv_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(b"objective\n\xff\xfe\n")
    with pytest.raises(UsageError, match="no CSV in UTF-8"):
        read_jobs(path)


def test_one_objective_over_many_files(workspace: Path) -> None:
    for name in ("a/one.csv", "a/two.csv", "b.csv", ".outcrop/cache/c.csv"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x\n1\n")
    jobs = over_files("summarise Au of {stem} ({path})", ["**/*.csv", "b.*"], workspace)
    assert [(each.objective, each.data) for each in jobs] == [
        ("summarise Au of one (a/one.csv)", ["a/one.csv"]),
        ("summarise Au of two (a/two.csv)", ["a/two.csv"]),
        ("summarise Au of b (b.csv)", ["b.csv"]),
    ]
    with pytest.raises(UsageError, match="finds no file"):
        over_files("x", ["*.xlsx"], workspace)
    with pytest.raises(UsageError, match=r"\{Au\}"):
        over_files("mean of {Au}", ["b.csv"], workspace)


async def test_offline_the_name_of_a_file_in_a_template_means_the_file(workspace: Path) -> None:
    (workspace / "assays").mkdir()
    for name in ("trench_2", "north"):
        (workspace / "assays" / f"{name}.csv").write_text("sample,Au\na,1\nb,2\nc,6\n")
    jobs = write_jobs(Workspace(workspace), "summarise Au of {stem}", ["assays/*.csv"])
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2).start()
    assert statuses(found.outcomes) == {1: "success", 2: "success"}
    assert all("mean 3" in outcome.summary for outcome in found.outcomes.values())


async def test_jobs_of_higher_priority_begin_first(workspace: Path) -> None:
    jobs = write(
        workspace, job("success"), job("success", id="b"), job("success", priority=5), job("success", priority=-1)
    )
    order = []

    def on_job(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        order.append((line.number, standing.ended, standing.left))

    await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Obedient(), on_job=on_job).start()
    assert order == [(3, 1, 3), (1, 2, 2), (2, 3, 1), (4, 4, 0)]


async def test_after_too_many_failures_no_job_begins_and_the_rest_can_follow(workspace: Path) -> None:
    jobs = write(
        workspace, *(job(status, id=str(n)) for n, status in enumerate(["error", "success", "error", "success"]))
    )
    model = Obedient()
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model, max_failures=1).start()
    assert statuses(found.outcomes) == {1: "error"}
    assert found.not_begun == 3
    assert not found.is_good
    rest = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=model, resume=True).start()
    assert statuses(rest.outcomes) == {1: "error", 2: "success", 3: "error", 4: "success"}
    assert (rest.resumed, rest.not_begun) == (1, 0)
    assert rest.run_folder == found.run_folder


async def test_failures_before_it_was_resumed_do_not_hold_it_up(workspace: Path) -> None:
    jobs = write(workspace, *(job("error", id=str(number)) for number in range(3)))
    for begun in (1, 2, 3):
        batch = Batch(
            jobs, workspace=workspace, launcher=warm(), workers=1, model=Obedient(), max_failures=1, resume=True
        )
        assert len((await batch.start()).outcomes) == begun


class Late(Obedient):
    """A model of somebody's whose own code runs out of time."""

    async def create(self, request: ModelRequest) -> ModelResponse:
        raise TimeoutError("my own limit")


async def test_a_time_limit_of_somebody_elses_is_not_the_jobs(workspace: Path) -> None:
    jobs = write(workspace, job("success"), job("success", seconds=60))
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Late()).start()
    assert statuses(found.outcomes) == {1: "error", 2: "error"}
    assert all("my own limit" in " ".join(outcome.errors) for outcome in found.outcomes.values())


async def test_a_job_over_its_time_ends_as_timeout_and_is_done_again_when_asked(workspace: Path) -> None:
    jobs = write(workspace, job("success", 60, seconds=0.3), job("success"))
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, model=Obedient()).start()
    assert statuses(found.outcomes) == {1: "timeout", 2: "success"}
    assert "longer than its 0.3 s" in found.outcomes[1].errors[0]
    same = await Batch(jobs, workspace=workspace, launcher=warm(), model=Obedient(), resume=True).start()
    assert statuses(same.outcomes) == {1: "timeout", 2: "success"}
    assert ends(found.run_folder) == [2, 1]
    again = await Batch(
        jobs, workspace=workspace, launcher=warm(), model=Obedient(), resume=True, retry=["timeout"]
    ).start()
    assert statuses(again.outcomes) == {1: "timeout", 2: "success"}
    assert ends(found.run_folder) == [2, 1, 1]


def ends(folder: Path) -> list[int]:
    """The lines of the jobs that ended, as the batch recorded it."""
    return [record.body["line"] for record in read(folder / "journal.jsonl")[0].of("event", "job_end")]


def test_what_is_no_status_or_number_is_refused(workspace: Path) -> None:
    jobs = write(workspace, job("success"))
    with pytest.raises(UnknownNameError, match="interupted"):
        Batch(jobs, workspace=workspace, launcher=warm(), retry=["interupted"])
    with pytest.raises(UsageError, match="max_failures"):
        Batch(jobs, workspace=workspace, launcher=warm(), max_failures=0)


class Tags(HTMLParser):
    """Counts tags and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


async def test_the_page_shows_failures_first_and_text_as_text(workspace: Path) -> None:
    jobs = write(workspace, job("success", id="<script>alert(1)</script>"), job("error"))
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Obedient()).start()
    page = Tags()
    page.feed(found.page.read_text())
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert page.tags.count("tr") == 3
    assert "2 jobs: 1 error, 1 success" in page.text
    assert "<b>done</b>" in page.text
    rows = page.text[page.text.index("What came of it") :]
    assert rows.index("error") < rows.index("success")
