"""A run as a tree: whatever is left out of it is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from made_runs import outcome, record

from outcrop.cli.showing import tree_of
from outcrop.report.writing import write_report


def job(line: int, status: str) -> dict[str, Any]:
    told = {"status": status, "objective": f"piece {line}", "duration_s": 1.0, "summary": "", "run_id": ""}
    return {"kind": "job_end", "job": str(line), "line": line, "id": "", "outcome": told}


def test_of_a_long_batch_the_failed_jobs_that_are_not_shown_are_counted(workspace: Path) -> None:
    events = [job(line, "timeout" if line in (3, 290) else "success") for line in range(1, 301)]
    # One that was run again counts as it ended last.
    events += [job(7, "error")]
    run = record(workspace, events=events, kind="batch", objective=None, jobs="jobs.jsonl")
    texts = [child.text for child in tree_of(run, None).children]
    assert "300 (1 error, 297 success, 2 timeout)" in texts
    assert "100 earlier jobs (1 error, 98 success, 1 timeout); results.jsonl in the run folder has all" in texts
    assert sum(text.startswith("line ") for text in texts) == 200


def test_a_batch_that_is_shown_whole_has_nothing_earlier(workspace: Path) -> None:
    run = record(workspace, events=[job(1, "success")], kind="batch", objective=None, jobs="jobs.jsonl")
    texts = [child.text for child in tree_of(run, None).children]
    assert "1 (1 success)" in texts
    assert not any("earlier" in text for text in texts)


def test_the_report_is_named_where_there_is_one(workspace: Path) -> None:
    run = record(workspace)
    assert not any(child.title == "Report" for child in tree_of(run, None).children)
    report = write_report(run)
    assert tree_of(run, None).children[-1].text == str(report)


def test_nobody_knows_how_long_an_interrupted_dispatch_took(workspace: Path) -> None:
    run = record(workspace, [outcome(1)], pending=1)
    texts = [child.text for child in tree_of(run, None).children]
    assert "d0001-0 analytics success, 2.0 s" in texts
    assert "d9000-0 plotting interrupted" in texts
