"""Writes the report of a run: whole or not at all, and at the end of a run never at its cost."""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from pathlib import Path

from outcrop.records import read
from outcrop.recovery import RunRecord
from outcrop.report.facts import facts_of, workspace_of
from outcrop.report.links import REPORT, FileLinks
from outcrop.report.page import render_page
from outcrop.runs import RunFolder
from outcrop.spill import write_private
from outcrop_schemas.errors import WorkspaceError

_log = logging.getLogger(__name__)


def write_report(run: RunRecord, output: Path | None = None) -> Path:
    """Write the page of a run into its folder, or to `output`; its path. Raises JournalError, WorkspaceError."""
    target = (output or run.folder.path / REPORT).absolute()
    links = FileLinks(target, workspace_of(run) or run.folder.path, run.folder.path.parent)
    page = render_page(facts_of(run), links).encode("utf-8", "replace")
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
    return target


def report_at_end(folder: RunFolder) -> None:
    """The report of a run whose journal was closed. What goes wrong is a warning in the log: the outcome stands."""
    try:
        records, damage = read(folder.journal)
        write_report(RunRecord(folder, records, damage.sentences(), False, damage.sentences()))
    except Exception as error:  # noqa: BLE001 - the boundary between a run and its report
        _log.warning("%s: the report was not written: %s: %s", folder.path, type(error).__name__, error)
