"""A specialist's tools as its agent calls them: checked arguments, typed faults, bounded results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import (
    DataError,
    OutcropError,
    SpillError,
    UnknownNameError,
    WorkspaceError,
)
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.columns import censoring
from outcrop_specialists.completion import checked
from outcrop_specialists.context.checkpoint import CHECKPOINT
from outcrop_specialists.context.selection.offering import ALWAYS, FIND_TOOLS, Offering
from outcrop_specialists.context.skills import READ_SKILL, SkillArguments, read_skill
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import READ_RESULT, ReadArguments, page_chars, read_result, result_chars
from outcrop_specialists.outside import OutsideTools
from outcrop_specialists.reading.tables import tables_read
from outcrop_specialists.shortening import shortened
from outcrop_specialists.shrinking import left_out
from outcrop_specialists.telling import ASK, REPORT_GAP, Gap, Question, Told
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult
from outcrop_specialists.tools.registry import family_of

_SHOWN_CHARS = 2_000
ROWS_NOT_NEEDED = frozenset({"", "inspection", "cleaning", "transform", "scripts"})
"""Families whose work on a table without rows is one without rows; the others compute something of the rows."""


class SpecialistToolbox:
    """The tools of one role, and `read_result` for what was put aside in `store`.

    `on_call` is told the name of each tool before it runs.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        context: ToolContext,
        on_call: Callable[[str], None],
        store: Store,
        *,
        has_skills: bool = False,
        offering: Offering | None = None,
        is_deferring: bool = False,
        outside: OutsideTools | None = None,
    ) -> None:
        self._outside = outside
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._context, self._on_call, self._store, self._has_skills = context, on_call, store, has_skills
        self._is_deferring = is_deferring
        self._offering = offering if offering and offering.is_selecting else None
        self.artifacts: dict[str, Artifact] = {}
        self.claims: list[Claim] = []
        self.summaries: list[str] = []
        self.told = Told()
        # Tools share process-wide state (matplotlib, thread pools), so one runs at a time.
        self._one_at_a_time = asyncio.Lock()

    def schemas(self) -> list[ToolSchema]:
        if self._offering is None:
            more = self._outside.schemas.values() if self._outside else ()
            return schemas_of(self._tools.values(), more, has_skills=self._has_skills, is_deferring=self._is_deferring)
        # What is always there stands first: the list then only grows at its end.
        chosen = [self._schema(name) for name in self._offering.offered]
        return [FIND_TOOLS, *schemas_of([], has_skills=self._has_skills), *chosen]

    def _schema(self, name: str) -> ToolSchema:
        return self._outside.schemas[name] if self._outside and name in self._outside else self._tools[name].schema()

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        """Run one tool; its result as JSON text. Raises OutcropError for what the model may mend."""
        if name == READ_RESULT.name:
            return await asyncio.to_thread(read_page, self._store, arguments, self._context.window_tokens)
        if name == READ_SKILL.name:
            context = self._context
            return await asyncio.to_thread(skill_page, context.workspace, arguments, context.window_tokens)
        if name in (REPORT_GAP.name, ASK.name):
            told = checked(Gap, arguments) if name == REPORT_GAP.name else checked(Question, arguments)
            return wire.dumps(self.told.take(told)).decode()
        if name == FIND_TOOLS.name and self._offering:
            return self._offering.find(arguments)
        if self._outside and name in self._outside:
            return await self._called_outside(self._outside, name, arguments)
        tool = self._tools.get(name)
        if tool is None:
            known = [*self._tools, *(self._outside.schemas if self._outside else ())]
            raise UnknownNameError("tool", name, get_close_matches(name, known), known)
        if self._offering:
            self._offering.asked_for(name)
        async with self._one_at_a_time:
            self._on_call(name)
            result = await asyncio.to_thread(run_tool, tool, self._context, arguments)
        self.summaries.append(f"{name}: {result.summary}")
        self.artifacts.update({artifact.path: artifact for artifact in result.artifacts})
        self.claims += [claim for claim in result.claims if claim not in self.claims]
        text = wire.dumps(result.as_json()).decode()
        return text if tool.pages else bounded(text, self._store, result_chars(self._context.window_tokens))

    async def _called_outside(self, outside: OutsideTools, name: str, arguments: dict[str, Any]) -> str:
        if self._offering:
            self._offering.asked_for(name)
        self._on_call(name)
        text = await outside.call(name, arguments)
        self.artifacts.update({artifact.path: artifact for artifact in outside.artifacts})
        self.summaries.append(f"{name}: answered with {len(text)} characters")
        return bounded(text, self._store, result_chars(self._context.window_tokens))


def schemas_of(
    tools: Iterable[Tool],
    outside: Iterable[ToolSchema] = (),
    *,
    has_skills: bool = False,
    is_deferring: bool = False,
) -> list[ToolSchema]:
    """What a specialist with these tools is offered, and what each always is; the agent loop carries out `checkpoint`,
    and adds `complete`.

    With `is_deferring` many tools, but for those that are always there, are left to the search of the model's server.
    """
    schemas = [*(tool.schema() for tool in tools), *outside]
    if is_deferring and len(schemas) > limits.TOOLS_ALL_OFFERED:
        schemas = [one if one.name in ALWAYS else one.model_copy(update={"defer_loading": True}) for one in schemas]
    return [*schemas, READ_RESULT, *([READ_SKILL] if has_skills else []), CHECKPOINT, REPORT_GAP, ASK]


def bounded(text: str, store: Store, most: int = limits.TOOL_RESULT_CHARS) -> str:
    """A result of at most `most` characters; a longer one is put aside whole: here are its handle, head and tail, and
    the weightiest of the facts between them."""
    if len(text) <= most:
        return text
    try:
        aside = f"all of it: read_result {store.put(text)}"
    except SpillError as error:
        aside = f"it could not be put aside: {error}; ask for less at a time"
    side = min(_SHOWN_CHARS, most // 4)
    head, tail = text[:side], text[-side:]
    between = left_out(text, head, tail, side)[0] if len(text) <= limits.FACTS_TEXT_CHARS else []
    shown = {"too_long": f"{len(text)} characters; {aside}", "head": head, "facts": between, "tail": tail}
    return wire.dumps({name: value for name, value in shown.items() if value}).decode()


def skill_page(workspace: Path, arguments: Mapping[str, Any], window_tokens: int = limits.WINDOW_TOKENS) -> str:
    """What `read_skill` gives. Raises ArgumentError, DataError."""
    asked = checked(SkillArguments, arguments)
    return wire.dumps(read_skill(workspace, asked.name, asked.file, asked.start, page_chars(window_tokens))).decode()


def read_page(store: Store, arguments: Mapping[str, Any], window_tokens: int = limits.WINDOW_TOKENS) -> str:
    """What `read_result` gives, never so long that it would be put aside again. Raises ArgumentError."""
    return wire.dumps(read_result(store, checked(ReadArguments, arguments), page_chars(window_tokens))).decode()


def run_tool(tool: Tool, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Check the arguments and run the tool: the one place where a tool's exception becomes a typed error, and where
    its notes are completed by what stands for results beyond a limit and its answer is bounded (`shortening.py`)."""
    asked = checked(tool.arguments, arguments)
    try:
        needs_rows = family_of(tool.name) not in ROWS_NOT_NEEDED
        with censoring.noted() as sentences, tables_read(needs_rows=needs_rows) as read:
            result = tool.run(context, asked)
        notes = [*result.notes, *(told for told in sentences if told not in result.notes)]
        return shortened(tool, context, asked, replace(result, notes=notes), read)
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
