"""The runs of the workspace for a client: listed, and one shown, both bounded. Blocking: for a thread."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from outcrop.listing import UNREADABLE, objective_of
from outcrop.mcp_server import answers
from outcrop.records import Entry
from outcrop.recovery import RunRecord, open_run
from outcrop.runs import RunFolder, all_runs, find_run
from outcrop.text import shorten
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError, UnknownNameError

REPORT = "report.html"
_NAME = re.compile(r"[0-9a-f-]{1,64}|last")


def has_report(folder: Path) -> bool:
    return (folder / REPORT).is_file()


def named(workspace: Workspace, name: str) -> RunFolder:
    """The run of this workspace that a client means: its id or its beginning, or `last`. Raises UnknownNameError."""
    # `find_run` takes any folder for a run; a client gets at those of the workspace only.
    if not _NAME.fullmatch(name):
        raise UnknownNameError("run", name[:100], known=[run.run_id for run in all_runs(workspace)][-5:])
    found = find_run(name, workspace)
    if found.path.parent != workspace.runs:
        raise UnknownNameError("run", name[:100])
    return found


def listed(workspace: Workspace) -> answers.RunList:
    """The newest runs, newest first."""
    folders = all_runs(workspace)[::-1]
    lines = [_line_of(folder) for folder in folders[: limits.MCP_RUNS_LISTED]]
    return answers.RunList(runs=lines, older=max(0, len(folders) - limits.MCP_RUNS_LISTED))


def shown(workspace: Workspace, name: str) -> answers.RunShown:
    """What is recorded of one run. Raises UnknownNameError, JournalError."""
    run = open_run(named(workspace, name))
    begun = [entry for entry in run.records.entries if entry.type == "start"]
    last = begun[-limits.HISTORY_DISPATCHES :]
    waiting = run.waiting[: limits.HISTORY_DISPATCHES]
    answer = run.answer
    return answers.RunShown(
        run=_line(run),
        data=[str(entry["path"]) for entry in run.about.get("data", [])][: limits.LIST_ENTRIES],
        answer=answers.of_run(answer, has_report=has_report(run.folder.path)) if answer else None,
        dispatches=[*(_dispatch(run, entry.id) for entry in last), *map(partial(_waiting, run), waiting)],
        earlier_dispatches=len(begun) - len(last),
        notices=[shorten(notice, limits.ENTRY_CHARS) for notice in run.notices[: limits.LIST_ENTRIES]],
    )


def _line_of(folder: RunFolder) -> answers.RunLine:
    try:
        return _line(open_run(folder))
    except JournalError as error:
        told = shorten(str(error), limits.HISTORY_OBJECTIVE_CHARS)
        return answers.RunLine(
            run_id=folder.run_id, kind=None, at=None, status=UNREADABLE, dispatches=0, objective=told
        )


def _line(run: RunRecord) -> answers.RunLine:
    objective = objective_of(run)
    answer = run.answer
    return answers.RunLine(
        run_id=run.folder.run_id,
        kind=run.about.get("kind"),
        at=run.about.get("at"),
        status=answer.status if answer else "under way" if run.is_under_way else None,
        dispatches=sum(entry.type == "start" for entry in run.records.entries),
        objective=shorten(str(objective), limits.HISTORY_OBJECTIVE_CHARS) if objective else None,
    )


def _waiting(run: RunRecord, entry: Entry) -> answers.ShownDispatch:
    body = run.records.at(entry).body
    return answers.ShownDispatch(
        dispatch_id=entry.id,
        specialist=str(body.get("specialist", "")),
        objective=str(body.get("objective", "")),
        status="waiting",
        duration_s=0.0,
    )


def _dispatch(run: RunRecord, dispatch_id: str) -> answers.ShownDispatch:
    outcome = run.outcome(dispatch_id)
    if outcome is None:
        start = run.records.find("start", dispatch_id)
        body = start.body if start else {}
        return answers.ShownDispatch(
            dispatch_id=dispatch_id,
            specialist=str(body.get("specialist", "")),
            objective=shorten(str(body.get("objective", "")), limits.HISTORY_OBJECTIVE_CHARS),
            status="under way",
            duration_s=0.0,
        )
    return answers.ShownDispatch(
        dispatch_id=dispatch_id,
        specialist=outcome.specialist,
        objective=shorten(outcome.objective, limits.HISTORY_OBJECTIVE_CHARS),
        status=outcome.status,
        duration_s=outcome.duration_s,
        summary=shorten(outcome.summary, limits.HISTORY_OBJECTIVE_CHARS),
    )
