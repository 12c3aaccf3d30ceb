"""Waits for a script or a command that was left running, ends it, or reads on in what it said."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.scripts import commands, running
from outcrop_specialists.tools.scripts.run_command import TOOL as RUN_COMMAND
from outcrop_specialists.tools.scripts.run_script import TOOL as RUN_SCRIPT


class Arguments(ToolArguments):
    handle: str = Field(description="The handle that run_script or run_command gave.")
    wait_seconds: float = Field(
        default=limits.SCRIPT_SECONDS, ge=0, le=limits.SCRIPT_SECONDS, description="How long to wait for its end."
    )
    stop: bool = Field(default=False, description="End it instead of waiting.")
    start_line: int | None = Field(
        default=None, ge=1, description="Read its output from this line on instead of waiting, also when it has ended."
    )
    start_char: int = Field(default=0, ge=0, description="Within start_line, go on behind so many characters.")
    lines: int | None = Field(default=None, ge=1, description="How many lines to read; as many as fit if not given.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for an unknown handle, DataError for a script that fails or gives no answer."""
    script = running.DETACHED.get(arguments.handle)
    if arguments.start_line is not None:
        return _page(arguments, script, arguments.start_line)
    if script is None:
        raise ArgumentError("handle", _unknown(arguments.handle, "running", running.DETACHED))
    if arguments.stop:
        running.ended(script)
        output = commands.shown(script.output) if script.is_command else {}
        return ToolResult("It was ended", {"state": "stopped", "handle": arguments.handle, **output})
    context.report(f"waiting for {arguments.handle}")
    has_ended = script.wait(arguments.wait_seconds)
    if script.is_command:
        if has_ended:
            return commands.finished(script, context, RUN_COMMAND)
        return commands.still_running(script, context, arguments.wait_seconds)
    if has_ended:
        return running.finished(script, context, RUN_SCRIPT)
    return running.detached(script, context, arguments.wait_seconds)


def _page(arguments: Arguments, script: running.RunningScript | None, start_line: int) -> ToolResult:
    """A page of what it said so far."""
    path = script.output if script else running.ENDED.get(arguments.handle)
    if path is None:
        known = {**running.DETACHED, **running.ENDED}
        raise ArgumentError("handle", _unknown(arguments.handle, "known", known))
    found = commands.page(path, start_line, arguments.start_char, arguments.lines)
    results = {"state": "running" if script else "finished", "handle": arguments.handle, **found}
    return ToolResult(f"Lines {found['start_line']} to {found['end_line']} of {found['output_lines']}", results)


def _unknown(handle: str, state: str, known: Collection[str]) -> str:
    named = ", ".join(known) or f"none is {state}"
    ended = "; it has ended, start_line reads its output" if handle in running.ENDED and state == "running" else ""
    return f"there is no {state} script or command {handle!r}; {named}{ended}"


TOOL = Tool(
    name="check_script",
    version=1,
    description="Waits for a script or command that was left running and gives its answer, ends it, or reads on in "
    "its output.",
    asked_for=("check the running script", "wait for the script", "stop the script"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        is the program finished; still running; background job; status of the script; progress of the job; wait
        for the result of the code; abort; kill; cancel the program; has it ended; poll; long-running
        calculation; output of the job; how far is it; terminate the execution; fetch the output when done;
        interrupt; is it done yet; job that I started; the code is hanging; pick up the result later; stop it;
        any news from the job; kill that calculation; it takes forever; job started earlier; what became of the
        program; is it still going; result of the job; stop the calculation; has it finished; ready; waiting for
        the code; the run takes too long; end the job; how is the job doing; did it complete; still busy;
        launched earlier; calculation in the background; terminate; the script that I started
        """
    ),
)
