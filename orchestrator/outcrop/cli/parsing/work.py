"""The commands that work: run, dispatch, batch, and what holds for every run."""

from __future__ import annotations

from outcrop.cli.options import add_settings
from outcrop.cli.parsing.shared import Commands, attach, backend, command, mapping, positive, workers, workspace


def add(commands: Commands) -> None:
    _run(commands)
    _pins(commands)
    _memory(commands)
    _dispatch(commands)
    _batch(commands)


def _run(commands: Commands) -> None:
    run = command(commands, "run", "work:run", "answer a research objective about tables")
    run.add_argument(
        "objective", nargs="?", metavar="OBJECTIVE", help="what to find out, in plain words; - reads it from stdin"
    )
    run.add_argument(
        "--plan", metavar="PLAN", help="instead of an objective: do what a plan (of export-plan) has, without a model"
    )
    mapping(run)
    run.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="FILE", help="data files in the workspace"
    )
    workspace(run)
    add_settings(run)
    workers(run)
    run.add_argument(
        "--pin", action="append", default=[], metavar="KEY=VALUE", help="a fact to keep word for word in every request"
    )
    attach(run)


def _pins(commands: Commands) -> None:
    pins = command(commands, "pins", "work:pins", "list or change the facts that hold for every run in this workspace")
    pins.add_argument("pin", nargs="*", metavar="KEY=VALUE", help="pin these; nothing lists what is pinned")
    pins.add_argument("--remove", action="append", default=[], metavar="KEY", help="unpin")
    workspace(pins)


def _memory(commands: Commands) -> None:
    memory = command(commands, "memory", "work:memory", "list, add or forget facts that are kept across runs")
    memory.add_argument("fact", nargs="*", metavar="FACT", help="remember these; nothing lists what is remembered")
    memory.add_argument("--forget", action="append", default=[], metavar="ID", help="forget the fact of this id")
    workspace(memory)


def _dispatch(commands: Commands) -> None:
    dispatch = command(
        commands, "dispatch", "work:dispatch", "have one specialist, or COMMAND after --, do one piece of work"
    )
    dispatch.add_argument("specialist", nargs="?", metavar="SPECIALIST", help="cleaning, analytics or plotting")
    dispatch.add_argument("--objective", metavar="TEXT", help="what to do; - reads it from stdin")
    dispatch.add_argument(
        "--data", nargs="+", action="extend", default=[], metavar="FILE", help="data files in the workspace"
    )
    workspace(dispatch)
    add_settings(dispatch)
    attach(dispatch)
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
    backend(dispatch)


def _batch(commands: Commands) -> None:
    batch = command(commands, "batch", "work:batch", "run many objectives: a line of JSON, a CSV row or a file each")
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
    workspace(batch)
    add_settings(batch)
    workers(batch)
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
    batch.add_argument("--max-failures", type=positive, metavar="N", help="begin no more jobs after so many failed")
    batch.add_argument(
        "--api-batch",
        action="store_true",
        help="send turns of many jobs together as Message Batches: half the price, answers within a day",
    )
