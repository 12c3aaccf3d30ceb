"""The commands that read what happened."""

from __future__ import annotations

from outcrop.cli.parsing.shared import Commands, command, mapping, named_run, workspace


def add(commands: Commands) -> None:
    show = command(commands, "show", "records:show", "show what happened in a run")
    named_run(show)
    show.add_argument("--prompt", action="store_true", help="print exactly what the lead would see now")
    workspace(show)

    replay = command(commands, "replay", "records:replay", "walk a finished run from its record; nothing is started")
    named_run(replay)
    replay.add_argument("--step", action="store_true", help="step by step; on a terminal Enter shows the next one")
    replay.add_argument("--to", metavar="DISPATCH", help="the steps up to the end of this dispatch, or to this number")
    replay.add_argument(
        "--verify", action="store_true", help="rebuild every prompt and compare it byte for byte with the one sent"
    )
    replay.add_argument(
        "--on",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="do its tool calls again on these files, in place of its own, without a model",
    )
    mapping(replay)
    replay.add_argument(
        "--with-model",
        metavar="replay:RUN",
        help="do the whole run again on copies of its files, with the models' answers of that run, and compare",
    )
    workspace(replay)

    export = command(
        commands, "export-plan", "plans:export_plan", "write the tool calls of a run as a plan for other files"
    )
    named_run(export)
    export.add_argument("--output", metavar="FILE", help="a new file for the plan (default: it is printed)")
    workspace(export)

    context = command(commands, "context", "records:context", "show what filled an agent's window, step by step")
    named_run(context)
    context.add_argument(
        "dispatch", nargs="?", metavar="DISPATCH", help="a dispatch id or its beginning (default: the lead)"
    )
    context.add_argument(
        "--checkpoints", action="store_true", help="show the accounts of phases from which fresh contexts started"
    )
    context.add_argument("--csv", metavar="FILE", help="write the table to a CSV file")
    workspace(context)

    workspace(command(commands, "runs", "logs:runs", "list the runs of a workspace, what they take and what they cost"))

    log = command(commands, "log", "logs:log", "print a run's log, line by line")
    named_run(log)
    log.add_argument("--dispatch", metavar="D", help="of one dispatch, with its tool calls: its id or its beginning")
    log.add_argument("--tool", metavar="NAME", help="only the calls of this tool")
    log.add_argument("--errors", action="store_true", help="only what went wrong")
    log.add_argument("--export", metavar="FILE", help="write the records to a new file of JSON lines")
    log.add_argument("--redact", action="store_true", help="in the export, tell texts and results by their size only")
    workspace(log)

    diff = command(commands, "diff", "logs:diff", "compare two runs: objectives, steps, figures, files, cost")
    diff.add_argument("first", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    diff.add_argument("second", metavar="RUN", help="the other run")
    workspace(diff)

    gc = command(commands, "gc", "logs:gc", "say which old runs would be removed; --yes removes them")
    gc.add_argument("--older-than", required=True, metavar="AGE", help="such as 30d, 12h or 2w, since the last record")
    gc.add_argument("--keep-artifacts", action="store_true", help="remove records only, no result files")
    gc.add_argument("--yes", action="store_true", help="remove what is listed")
    workspace(gc)
