"""Writes every command and its options into docs/cli.md from the parser: `scripts/write_commands.py [--check]`."""

import argparse
import re
import sys
from html import escape

from marked import cell, write

# What every command has stands once, above the list.
COMMON = {"-h", "--help", "--debug", "--json"}


def reference() -> str:
    """A section for each command, in the order of `outcrop --help`."""
    from outcrop.cli.main import build_parser

    return "\n".join(section for parser, told in commands(build_parser()) for section in sections(parser, told))


def commands(parser: argparse.ArgumentParser) -> list[tuple[argparse.ArgumentParser, str]]:
    """The commands of a parser with what each is for, and theirs behind them."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {one.dest: one.help or "" for one in action._choices_actions}
            for name, child in action.choices.items():
                found.append((child, told.get(name, "")))
                found += commands(child)
    return found


def sections(parser: argparse.ArgumentParser, told: str) -> list[str]:
    """Heading, what it is for, how it is called, and a table of what it takes."""
    parts = [f"## {parser.prog}", "", sentence(told), "", "```text", usage(parser), "```", ""]
    rows = [row(action) for action in parser._actions if not COMMON & set(action.option_strings) and action.help]
    rows = [one for one in rows if one]
    if rows:
        parts += ["| argument | what |", "|---|---|", *rows, ""]
    return parts


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def usage(parser: argparse.ArgumentParser) -> str:
    """On one line: where argparse would break it depends on the terminal and on the version of Python."""
    return re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: ")).strip()


def row(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
        return ""
    named = action.metavar or (None if action.choices is None else "|".join(map(str, action.choices)))
    value = " ".join(named) if isinstance(named, tuple) else named or action.dest.upper()
    takes = "" if action.nargs == 0 else f" {value}" + (" …" if action.nargs in ("+", "*") else "")
    name = f"{', '.join(action.option_strings)}{takes}" if action.option_strings else takes.strip()
    default = action.default if isinstance(action.default, (str, int, float)) and action.nargs != 0 else None
    text = (action.help or "").replace("%(default)s", str(default))
    return f"| {code(name)} | {cell(text)} |"


def code(text: str) -> str:
    """A code span in a table: what a bar in one becomes is different on GitHub and on the site."""
    return f"<code>{escape(text).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


if __name__ == "__main__":
    sys.exit(write("cli.md", "write_commands.py", __doc__ or "", reference))
