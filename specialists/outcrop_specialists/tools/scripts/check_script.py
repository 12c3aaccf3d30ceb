"""Waits for a script that was left running, or ends it."""

from __future__ import annotations

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.scripts import running


class Arguments(ToolArguments):
    handle: str = Field(description="The handle that run_script gave.")
    wait_seconds: float = Field(
        default=limits.SCRIPT_SECONDS, ge=0, le=limits.SCRIPT_SECONDS, description="How long to wait for its end."
    )
    stop: bool = Field(default=False, description="End it instead of waiting.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for an unknown handle, DataError for a script that fails or gives no answer."""
    script = running.DETACHED.get(arguments.handle)
    if script is None:
        known = ", ".join(running.DETACHED) or "none is running"
        raise ArgumentError("handle", f"there is no running script {arguments.handle!r}; {known}")
    if arguments.stop:
        script.stop()
        del running.DETACHED[arguments.handle]
        return ToolResult("The script was ended", {"state": "stopped", "handle": arguments.handle})
    context.report(f"waiting for {arguments.handle}")
    if not script.wait(arguments.wait_seconds):
        return running.detached(script, context, arguments.wait_seconds)
    return running.finished(script, context, TOOL)


TOOL = Tool(
    name="check_script",
    version=1,
    description="Waits for a script that run_script left running and gives its answer, or ends it.",
    asked_for=("check the running script", "wait for the script", "stop the script"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
)
