"""`outcrop replay RUN --with-model replay:RUN`: the whole run once more, its models' answers from the record."""

from __future__ import annotations

from argparse import Namespace

from outcrop.again import Again, run_again
from outcrop.cli.boundary import BAD, GOOD, run_async
from outcrop.cli.output import say, say_json
from outcrop.cli.records import open_named
from outcrop.recovery import open_run
from outcrop.runs import find_run
from outcrop.settings import Settings
from outcrop.view import progress_view
from outcrop.workspace import Workspace
from outcrop_schemas.errors import UsageError

_PREFIX = "replay:"


def replay_again(options: Namespace) -> int:
    """Do a run again and say what is otherwise."""
    if options.verify or options.on:
        raise UsageError("--with-model, --verify and --on are three things; give one of them.")
    if not options.with_model.startswith(_PREFIX):
        raise UsageError(
            f"--with-model takes {_PREFIX}RUN, whose recorded answers are given, not {options.with_model!r}."
        )
    record = open_named(options)
    workspace = Workspace(options.workspace)
    name = options.with_model.removeprefix(_PREFIX)
    answers = record if name in ("", options.run) else open_run(find_run(name, workspace))
    settings = Settings.load(workspace.folder)
    with progress_view(quiet=options.json) as watcher:
        found = run_async(run_again(record, answers, settings, watcher))
    if options.json:
        say_json(found.as_json())
    else:
        _tell(found)
    return GOOD if found.is_same else BAD


def _tell(found: Again) -> None:
    same = sum(state == "same" for state in found.files.values())
    if found.is_same:
        say(f"{found.run_id}: done again, and everything is the same: every request, {same} files by their hashes")
        return
    say(f"{found.run_id}: done again, and not everything is the same")
    for each in found.differences:
        say(f"{each.agent}, turn {each.turn}, is the first that differs:\n{each.told}")
    for agent, (then, now) in found.statuses.items():
        say(f"{agent}: {then} then, {now} now")
    for path, state in found.files.items():
        if state != "same":
            say(f"{path}: {state}")
    say(f"{same} of {len(found.files)} files are the same")
