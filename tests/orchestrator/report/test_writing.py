"""The report at the end of a run costs the run nothing: neither its outcome nor its end."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from made_runs import made, outcome

from outcrop import Run, ScriptedModel
from outcrop.models.scripted import turn
from outcrop.report.writing import report_at_end
from outcrop.runs import RunFolder


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
