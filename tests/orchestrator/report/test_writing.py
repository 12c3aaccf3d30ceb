"""The report at the end of a run costs the run nothing: neither its outcome nor its end."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_runs import made, outcome

from outcrop import Run, ScriptedModel
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.report.writing import report_at_end, write_report
from outcrop.runs import RunFolder
from outcrop_schemas import limits


async def test_a_report_that_cannot_be_written_is_a_warning_and_the_outcome_stands(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def spoil(folder: RunFolder) -> None:
        (folder.path / "report.html").mkdir()

    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done"}))])
    with caplog.at_level(logging.WARNING):
        done = await Run("o", workspace=workspace, model=model, on_open=spoil).start()
    assert done.status == "success"
    assert "the report was not written" in caplog.text


def test_a_record_that_is_no_record_is_a_warning(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = made(workspace, [outcome(1)])
    folder.journal.write_bytes(folder.journal.read_bytes().replace(b'"specialist"', b'"specialisT"'))
    folder.journal.unlink()
    with caplog.at_level(logging.WARNING):
        report_at_end(folder)
    assert "the report was not written" in caplog.text


def test_nothing_but_the_report_is_left_in_the_folder(workspace: Path) -> None:
    folder = made(workspace, [outcome(1)])
    before = set(folder.path.iterdir())
    report_at_end(folder)
    assert set(folder.path.iterdir()) - before == {folder.path / "report.html"}


COUNTS = """
import sys
from pathlib import Path
from outcrop.report.writing import report_at_end
from outcrop.runs import RunFolder

seen = []

def see(event, arguments):
    if event == "open":
        seen.append(Path(str(arguments[0])).name)
    elif event == "compile":
        seen.append("compiled")

folders = [RunFolder(Path(name)) for name in sys.argv[1:]]
report_at_end(folders[0])
sys.addaudithook(see)
report_at_end(folders[1])
assert (folders[1].path / "report.html").is_file()
print(*(name for name in seen if not name.startswith(".report.html")))
"""


def test_of_a_further_report_no_template_is_made_and_the_journal_is_read_once(workspace: Path) -> None:
    folders = [str(made(workspace / name, [outcome(1)]).path) for name in ("first", "second")]
    done = subprocess.run([sys.executable, "-c", COUNTS, *folders], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert found.count("journal.jsonl") == 1
    assert "compiled" not in found
    assert not [name for name in found if name.endswith((".html", ".css", ".js"))]


def _batch(workspace: Path, count: int) -> RunFolder:
    def job(line: int, status: str = "success") -> dict[str, Any]:
        told = {"status": status, "objective": f"map <hole> {line}", "duration_s": 1.0}
        return {"kind": "job_end", "job": f"key{line}", "line": line, "id": f"name {line}", "outcome": told}

    # Those that are run again count once.
    events = [job(1, "failed"), *(job(line) for line in range(count, 0, -1))]
    return made(workspace, events=events, kind="batch", objective=None, jobs="/somewhere/jobs.jsonl")


def test_all_jobs_of_a_large_batch_are_on_pages_beside_its_report(workspace: Path) -> None:
    count = 2 * limits.REPORT_JOBS + 5
    folder = _batch(workspace, count)
    report = write_report(open_run(folder))
    assert 'href="./report-jobs-1.html"' in report.read_text()
    pages = sorted(folder.path.glob("report-jobs-*.html"))
    assert [page.name for page in pages] == [f"report-jobs-{number}.html" for number in (1, 2, 3)]
    listed = [int(line) for page in pages for line in re.findall(r'id="job-(\d+)"', page.read_text())]
    assert listed == list(range(1, count + 1))
    assert "map &lt;hole&gt; 1<" in pages[0].read_text()
    assert f"Jobs {2 * limits.REPORT_JOBS + 1:,} to {count:,} of {count:,}" in pages[2].read_text()
    assert 'rel="prev"' in pages[2].read_text()
    assert 'rel="next"' not in pages[2].read_text()
    elsewhere = write_report(open_run(folder), workspace / "a b.html")
    assert 'href="./a%20b-jobs-1.html"' in elsewhere.read_text()
    assert (workspace / "a b-jobs-3.html").is_file()


def test_a_batch_whose_jobs_are_all_in_its_report_has_no_further_page(workspace: Path) -> None:
    folder = _batch(workspace, limits.REPORT_JOBS)
    assert "jobs-1.html" not in write_report(open_run(folder)).read_text()
    assert list(folder.path.glob("*-jobs-*")) == []


def test_beyond_so_many_pages_it_is_said_where_the_other_jobs_are(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REPORT_JOBS", 10)
    monkeypatch.setattr(limits, "REPORT_JOBS_PAGES", 2)
    folder = _batch(workspace, 35)
    write_report(open_run(folder))
    last = (folder.path / "report-jobs-2.html").read_text()
    assert "15 further jobs are on no page; results.jsonl" in last
    assert not (folder.path / "report-jobs-3.html").exists()
