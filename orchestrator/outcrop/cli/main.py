"""`outcrop`: reads the command line and hands over. Only argparse is imported here, so that `--help` is quick."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from outcrop.cli.parsing import chat, facts, live, mcp, records, seeing, work
from outcrop.cli.parsing.shared import EPILOG
from outcrop.cli.stdout import give_up_full_stderr, give_up_stdout, watch_stdout
from outcrop_schemas.errors import OutputError

UNWRITTEN = 3
"""What was asked for was done, perhaps; what came of it could not be told."""


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
    watch_stdout()
    try:
        try:
            code = run(list(sys.argv[1:] if argv is None else argv))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of our output is gone (`| head`).
        give_up_stdout()
        code = 0
    except OutputError as error:
        give_up_stdout()
        with contextlib.suppress(OSError):
            sys.stderr.write(f"outcrop: {error}\n")
        code = UNWRITTEN
    give_up_full_stderr()
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
    for family in (work, chat, records, seeing, live, mcp, facts):
        family.add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"outcrop {version('outcrop')}\n")
        parser.exit()


if __name__ == "__main__":
    main()
