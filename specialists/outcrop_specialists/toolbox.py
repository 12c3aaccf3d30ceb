"""A specialist's tools as its agent calls them: checked arguments, typed faults, bounded results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from outcrop_schemas import limits, wire
from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import ArgumentError, DataError, OutcropError, UnknownNameError, WorkspaceError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.columns import censoring
from outcrop_specialists.completion import first_fault
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult

_SHOWN_CHARS = 4_000


class SpecialistToolbox:
    """The tools of one role. `on_call` is told the name of each tool before it runs."""

    def __init__(self, tools: Sequence[Tool], context: ToolContext, on_call: Callable[[str], None]) -> None:
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._context, self._on_call = context, on_call
        self.artifacts: dict[str, Artifact] = {}
        self.claims: list[Claim] = []
        self.summaries: list[str] = []
        # Tools share process-wide state (matplotlib, thread pools), so one runs at a time.
        self._one_at_a_time = asyncio.Lock()

    def schemas(self) -> list[ToolSchema]:
        return [tool.schema() for tool in self._tools.values()]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        """Run one tool; its result as JSON text. Raises OutcropError for what the model may mend."""
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownNameError("tool", name, known=self._tools)
        async with self._one_at_a_time:
            self._on_call(name)
            result = await asyncio.to_thread(run_tool, tool, self._context, arguments)
        self.summaries.append(f"{name}: {result.summary}")
        self.artifacts.update({artifact.path: artifact for artifact in result.artifacts})
        self.claims += [claim for claim in result.claims if claim not in self.claims]
        return self._bounded(wire.dumps(result.as_json()).decode(), call_id)

    def _bounded(self, text: str, call_id: str) -> str:
        """A result within the limit; a longer one goes to the scratch folder, with head, tail and path."""
        if len(text) <= limits.TOOL_RESULT_CHARS:
            return text
        path = self._context.scratch / f"{call_id}.json"
        path.write_text(text, "utf-8")
        shown = {
            "too_long": f"{len(text)} characters; all of it is in {path.relative_to(self._context.workspace)}",
            "head": text[:_SHOWN_CHARS],
            "tail": text[-_SHOWN_CHARS:],
        }
        return wire.dumps(shown).decode()


def run_tool(tool: Tool, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Check the arguments and run the tool: the one place where a tool's exception becomes a typed error, and where
    its notes are completed by what stands for results beyond a limit."""
    try:
        checked = tool.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        raise ArgumentError(*first_fault(error)) from error
    try:
        with censoring.noted() as sentences:
            result = tool.run(context, checked)
        return replace(result, notes=[*result.notes, *(told for told in sentences if told not in result.notes)])
    except OutcropError:
        raise
    except MemoryError as error:
        raise DataError(f"{tool.name} ran out of memory; use fewer rows or columns") from error
    except OSError as error:
        raise WorkspaceError(
            f"{tool.name}: {os.fspath(error.filename or Path())}: {error.strerror or error}"
        ) from error
    except Exception as error:
        raise DataError(f"{tool.name} failed: {type(error).__name__}: {error}") from error
