"""Does what clients ask for: one workspace held, a nursery kept warm, each call in a confined process of its own.

A call of a tool is a dispatch in the journal of the server's own run, which is opened with the first of them; a
`run_research` is a run beside it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from outcrop.budget import Budget, Ceiling
from outcrop.desk import Desk
from outcrop.draining import UnderWay
from outcrop.events import Watcher, nobody
from outcrop.ledger import check_prices
from outcrop.mcp_server import answers, past
from outcrop.mcp_server.catalogue import (
    CALL,
    CallArguments,
    Catalogue,
    DispatchArguments,
    FindArguments,
    ResearchArguments,
    RunArguments,
    callable_names,
    of_registry,
    without_marks,
)
from outcrop.models import ModelTable
from outcrop.run import Run
from outcrop.settings import Settings
from outcrop.shared import Shared
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.outcome import Outcome
from outcrop_schemas.protocol import ToolCall, WindowSettings
from outcrop_specialists.context.selection.embedding import find_embedder
from outcrop_specialists.context.selection.offering import Offering
from outcrop_specialists.reading.cache_folder import cache_folder
from outcrop_specialists.tools.argument_kinds import paths_in
from outcrop_specialists.tools.registry import NAMES, get_tool

KIND = "mcp"
_PLAYER = "analytics"
"""Who plays a tool that several specialists have."""


def window_for(chars: int) -> WindowSettings:
    """The window of which one read gives so many characters."""
    usable = math.ceil(chars / (limits.READ_SHARE * limits.READ_CHARS_A_TOKEN))
    return WindowSettings(tokens=usable + min(limits.MODEL_OUTPUT_TOKENS, usable))


class Host:
    """The work behind one server, of all its clients together."""

    def __init__(self, shared: Shared, catalogue: Catalogue) -> None:
        self.shared, self.catalogue = shared, catalogue
        self._workflow = shared.telemetry.workflow("outcrop.mcp")
        self._desk: Desk | None = None
        self._opening = asyncio.Lock()
        self._under_way = UnderWay()
        self._offering: Offering | None = None

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, workspace: str | Path, settings: Settings, catalogue: Catalogue, launcher: str = "nursery"
    ) -> AsyncIterator[Host]:
        """Hold the workspace. At the end what is under way is cancelled, and has ended. Raises WorkspaceBusyError where
        another run holds it, and what opening a pool raises."""
        place = Workspace(workspace)
        models = ModelTable(None, settings)
        async with AsyncExitStack() as stack:
            shared = await stack.enter_async_context(
                Shared.opened(place, models, settings.chosen_workers(None), settings.model_calls, launcher)
            )
            if warm := getattr(shared.launcher, "warm", None):
                warm()
            host = cls(shared, catalogue)
            stack.push_async_callback(host._close)
            yield host

    async def end(self) -> None:
        """Cancel what is under way and wait for its end."""
        await self._under_way.cancel()

    async def _close(self) -> None:
        await self.end()
        if self._desk:
            await self._desk.close()
        self._workflow.end()

    @property
    def workspace(self) -> Workspace:
        return self.shared.workspace

    async def call(self, name: str, arguments: Mapping[str, Any], watcher: Watcher = nobody) -> BaseModel:
        """Do what an offered tool does. Whoever is cancelled meanwhile is so after the process has ended. Raises
        OutcropError for what makes no sense; work that fails is an answer with its status."""
        asked = self.catalogue.get(name).checked(arguments)
        if isinstance(asked, CallArguments):
            name, arguments = asked.name, asked.arguments
            of_registry(name).checked(arguments)
        with self._workflow.above():
            return await self._under_way.follow(self._done(name, arguments, asked, watcher))

    async def _done(self, name: str, arguments: Mapping[str, Any], asked: BaseModel, watcher: Watcher) -> BaseModel:
        if name in NAMES:
            return await self._tool(name, arguments, watcher)
        # The server's own run begins with the first tool of a specialist, and until then has no id.
        spans = self.shared.telemetry.of_run(self._desk.folder.run_id if self._desk else "")
        with spans.tool(name, "", arguments):
            return await self._own(asked, watcher)

    async def _own(self, asked: BaseModel, watcher: Watcher) -> BaseModel:
        if isinstance(asked, ResearchArguments):
            return await self._research(asked, watcher)
        if isinstance(asked, DispatchArguments):
            return await self._dispatch(asked, watcher)
        if isinstance(asked, FindArguments):
            return await self._found(asked)
        if isinstance(asked, RunArguments):
            return await self.shared.hands.do(past.shown, self.workspace, asked.run)
        return await self.shared.hands.do(past.listed, self.workspace)

    async def _tool(self, name: str, arguments: Mapping[str, Any], watcher: Watcher) -> answers.ToolAnswer:
        desk = await self._open_desk()
        tool = get_tool(name)
        order = desk.order(
            _PLAYER if _PLAYER in tool.specialists else min(tool.specialists),
            f"call {name}",
            [path for paths in paths_in(name, arguments).values() for path in paths],
            call=ToolCall(tool=name, arguments=dict(arguments)),
            window=window_for(limits.MCP_PAGE_CHARS),
        )
        with desk.spans.tool(name, "", arguments) as span:
            outcome = await desk.dispatch(replace(order, watcher=watcher))
            span.ended(outcome)
            span.returned(outcome.summary)
        return answers.of_tool(name, outcome, desk.folder.run_id)

    async def _dispatch(self, asked: DispatchArguments, watcher: Watcher) -> answers.DispatchAnswer:
        desk = await self._open_desk()
        order = desk.order(asked.specialist, asked.objective, asked.data, asked.context, pins=asked.pins)
        outcome = await desk.dispatch(replace(order, watcher=watcher))
        return answers.of_dispatch(outcome, desk.folder.run_id)

    async def _research(self, asked: ResearchArguments, watcher: Watcher) -> answers.ResearchAnswer:
        shared = self.shared
        ceiling = Ceiling(asked.budget_usd, asked.budget_tokens)
        if ceiling != Ceiling():
            check_prices(ceiling, shared.terms.prices, shared.models.paid_names())
            shared = replace(shared, budget=Budget(ceiling, within=shared.budget))
        run = Run(asked.objective, asked.data, pins=asked.pins, attach=asked.attach, watcher=watcher, shared=shared)
        outcome = await run.start()
        return answers.of_run(outcome, has_report=past.has_report(Path(outcome.run_folder)))

    async def _found(self, asked: FindArguments) -> answers.FoundTools:
        if not asked.query.strip():
            raise ArgumentError("query", "say in plain words what the tool should do")
        found = await self.shared.hands.do(self._find, asked.query)
        needs_schema = CALL in self.catalogue.offered
        return answers.FoundTools(
            tools=[
                answers.FoundTool(
                    name=name,
                    description=line,
                    input_schema=without_marks(get_tool(name).schema().input_schema) if needs_schema else None,
                )
                for name, line in found.items()
            ]
        )

    def _find(self, query: str) -> dict[str, str]:
        """Of the tools that the client can call those that fit; blocking for some milliseconds."""
        if self._offering is None:
            everything = callable_names()
            names = (
                everything if CALL in self.catalogue.offered else [n for n in everything if n in self.catalogue.offered]
            )
            cache = cache_folder(self.workspace.folder, "tools")
            self._offering = Offering([get_tool(name) for name in names], _nobody_told, cache, find_embedder())
        return dict(wire.loads(self._offering.find({"query": query}))["found"])

    async def read(self, path: str, start_line: int) -> Outcome:
        """What `read_file` gives of a file, read in a confined process and not recorded as a dispatch."""
        desk = await self._open_desk()
        arguments = {"path": path, "start_line": start_line}
        call = desk.call_tool("read_file", arguments, _PLAYER, window=window_for(limits.MCP_RESOURCE_CHARS))
        return await self._under_way.follow(call)

    async def _open_desk(self) -> Desk:
        async with self._opening:
            if self._desk is None:
                self._desk = await Desk.open(self.shared, {"kind": KIND, "objective": None})
                self._workflow.known_as(self._desk.folder.run_id)
            return self._desk


def _nobody_told(_: str) -> None:
    """Choices of tools are recorded for agents, not for clients."""
