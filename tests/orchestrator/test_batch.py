"""A batch: every job ends in exactly one outcome, bad lines are named, a killed batch is taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop.batch import Batch, Line, Standing, read_jobs
from outcrop.batch_resume import UNKNOWN
from outcrop.models.scripted import turn
from outcrop.records import read
from outcrop.recovery import open_run
from outcrop.runs import RunFolder
from outcrop_schemas.errors import JournalError, PathError, UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import RunOutcome

CSV = "sample,Au,Cu\na,0.1,10\nb,0.2,20\nb,0.2,20\nc,0.4,30\n"


def write_jobs(path: Path, count: int, *extra: str) -> Path:
    lines = [
        json.dumps({"id": f"job-{n}", "objective": "summarise Au and Cu", "data": f"t{n}.csv"}) for n in range(count)
    ]
    for number in range(count):
        (path.parent / f"t{number}.csv").write_text(CSV.replace("0.1", f"0.{number + 1}"))
    path.write_text("\n".join([*lines, *extra]) + "\n")
    return path


async def test_good_jobs_run_and_bad_lines_are_named_by_number(workspace: Path) -> None:
    bad = (
        '{"objective": ""}',
        "not json",
        '{"objective": "x", "dta": []}',
        '{"objective": "x", "data": "missing.csv"}',
    )
    jobs = write_jobs(workspace / "jobs.jsonl", 2, *bad)
    result = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2).start()
    assert [bad.number for bad in result.bad_lines] == [3, 4, 5, 6]
    assert [
        "objective" in result.bad_lines[0].reason,
        "JSON" in result.bad_lines[1].reason,
        "dta" in result.bad_lines[2].reason,
    ]
    assert {number: outcome.status for number, outcome in result.outcomes.items()} == {
        1: "success",
        2: "success",
    }
    assert "missing.csv" in result.bad_lines[3].reason
    lines = [json.loads(line) for line in result.results.read_text().splitlines()]
    assert [(line["line"], line["id"]) for line in lines] == [(1, "job-0"), (2, "job-1")]
    assert not result.is_good


async def test_a_finished_batch_is_not_run_again(workspace: Path) -> None:
    jobs = write_jobs(workspace / "jobs.jsonl", 2)
    first = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2).start()
    second = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=True).start()
    assert second.resumed == 2
    assert second.run_folder == first.run_folder
    assert {n: o.run_id for n, o in second.outcomes.items()} == {n: o.run_id for n, o in first.outcomes.items()}


async def test_a_changed_line_is_a_new_job(workspace: Path) -> None:
    jobs = write_jobs(workspace / "jobs.jsonl", 2)
    await Batch(jobs, workspace=workspace, launcher=warm(), workers=2).start()
    jobs.write_text(jobs.read_text().replace("summarise Au and Cu", "summarise Au", 1))
    assert (await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=True).start()).resumed == 1


BAD_DATA = ("a\0b.csv", "x" * 5_000, "a/" * 3_000 + "b.csv", ".", "..", "missing.csv")


async def test_data_that_cannot_be_a_path_is_a_bad_line_alone(workspace: Path) -> None:
    bad = [json.dumps({"objective": "summarise Au", "data": path}) for path in BAD_DATA]
    jobs = write_jobs(workspace / "jobs.jsonl", 1, *bad)
    for resumed in (0, 1):
        result = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=bool(resumed)).start()
        assert [outcome.status for outcome in result.outcomes.values()] == ["success"]
        assert [one.number for one in result.bad_lines] == list(range(2, 2 + len(bad)))
        assert all(one.reason.startswith("data: ") for one in result.bad_lines)
        assert result.resumed == resumed


class Stumbling:
    """A model that answers at once, and whose own code breaks when it is asked its name for a second job."""

    def __init__(self) -> None:
        self._answers, self.has_to_break = 0, False

    @property
    def name(self) -> str:
        if self.has_to_break:
            self.has_to_break = False
            raise ZeroDivisionError("the name is broken")
        return "stumbling"

    async def create(self, request: ModelRequest) -> ModelResponse:
        self._answers += 1
        self.has_to_break = self._answers == 1
        return turn(("complete", {"status": "success", "summary": "done"}))


async def test_an_exception_that_nobody_foresaw_ends_one_job_and_no_other(workspace: Path) -> None:
    jobs = workspace / "jobs.jsonl"
    jobs.write_text("".join(json.dumps({"objective": f"number {n}"}) + "\n" for n in range(3)))
    result = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Stumbling()).start()
    assert [outcome.status for outcome in result.outcomes.values()] == ["success", "error", "success"]
    assert result.outcomes[2].errors == ["ZeroDivisionError: the name is broken"]
    assert job_ends(result.run_folder) == Counter({1: 1, 2: 1, 3: 1})


async def test_what_ends_a_whole_batch_is_raised_as_itself_and_not_in_a_group(workspace: Path) -> None:
    jobs = workspace / "jobs.jsonl"
    jobs.write_text("".join(json.dumps({"objective": f"number {n}"}) + "\n" for n in range(3)))

    def refuse(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        raise JournalError(f"no room for line {line.number}")

    with pytest.raises(JournalError, match="no room for line"):
        await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, on_job=refuse).start()


async def test_jobs_are_known_again_wherever_their_lines_stand(workspace: Path) -> None:
    jobs = write_jobs(workspace / "jobs.jsonl", 3)
    first = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2).start()
    one, two, three = jobs.read_text().splitlines()
    new = json.dumps({"objective": "summarise Cu", "data": "t0.csv"})
    jobs.write_text("\n".join(["not a job", new, two, "", three]) + "\n")
    moved = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=True).start()
    assert moved.resumed == 2
    assert [moved.outcomes[line].run_id for line in (3, 5)] == [first.outcomes[line].run_id for line in (2, 3)]
    lines = [json.loads(line) for line in moved.results.read_text().splitlines()]
    assert [(line["line"], line["id"]) for line in lines] == [(2, None), (3, "job-1"), (5, "job-2")]
    one = json.dumps({name: value for name, value in json.loads(one).items() if name != "id"})
    jobs.write_text("\n".join([three, one, two]) + "\n")
    once = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=True).start()
    jobs.write_text("\n".join([three, one, one, two]) + "\n")
    again = await Batch(jobs, workspace=workspace, launcher=warm(), workers=2, resume=True).start()
    assert again.resumed == 3
    assert again.outcomes[2].run_id == once.outcomes[2].run_id
    assert again.outcomes[3].run_id not in {outcome.run_id for outcome in [*once.outcomes.values(), first.outcomes[1]]}


@pytest.mark.parametrize("line", ["7", "[]", '"x"', "null", "[{}]"])
def test_a_line_that_is_no_object_is_said_to_be_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "jobs.jsonl").write_text(line + "\n")
    _, [bad] = read_jobs(tmp_path / "jobs.jsonl")
    assert bad.reason == "is not a JSON object with objective and data"


def test_a_jobs_file_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="cannot be read"):
        read_jobs(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(UsageError, match="no jobs"):
        read_jobs(tmp_path / "empty.jsonl")


def job_ends(folder: Path) -> Counter[int]:
    records, _ = read(folder / "journal.jsonl")
    return Counter(r.body["line"] for r in records if r.type == "event" and r.body["kind"] == "job_end")


def batch_folder(workspace: Path) -> Path | None:
    for path in (workspace / ".outcrop" / "runs").glob("*/run.json"):
        if b'"kind":"batch"' in path.read_bytes():
            return path.parent
    return None


def start_batch(jobs: Path, workspace: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "outcrop.cli.main",
        "batch",
        str(jobs),
        "--workspace",
        str(workspace),
        "--workers",
        "4",
    ]
    return subprocess.Popen([*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_ends(workspace: Path, process: subprocess.Popen[Any], count: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        folder = batch_folder(workspace)
        if folder and (folder / "journal.jsonl").is_file() and job_ends(folder).total() >= count:
            return
    raise AssertionError("the batch did not get so far")


def test_a_batch_of_twenty_survives_kill_9_and_no_job_completes_twice(workspace: Path) -> None:
    jobs = write_jobs(workspace / "jobs.jsonl", 20)
    process = start_batch(jobs, workspace)
    wait_for_ends(workspace, process, 5)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    folder = batch_folder(workspace)
    assert folder is not None
    before = job_ends(folder).total()
    assert 5 <= before < 20

    def outcomes() -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]

    resumed = start_batch(jobs, workspace, "--resume")
    _, said = resumed.communicate(timeout=150)
    # What a specialist was doing when the orchestrator was killed is not known: told, and not silently done again.
    flagged = [outcome["line"] for outcome in outcomes() if outcome["status"] == "interrupted"]
    assert resumed.returncode == (1 if flagged else 0), said
    assert all(outcome["errors"] == [UNKNOWN] for outcome in outcomes() if outcome["line"] in flagged)
    assert job_ends(folder) == Counter(dict.fromkeys(range(1, 21), 1))

    again = start_batch(jobs, workspace, "--resume", "--retry", "interrupted")
    _, said = again.communicate(timeout=150)
    assert again.returncode == 0, said
    assert job_ends(folder) == Counter({line: 2 if line in flagged else 1 for line in range(1, 21)})
    assert [outcome["line"] for outcome in outcomes()] == list(range(1, 21))
    assert {outcome["status"] for outcome in outcomes()} == {"success"}

    answered: Counter[int] = Counter()
    records, _ = read(folder / "journal.jsonl")
    for body in (r.body for r in records if r.type == "event" and r.body["kind"] == "job_start"):
        run = open_run(RunFolder(workspace / ".outcrop" / "runs" / body["run_id"]))
        answered[body["line"]] += run.answer is not None
        assert all(outcome.status in ("success", "interrupted") for outcome in run.outcomes)
    assert set(answered.values()) == {1}


def test_an_interrupt_ends_a_batch_with_130_and_it_can_be_resumed(workspace: Path) -> None:
    jobs = write_jobs(workspace / "jobs.jsonl", 8)
    process = start_batch(jobs, workspace)
    wait_for_ends(workspace, process, 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"cancelled" in said
    assert b"Traceback" not in said
    assert start_batch(jobs, workspace, "--resume").wait(timeout=150) == 0
    folder = batch_folder(workspace)
    assert folder is not None
    assert job_ends(folder) == Counter(dict.fromkeys(range(1, 9), 1))
