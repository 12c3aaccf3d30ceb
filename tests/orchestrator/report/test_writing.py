"""The report at the end of a run costs the run nothing: neither its outcome nor its end."""

from __future__ import annotations

import logging
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
