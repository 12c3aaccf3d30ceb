"""Writes the report of a run: whole or not at all, and at the end of a run never at its cost."""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from outcrop.records import read
from outcrop.recovery import RunRecord
from outcrop.report.facts import RunFacts, facts_of, workspace_of
from outcrop.report.jobs import job_pages
from outcrop.report.links import REPORT, FileLinks
from outcrop.report.page import JobsPage, render_jobs, render_page
from outcrop.runs import RunFolder
from outcrop.spill import write_private
from outcrop_schemas import limits
from outcrop_schemas.errors import WorkspaceError

_log = logging.getLogger(__name__)


def write_report(run: RunRecord, output: Path | None = None) -> Path:
    """Write the page of a run into its folder, or to `output`; its path. Raises JournalError, WorkspaceError."""
    target = (output or run.folder.path / REPORT).absolute()
    links = FileLinks(target, workspace_of(run) or run.folder.path, run.folder.path.parent)
    facts = facts_of(run)
    if facts.jobs and facts.jobs.left_out:
        links = replace(links, all_jobs=_jobs_page(target, 1))
        _write_jobs(run, facts, links)
    _write(target, render_page(facts, links))
    return target


def _jobs_page(report: Path, number: int) -> Path:
    return report.with_name(f"{report.stem}-jobs-{number}{report.suffix}")


def _write_jobs(run: RunRecord, facts: RunFacts, links: FileLinks) -> None:
    """Pages that list all jobs of a batch, one in memory at a time. Raises JournalError, WorkspaceError."""
    assert facts.jobs
    total = sum(facts.jobs.counts.values())
    count = min(-(-total // limits.REPORT_JOBS), limits.REPORT_JOBS_PAGES)
    names = [_jobs_page(links.page, number).name for number in range(1, count + 1)]
    for number, jobs in enumerate(islice(job_pages(run), count)):
        page = JobsPage(jobs, number + 1, names, total, links.page.name)
        _write(links.page.with_name(names[number]), render_jobs(facts, page, links))


def _write(target: Path, text: str) -> None:
    """Write a page whole or not at all. Raises WorkspaceError."""
    page = text.encode("utf-8", "replace")
    # Several may write the same page: each its own file until it is whole.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        write_private(temporary, page, is_flushed=False)
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise WorkspaceError(
            f"the report of {len(page)} bytes could not be written to {target}: {error.strerror}"
        ) from error


def report_at_end(folder: RunFolder) -> None:
    """The report of a run whose journal was closed. What goes wrong is a warning in the log: the outcome stands."""
    try:
        records, damage = read(folder.journal)
        write_report(RunRecord(folder, records, damage.sentences(), False, damage.sentences()))
    except Exception as error:  # noqa: BLE001 - the boundary between a run and its report
        _log.warning("%s: the report was not written: %s: %s", folder.path, type(error).__name__, error)
