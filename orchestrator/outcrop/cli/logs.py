"""`outcrop runs`, `log`, `diff`, `gc`: what is recorded in a workspace, in whole and line by line, and its removal."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop.cli.boundary import BAD, GOOD
from outcrop.cli.output import say, say_json, size, table, warn
from outcrop.cli.records import open_named
from outcrop.listing import UNDER_WAY, UNREADABLE, RunLine, objective_of
from outcrop.recovery import SHAPE, RunRecord, as_this_version_writes, open_run
from outcrop.runs import all_runs, find_run
from outcrop.spending import spending_of
from outcrop.text import age, inert, shorten
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from outcrop.logbook import Line

_OBJECTIVE_CHARS = 60
_CELL_CHARS = 60


def runs(options: Namespace) -> int:
    """All runs of a workspace, oldest first, with what they take and what they cost."""
    from outcrop.upkeep import age_of, bytes_of

    listed = []
    for folder in all_runs(Workspace(options.workspace)):
        seconds = age_of(folder)  # before it is opened: what is recovered then is written down now
        line = RunLine(folder.run_id, None, None, None, 0, bytes_of(folder.path), round(seconds), None, None, None)
        try:
            line = _filled(line, open_run(folder))
        except JournalError as error:
            warn(str(error))
            line = replace(line, status=UNREADABLE)
        except SHAPE as error:
            # One odd record does not take the list away.
            warn(f"{folder.journal}: a record is not as this version writes it: {error!r}")
        listed.append(line.as_json())
    if options.json:
        say_json(listed)
    elif listed:
        shown = [[_cell(name, entry[name]) for name in _SHOWN] for entry in listed]
        table(shown, tuple(_SHOWN.values()))
        said = "1 run" if len(listed) == 1 else f"{len(listed)} runs"
        say(f"{said}, {size(sum(entry['bytes'] for entry in listed))}")
    else:
        say("No runs in this workspace yet.")
    return GOOD


def _filled(line: RunLine, run: RunRecord) -> RunLine:
    spending, said = spending_of(run), _said(run)
    return replace(
        line,
        kind=run.about.get("kind"),
        at=run.about.get("at"),
        status=run.answer.status
        if run.answer
        else UNDER_WAY
        if run.is_under_way
        else said[-1]["status"]
        if said
        else None,
        dispatches=sum(entry.type == "start" for entry in run.records.entries),
        spent_usd=spending["spent_usd"] if spending else None,
        spent_tokens=spending["spent_tokens"] if spending else None,
        objective=said[0]["message"] if said else objective_of(run),
    )


def _said(run: RunRecord) -> list[dict[str, Any]]:
    """The answered messages of a chat; of another run there are none."""
    return [body["answered"] for body in run.events("chat_answer")]


_SHOWN = {
    "run_id": "run",
    "kind": "kind",
    "age_s": "age",
    "status": "status",
    "dispatches": "dispatches",
    "bytes": "size",
    "spent_usd": "spent",
    "objective": "objective",
}


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "bytes":
        return size(value)
    if name == "age_s":
        return age(value)
    return f"${value}" if name == "spent_usd" else shorten(str(value), _OBJECTIVE_CHARS)


def log(options: Namespace) -> int:
    """What happened in a run, line by line."""
    from outcrop.logbook import lines

    run = open_named(options)
    dispatch = _dispatch_of(run, options.dispatch)
    if options.export:
        return _export(run, Path(options.export), is_redacted=options.redact)
    if options.redact:
        raise UsageError("--redact goes with --export FILE")
    with as_this_version_writes(run.folder):
        return _say_lines(run, lines(run, dispatch=dispatch, tool=options.tool, errors=options.errors), options)


def _say_lines(run: RunRecord, found: Iterable[Line], options: Namespace) -> int:
    if options.json:
        say_json({"run_id": run.folder.run_id, "lines": [line.as_json() for line in found]})
        return GOOD
    is_empty = True
    for line in found:
        is_empty = False
        told = f"{line.at[11:19]}  {line.agent.partition('-')[0]:6}  {line.what}"
        say(
            inert(
                f"{told}{f' [{line.status}]' if line.status else ''}{f'  {line.text}' if line.text else ''}",
                keep_newlines=False,
            )
        )
    if is_empty:
        say("Nothing went wrong." if options.errors else "Nothing of that is in the log.")
    return GOOD


def _dispatch_of(run: RunRecord, name: str | None) -> str | None:
    """The dispatch that a beginning of its id means. Raises UnknownNameError."""
    if name is None:
        return None
    ids = [entry.id for entry in run.records.entries if entry.type == "start"]
    matching = [each for each in ids if each.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    raise UnknownNameError("dispatch", name, matching[:20], ids[-20:])


def _export(run: RunRecord, path: Path, *, is_redacted: bool) -> int:
    """The journal's records as JSON lines in a new file."""
    from outcrop.logbook import redacted

    count = 0
    try:
        with path.open("xb") as file:
            for record in run.records:
                whole = record.model_dump(mode="json")
                count += 1
                file.write(wire.dumps(redacted(whole) if is_redacted else whole) + b"\n")
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; nothing is replaced") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    warn(f"{count} records written to {path}{', texts and results told by their size only' if is_redacted else ''}")
    return GOOD


def diff(options: Namespace) -> int:
    """What is different between two runs."""
    from outcrop.comparing import compare

    workspace = Workspace(options.workspace)
    first, second = (open_run(find_run(name, workspace)) for name in (options.first, options.second))
    found = compare(first, second)
    if options.json:
        ids = [run.folder.run_id for run in (first, second)]
        say_json({"runs": ids, "differences": [each.as_json() for each in found]})
        return GOOD
    different = [each for each in found if each.change != "same"]
    say(f"{first.folder.run_id}  →  {second.folder.run_id}: {len(different)} of {len(found)} things differ")
    if different:
        cells = [[each.what, each.first, each.second] for each in different]
        table(
            [[shorten(str("-" if cell is None else cell), _CELL_CHARS) for cell in row] for row in cells],
            ("what", "first", "second"),
        )
    return GOOD


def gc(options: Namespace) -> int:
    """Say which runs are old enough to be removed; with --yes remove them."""
    from outcrop.upkeep import removable, remove, seconds_of

    workspace = Workspace(options.workspace)
    if options.yes:
        workspace.hold()
    try:
        keep = options.keep_artifacts
        found, stay = removable(workspace, seconds_of(options.older_than), keep_artifacts=keep)
        freed = remove(workspace, found) if options.yes else 0
    finally:
        workspace.release()
    files = [path for each in found for path, _ in each.files]
    whole = sum(each.bytes + sum(length for _, length in each.files) for each in found)
    if options.json:
        listed = [
            {
                "run_id": each.run.run_id,
                "bytes": each.bytes,
                "age_s": round(each.seconds),
                "files": [path for path, _ in each.files],
            }
            for each in found
        ]
        say_json({"removed": options.yes, "runs": listed, "bytes": freed if options.yes else whole, "stay": stay})
        return GOOD
    if found:
        table(
            [(each.run.run_id, age(each.seconds), size(each.bytes), len(each.files)) for each in found],
            ("run", "age", "size", "result files"),
        )
    for path in files:
        say(f"  {path}")
    for reason in stay:
        say(f"stays: {reason}")
    if options.yes:
        say(f"Removed {len(found)} runs and {len(files)} result files, {size(freed)}.")
    else:
        kept = "; result files stay" if keep else ""
        say(
            f"{len(found)} runs and {len(files)} result files, {size(whole)}{kept}. Nothing was removed: "
            "--yes removes them."
        )
    return BAD if stay and not found else GOOD
