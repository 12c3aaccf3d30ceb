"""The jobs of a batch by pages: all of them are reached, by status and by words, however many there are."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_runs import made, record
from ui_server import Live, serving

from outcrop.runs import RunFolder
from outcrop.ui.batch_jobs import Asked, JobRows, job_rows
from outcrop.ui.counting import facts_of_all
from outcrop.ui.follow import Follower
from outcrop_schemas import limits

PAGE = limits.UI_JOBS_PAGE


def begun(line: int) -> dict[str, Any]:
    return {"kind": "job_start", "job": f"key{line}", "line": line, "id": f"name-{line}", "run_id": f"r{line}"}


def ended(line: int, status: str = "success", objective: str = "") -> dict[str, Any]:
    outcome = {"status": status, "objective": objective or f"map hole {line}", "duration_s": 1.5, "errors": ["why"]}
    return {**begun(line), "kind": "job_end", "outcome": {**outcome, "run_id": f"r{line}"}}


def batch(workspace: Path, events: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> tuple[RunFolder, Follower]:
    folder = made(workspace, events=events, kind="batch", objective=None, jobs="/somewhere/jobs.jsonl")
    follower = Follower(folder.journal)
    follower.read_all()
    return folder, follower


def many(count: int, **statuses: str) -> Iterator[Mapping[str, Any]]:
    """So many jobs that began and ended; `job7="failed"` is how the seventh did."""
    for line in range(1, count + 1):
        yield begun(line)
        yield ended(line, statuses.get(f"job{line}", "success"))


def lines(rows: JobRows) -> list[int]:
    return [job.line for job in rows.rows]


def test_every_job_is_on_one_page_forwards_and_backwards(workspace: Path) -> None:
    count = 3 * PAGE + 7
    folder, follower = batch(workspace, many(count))
    seen: list[int] = []
    rows = job_rows(folder, follower, Asked())
    assert (rows.first, rows.found, rows.earlier) == (1, count, None)
    while True:
        seen += lines(rows)
        if rows.later is None:
            break
        rows = job_rows(folder, follower, Asked(rows.later))
    assert seen == list(range(1, count + 1))
    assert rows.first == 3 * PAGE + 1
    back: list[int] = []
    rows = job_rows(folder, follower, Asked(count, is_before=True))
    assert rows.later is None
    while True:
        back = lines(rows) + back
        if rows.earlier is None:
            break
        rows = job_rows(folder, follower, Asked(rows.earlier, is_before=True))
    assert back == seen
    assert lines(job_rows(folder, follower, Asked(10**8))) == []


def test_a_status_and_words_are_found_wherever_they_stand_and_both_together(workspace: Path) -> None:
    failed = {f"job{line}": "failed" for line in range(3, 4 * PAGE, 3)}
    folder, follower = batch(workspace, many(4 * PAGE, **failed))
    one = job_rows(folder, follower, Asked(status="failed"))
    assert (len(one.rows), one.first, one.found) == (PAGE, 1, len(failed))
    assert {job.status for job in one.rows} == {"failed"}
    two = job_rows(folder, follower, Asked(one.later or 0, status="failed"))
    assert (two.first, len(two.rows)) == (PAGE + 1, len(failed) - PAGE)
    assert job_rows(folder, follower, Asked(two.earlier or 0, is_before=True, status="failed")).rows == one.rows
    assert lines(job_rows(folder, follower, Asked(words="HOLE 399"))) == [399]
    assert lines(job_rows(folder, follower, Asked(words="name-399", status="failed"))) == [399]
    assert lines(job_rows(folder, follower, Asked(words="name-398", status="failed"))) == []
    assert job_rows(folder, follower, Asked()).counts == {"failed": len(failed), "success": 4 * PAGE - len(failed)}


@pytest.mark.parametrize("words", ["stra\u00dfe", "STRASSE", "\u212aupfer", "kupfer", 'a"b', "a\\\\b", "tab\there"])
def test_words_are_found_however_json_writes_them(workspace: Path, words: str) -> None:
    objective = 'plot Stra\u00dfe and \u212aupfer, a"b, a\\\\b, tab\there'
    folder, follower = batch(workspace, [begun(1), ended(1, objective=objective), begun(2), ended(2)])
    assert lines(job_rows(folder, follower, Asked(words=words))) == [1]


def test_a_search_that_takes_too_long_goes_on_from_where_it_was(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, follower = batch(workspace, many(2 * PAGE))
    monkeypatch.setattr(limits, "UI_SEARCH_SECONDS", -1.0)
    rows = job_rows(folder, follower, Asked(words="name-150"))
    assert (rows.rows, rows.is_out_of_time, rows.later) == ([], True, 0)
    monkeypatch.setattr(limits, "UI_SEARCH_SECONDS", 60.0)
    assert lines(job_rows(folder, follower, Asked(rows.later or 0, words="name-150"))) == [150]


def test_jobs_under_way_say_what_they_are_for_and_are_interrupted_where_their_batch_is_gone(workspace: Path) -> None:
    own = made(workspace, name="20260101-000000-000000-bbbb", objective="map the third hole")
    events = [begun(1), ended(1), begun(2), ended(2, "interrupted"), {**begun(3), "run_id": own.run_id}]
    folder, follower = batch(workspace, events)
    with folder.journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        rows = job_rows(folder, follower, Asked(status="running"))
        assert [(job.line, job.objective) for job in rows.rows] == [(3, "map the third hole")]
        assert rows.counts == {"success": 1, "interrupted": 1, "running": 1}
        assert lines(job_rows(folder, follower, Asked(status="interrupted"))) == [2]
    assert lines(job_rows(folder, follower, Asked(status="interrupted"))) == [2, 3]
    assert job_rows(folder, follower, Asked()).counts == {"success": 1, "interrupted": 2}


def test_a_job_that_is_run_again_stays_one_job_and_one_that_opened_no_run_is_there(workspace: Path) -> None:
    events = [
        begun(1),
        ended(1, "failed"),
        ended(2, "error"),
        begun(3),
        ended(3),
        begun(1),
        ended(1),
        ended(2, "error"),
    ]
    folder, follower = batch(workspace, events)
    totals = follower.totals()
    assert (totals.jobs, totals.jobs_running, totals.job_statuses) == (3, 0, {"success": 2, "error": 1})
    assert [(job.line, job.status) for job in job_rows(folder, follower, Asked()).rows] == [
        (1, "success"),
        (2, "error"),
        (3, "success"),
    ]
    jobs = facts_of_all(folder, follower).jobs
    assert jobs
    assert (jobs.counts, jobs.left_out) == ({"success": 2, "error": 1}, 0)
    assert {job.line for job in jobs.shown} == {1, 2, 3}


@pytest.fixture
def server(workspace: Path) -> Iterator[Live]:
    with serving(workspace) as live:
        yield live


def test_ten_thousand_jobs_are_served_by_pages_and_followed_to_the_last(workspace: Path, server: Live) -> None:
    folder, _ = batch(workspace, many(10_000, job9999="failed"))
    path = f"run/{folder.run_id}/"
    main = server.ask(path).text
    assert 'href="jobs"' in main
    page, seen = server.ask(f"{path}jobs?from=0"), 0
    while True:
        assert page.status == 200
        seen += page.text.count('data-key="job-')
        found = re.search(r'rel="next" href="([^"]+)"', page.text)
        if not found:
            break
        page = server.ask(path + found[1].replace("&amp;", "&"))
    assert seen == 10_000
    assert "Jobs 9,901 to 10,000 of 10,000" in page.text
    failed = server.ask(f"{path}jobs?status=failed").text
    assert failed.count('data-key="job-') == 1
    assert "name-9999" in failed
    assert "<script>alert" not in server.ask(f"{path}jobs?q=%3Cscript%3Ealert&status=%3Cscript%3Ealert").text
    assert server.ask("run/20260101-000000-000000-zzzz/jobs").status == 404
    assert server.ask(f"{path}jobs?from=abc&before=-1").status == 200


def test_the_list_is_told_of_a_job_that_ends(workspace: Path, server: Live) -> None:
    folder, _ = batch(workspace, [begun(1)])
    with folder.journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        events = server.events(f"run/{folder.run_id}/jobs/events?from=0")
        assert "running" in next(data["data"] for kind, _, data in events if kind == "part")
        whole = record(workspace, events=[begun(1), ended(1)], kind="batch", name="20260101-000000-000000-cccc")
        with folder.journal.open("ab") as file:
            file.write(whole.folder.journal.read_bytes().splitlines(keepends=True)[-1])
        assert "success" in next(data["data"] for kind, _, data in events if kind == "part")
