"""Runs a Python script where no tool does the work: confined, silent, its answer between two markers."""

from __future__ import annotations

import ast

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.paths import data_file
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.scripts import running


class Arguments(ToolArguments):
    code: str = Field(
        min_length=1,
        max_length=limits.SCRIPT_CHARS,
        description=f"Python source. It gets the files of `data` as sys.argv[1:], writes files into its current folder "
        f"and prints its answer, best as JSON, between the lines {running.BEGIN} and {running.END}. "
        "polars, numpy, scipy, scikit-learn and matplotlib are there; network, other files and programs that leave "
        "their session are not.",
    )
    data: list[str] = Field(default=[], max_length=20, description="The files it reads, relative to the workspace.")
    wait_seconds: float = Field(
        default=limits.SCRIPT_SECONDS,
        gt=0,
        le=limits.SCRIPT_SECONDS,
        description="How long to wait; after that it goes on and check_script waits for it.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for source that is no Python, DataError for a script that fails or gives no answer."""
    try:
        ast.parse(arguments.code)
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ArgumentError("code", f"is not Python: {line}{reason}") from error
    inputs = [data_file(context.workspace, path) for path in arguments.data]
    saved = publish(
        context,
        TOOL,
        inputs,
        {"code": arguments.code},
        extension="py",
        kind="other",
        title="the script that was run",
        write=lambda path: _write(path, arguments.code),
        folder="scripts",
    )
    context.report(f"running {saved.path.name}")
    script = running.start(context, saved.path, inputs)
    if not script.wait(arguments.wait_seconds):
        return running.detached(script, context, arguments.wait_seconds)
    result = running.finished(script, context, TOOL)
    result.artifacts.append(saved.artifact)
    return result


def _write(path: object, code: str) -> None:
    from pathlib import Path

    Path(str(path)).write_text(code, "utf-8")


TOOL = Tool(
    name="run_script",
    version=1,
    description="Runs a Python script that you write, where no other tool does the work. It is confined and silent: "
    "only what it prints between the result markers comes back, its files go to results/.",
    asked_for=("run a script", "run python code", "custom computation"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        my own code; python program; numpy; custom algorithm; write code; arbitrary calculation; special
        analysis that nothing else does; execute; programming; pandas; bespoke method; simulation; monte carlo;
        bootstrap; non-standard; scipy; optimise; solve; fit a custom model; code snippet; random forest; neural
        network; machine learning model; something not covered by the tools; run this program; advanced
        computation; fourier transform; iterative algorithm; function of my own; ad hoc analysis; routine in
        pandas, just run it; none of the tools do this; I wrote a function; user code; free programming;
        something special; compute it with python; run my program; do it in code; own calculation; not available
        as a tool; code it; script; try an algorithm; a procedure of my own; programme something; use scipy; no
        existing tool
        """
    ),
)
