"""`outcrop report`, and the report that every run leaves by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_runs import made, outcome

Command = Callable[..., Any]


def written(workspace: Path) -> str:
    (workspace / "a.csv").write_text("hole,Au\nA1,1.5\nA2,2.5\n")
    return "a.csv"


def test_a_run_says_where_its_report_is_and_the_command_writes_it_again(workspace: Path, outcrop: Command) -> None:
    ran = outcrop("run", "summarise Au", "--data", written(workspace))
    [page] = workspace.glob(".outcrop/runs/*/report.html")
    assert f"Report: {page}" in ran.stdout
    assert page.stat().st_mode & 0o777 == 0o600
    first = page.read_text()
    page.unlink()
    again = outcrop("report", "last")
    assert (again.returncode, again.stdout.strip()) == (0, str(page))
    assert page.read_text() == first
    told = json.loads(outcrop("report", "last", "--json").stdout)
    assert told == {"run_id": page.parent.name, "report": str(page), "bytes": page.stat().st_size}


def test_no_report_is_written_where_the_settings_say_so(workspace: Path, outcrop: Command) -> None:
    ran = outcrop("run", "summarise Au", "--data", written(workspace), "--set", "report=false")
    assert ran.returncode == 0
    assert "Report:" not in ran.stdout
    assert not list(workspace.glob(".outcrop/runs/*/report.html"))


def test_a_lone_dispatch_and_a_batch_with_its_jobs_leave_reports_that_lead_to_each_other(
    workspace: Path, outcrop: Command
) -> None:
    name = written(workspace)
    (workspace / "jobs.jsonl").write_text(json.dumps({"objective": "summarise Au", "data": [name]}) + "\n")
    assert outcrop("dispatch", "analytics", "--objective", "summarise Au", "--data", name).returncode == 0
    ran = outcrop("batch", "jobs.jsonl")
    pages = sorted(workspace.glob(".outcrop/runs/*/report.html"))
    assert len(pages) == 3
    batch = next(page for page in pages if "A batch of 1 job." in page.read_text())
    assert f"Report:  {batch}" in ran.stdout
    job = next(page for page in pages if f'href="../{page.parent.name}/report.html"' in batch.read_text())
    assert "summarise Au" in job.read_text()


def test_what_an_orchestrator_left_that_was_killed_becomes_a_report_too(workspace: Path, outcrop: Command) -> None:
    made(workspace, [outcome(1)], pending=1)
    told = outcrop("report", "last")
    assert told.returncode == 0
    assert "in flight" in told.stderr
    assert "no answer" in Path(told.stdout.strip()).read_text()


def test_another_place_may_be_named_and_nothing_is_replaced_there(
    workspace: Path, tmp_path: Path, outcrop: Command
) -> None:
    made(workspace, [outcome(1, artifacts=[])], data=[{"path": "a.csv", "bytes": 1, "sha256": "0"}])
    other = tmp_path / "page.html"
    assert outcrop("report", "last", "--output", str(other)).returncode == 0
    assert 'href="./workspace/a.csv"' in other.read_text()
    assert outcrop("report", "last", "--output", str(other)).returncode == 2
    assert outcrop("report", "last", "--output", str(tmp_path / "none" / "page.html")).returncode == 2
    assert outcrop("report", "no-such-run").returncode == 2
    assert outcrop("report", "").returncode == 2


def test_a_folder_that_takes_no_report_is_an_error_of_the_command(workspace: Path, outcrop: Command) -> None:
    folder = made(workspace, [outcome(1)])
    (folder.path / "report.html").mkdir()
    told = outcrop("report", "last")
    assert told.returncode == 1
    assert "could not be written" in told.stderr
    assert not list(folder.path.glob(".report*"))
