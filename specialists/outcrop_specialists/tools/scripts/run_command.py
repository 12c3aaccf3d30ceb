"""Runs a shell command where no tool does the work: confined as a script is, its output bounded."""

from __future__ import annotations

import secrets
from pathlib import Path

from pydantic import Field

from outcrop_schemas import limits
from outcrop_specialists.paths import data_file
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.scripts import commands, running


class Arguments(ToolArguments):
    command: str = Field(
        min_length=1,
        max_length=limits.SCRIPT_CHARS,
        description="What the shell is given. It runs in an empty folder in which the files of `data` are under their "
        'names (with their whole paths they are "$1", "$2" …); what it writes there goes to results/. Network, other '
        "files and programs that leave their session are not.",
    )
    data: list[str] = Field(default=[], max_length=20, description="The files it reads, relative to the workspace.")
    wait_seconds: float = Field(
        default=limits.COMMAND_SECONDS,
        gt=0,
        le=limits.COMMAND_SECONDS,
        description="How long to wait; after that it goes on and check_script waits for it.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A command that fails is a result with its status. Raises PathError for its files, DataError where it cannot be
    started at all."""
    inputs = [data_file(context.workspace, path) for path in arguments.data]
    saved = _saved(context, arguments.command)
    context.report(f"running {arguments.command[:80]}")
    command = running.start(context, saved, inputs, [commands.shell()], kind="command", one_output=True, linked=True)
    if not command.wait(arguments.wait_seconds):
        return commands.still_running(command, context, arguments.wait_seconds)
    return commands.finished(command, context, TOOL)


def _saved(context: ToolContext, text: str) -> Path:
    path = context.scratch / f"command-{secrets.token_hex(4)}.sh"
    path.write_text(text + "\n", "utf-8")
    return path


TOOL = Tool(
    name="run_command",
    version=1,
    description="Runs a shell command (grep, sort, awk, unzip …) where no other tool does the work. It is confined; "
    "its output is bounded, its files go to results/.",
    asked_for=("run a shell command", "execute in the terminal", "use the command line"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        bash; sh; terminal; console; prompt; unix tools; grep; sed; awk; sort and uniq; wc; cut; find; xargs; tar;
        unzip; gunzip; split the file into parts; convert the line ends; iconv; checksum; md5sum; sha256; diff two
        files; one-liner; pipe; shell script; makefile; command with options; external program; gdal on the command
        line; ogr2ogr; jq; hexdump; strings of a binary file; unpack the archive; rename many files; which version
        is installed; list what is in the zip; concatenate raw files; count words; regular expression over a text
        file; search for a string in the raw file; head and tail; invoke a utility; system call; subprocess
        """
    ),
)
