"""Options that several commands have."""

from __future__ import annotations

import argparse
from typing import TypeAlias

EPILOG = (
    "Exit status: 0 success or partial, 1 every other status or a workspace error, 2 wrong usage, 3 stdout could not "
    "be written, 130 cancelled."
)
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(commands: Commands, name: str, target: str, text: str, *, json: bool = True) -> argparse.ArgumentParser:
    module, function = target.split(":")
    parser = commands.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.set_defaults(command_name=name, module=f"outcrop.cli.{module}", function=function)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    if json:
        parser.add_argument("--json", action="store_true", help="print one JSON document on stdout and nothing else")
    return parser


def named_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="run id or its beginning, run folder, or `last`")


def workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", default=".", metavar="DIR", help="the folder with the data (default: the current one)"
    )


def attach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attach",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="files whose text (of a data file its profile, no rows) is shown at the start",
    )


def workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="specialists at work at a time (default 2; on a cluster as many as its nodes have threads)",
    )
    backend(parser)


def backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend",
        default="local",
        metavar="local|dask:ADDRESS",
        help="where specialists are started: here, or by the workers of the Dask cluster whose scheduler is there",
    )


def mapping(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="[FILE:]OLD=NEW",
        help="the column NEW of the data files, or of FILE, stands for OLD of the plan",
    )


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"must be a port, 0 to 65535, not {number}")
    return number
