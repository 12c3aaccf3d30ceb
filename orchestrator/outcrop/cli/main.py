"""`outcrop`: reads the command line and hands over. Only argparse is imported here, so that `--help` is quick."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TypeAlias

from outcrop.cli.options import add_settings

EPILOG = "Exit status: 0 success or partial, 1 every other status or a workspace error, 2 wrong usage, 130 cancelled."


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Started with `>&-` or `2>&-`: what is said goes nowhere, and no socket gets that number.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        try:
            code = run(list(sys.argv[1:] if argv is None else argv))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of our output is gone (`| head`). What waits in the buffer must go nowhere at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def run(argv: list[str]) -> int:
    """Run one command; its exit status."""
    command: list[str] | None = None
    if "--" in argv:
        place = argv.index("--")
        argv, command = argv[:place], argv[place + 1 :]
    parser = build_parser()
    options = parser.parse_args(argv)
    if command is not None and options.command_name != "dispatch":
        parser.error("a COMMAND after -- goes with `outcrop dispatch`")
    options.command = command
    if options.command_name is None:
        parser.print_help()
        return 2
    from outcrop.cli.boundary import guarded

    return guarded(lambda: int(getattr(import_module(options.module), options.function)(options)), debug=options.debug)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; also what shell completion is made from."""
    parser = argparse.ArgumentParser(
        prog="outcrop", description="Research objectives about tables in, verified results out.", epilog=EPILOG
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.set_defaults(command_name=None, debug=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_work(commands)
    _add_records(commands)
    _add_facts(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"outcrop {version('outcrop')}\n")
        parser.exit()


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _add(commands: Commands, name: str, target: str, text: str, *, json: bool = True) -> argparse.ArgumentParser:
    module, function = target.split(":")
    parser = commands.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.set_defaults(command_name=name, module=f"outcrop.cli.{module}", function=function)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    if json:
        parser.add_argument("--json", action="store_true", help="print one JSON document on stdout and nothing else")
    return parser


def _workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", default=".", metavar="DIR", help="the folder with the data (default: the current one)"
    )


def _attach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attach",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="files whose text (of a data file its profile, no rows) is shown at the start",
    )


def _workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="specialists at work at a time (default 2; on a cluster as many as its nodes have threads)",
    )
    _backend(parser)


def _backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend",
        default="local",
        metavar="local|dask:ADDRESS",
        help="where specialists are started: here, or by the workers of the Dask cluster whose scheduler is there",
    )


def _map(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="[FILE:]OLD=NEW",
        help="the column NEW of the data files, or of FILE, stands for OLD of the plan",
    )


def _add_work(commands: Commands) -> None:
    run = _add(commands, "run", "work:run", "answer a research objective about tables")
    run.add_argument(
        "objective", nargs="?", metavar="OBJECTIVE", help="what to find out, in plain words; - reads it from stdin"
    )
    run.add_argument(
        "--plan", metavar="PLAN", help="instead of an objective: do what a plan (of export-plan) has, without a model"
    )
    _map(run)
    run.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="FILE", help="data files in the workspace"
    )
    _workspace(run)
    add_settings(run)
    _workers(run)
    run.add_argument(
        "--pin", action="append", default=[], metavar="KEY=VALUE", help="a fact to keep word for word in every request"
    )

    _attach(run)

    pins = _add(commands, "pins", "work:pins", "list or change the facts that hold for every run in this workspace")
    pins.add_argument("pin", nargs="*", metavar="KEY=VALUE", help="pin these; nothing lists what is pinned")
    pins.add_argument("--remove", action="append", default=[], metavar="KEY", help="unpin")
    _workspace(pins)

    memory = _add(commands, "memory", "work:memory", "list, add or forget facts that are kept across runs")
    memory.add_argument("fact", nargs="*", metavar="FACT", help="remember these; nothing lists what is remembered")
    memory.add_argument("--forget", action="append", default=[], metavar="ID", help="forget the fact of this id")
    _workspace(memory)

    dispatch = _add(
        commands, "dispatch", "work:dispatch", "have one specialist, or COMMAND after --, do one piece of work"
    )
    dispatch.add_argument("specialist", nargs="?", metavar="SPECIALIST", help="cleaning, analytics or plotting")
    dispatch.add_argument("--objective", metavar="TEXT", help="what to do; - reads it from stdin")
    dispatch.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="FILE", help="data files in the workspace"
    )
    _workspace(dispatch)
    add_settings(dispatch)
    _attach(dispatch)
    dispatch.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="wall-clock limit in seconds (default 600)"
    )
    dispatch.add_argument(
        "--grace", type=float, default=2.0, metavar="S", help="seconds from SIGTERM to SIGKILL (default 2)"
    )
    dispatch.add_argument(
        "--env", action="append", default=[], metavar="NAME[=VALUE]", help="add a variable to the allow-list"
    )
    dispatch.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="PROPERTY,…",
        help="refuse to start without these isolation properties",
    )
    dispatch.add_argument(
        "--launch", choices=("auto", "nursery", "cold"), default="auto", help="how processes are started"
    )
    dispatch.add_argument(
        "--unconfined", action="store_true", help="no Landlock, no seccomp; limits and supervision stay"
    )
    _backend(dispatch)

    batch = _add(commands, "batch", "work:batch", "run many objectives: a line of JSON, a CSV row or a file each")
    batch.add_argument(
        "jobs",
        nargs="?",
        metavar="JOBS",
        help='lines such as {"objective": "…", "data": ["assays.csv"]}, or a .csv with these columns',
    )
    batch.add_argument(
        "--objective-template",
        metavar="TEXT",
        help="instead of JOBS: an objective for each file, with {path}, {name}, {stem}",
    )
    batch.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="GLOB", help="the files that the template is for"
    )
    _workspace(batch)
    add_settings(batch)
    _workers(batch)
    batch.add_argument(
        "--resume", action="store_true", help="go on with the last batch of this file; finished jobs are kept"
    )
    batch.add_argument(
        "--retry",
        action="append",
        default=[],
        metavar="STATUS,…",
        help="when resuming, run jobs again that ended so: interrupted, crashed, timeout …",
    )
    batch.add_argument("--max-failures", type=_positive, metavar="N", help="begin no more jobs after so many failed")
    batch.add_argument(
        "--api-batch",
        action="store_true",
        help="send turns of many jobs together as Message Batches: half the price, answers within a day",
    )


def _add_records(commands: Commands) -> None:
    show = _add(commands, "show", "records:show", "show what happened in a run")
    show.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    show.add_argument("--prompt", action="store_true", help="print exactly what the lead would see now")
    _workspace(show)

    replay = _add(commands, "replay", "records:replay", "walk a finished run from its record; nothing is started")
    replay.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")
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
    _map(replay)
    replay.add_argument(
        "--with-model",
        metavar="replay:RUN",
        help="do the whole run again on copies of its files, with the models' answers of that run, and compare",
    )
    _workspace(replay)

    export = _add(
        commands, "export-plan", "plans:export_plan", "write the tool calls of a run as a plan for other files"
    )
    export.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    export.add_argument("--output", metavar="FILE", help="a new file for the plan (default: it is printed)")
    _workspace(export)

    context = _add(commands, "context", "records:context", "show what filled an agent's window, step by step")
    context.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    context.add_argument(
        "dispatch", nargs="?", metavar="DISPATCH", help="a dispatch id or its beginning (default: the lead)"
    )
    context.add_argument(
        "--checkpoints", action="store_true", help="show the accounts of phases from which fresh contexts started"
    )
    context.add_argument("--csv", metavar="FILE", help="write the table to a CSV file")
    _workspace(context)

    _workspace(_add(commands, "runs", "logs:runs", "list the runs of a workspace, what they take and what they cost"))

    log = _add(commands, "log", "logs:log", "print a run's log, line by line")
    log.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    log.add_argument("--dispatch", metavar="D", help="of one dispatch, with its tool calls: its id or its beginning")
    log.add_argument("--tool", metavar="NAME", help="only the calls of this tool")
    log.add_argument("--errors", action="store_true", help="only what went wrong")
    log.add_argument("--export", metavar="FILE", help="write the records to a new file of JSON lines")
    log.add_argument("--redact", action="store_true", help="in the export, tell texts and results by their size only")
    _workspace(log)

    diff = _add(commands, "diff", "logs:diff", "compare two runs: objectives, steps, figures, files, cost")
    diff.add_argument("first", metavar="RUN", help="run id or its beginning, run folder, or `last`")
    diff.add_argument("second", metavar="RUN", help="the other run")
    _workspace(diff)

    gc = _add(commands, "gc", "logs:gc", "say which old runs would be removed; --yes removes them")
    gc.add_argument("--older-than", required=True, metavar="AGE", help="such as 30d, 12h or 2w, since the last record")
    gc.add_argument("--keep-artifacts", action="store_true", help="remove records only, no result files")
    gc.add_argument("--yes", action="store_true", help="remove what is listed")
    _workspace(gc)


def _add_facts(commands: Commands) -> None:
    _add(commands, "tools", "facts:tools", "list the tools and who has them")
    _workspace(_add(commands, "limits", "facts:limits", "print every limit, how it is enforced, and the settings"))
    doctor = _add(commands, "doctor", "facts:doctor", "check this installation and say what is confined")
    _workspace(doctor)
    schema = _add(commands, "schema", "facts:schema", "print a JSON Schema of protocol 1 or of a record", json=False)
    schema.add_argument("name", choices=("dispatch", "stream", "completion", "outcome", "journal", "plan"))
    complete = _add(commands, "completion", "facts:completion", "print a shell completion script", json=False)
    complete.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


if __name__ == "__main__":
    main()
