"""The chat's tools, and no others: three that look, one that hands an objective to a run, one that reads on.

The set is closed in code: it is checked where a toolbox is made, and a name that is not in it is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from outcrop.chat.citations import Sources
from outcrop.chat.made import made_in
from outcrop.chat.research import seen, tables_of
from outcrop.chat.sight import Sight
from outcrop.hands import Hands
from outcrop.runs import RunFolder
from outcrop.telemetry import SILENT_RUN, RunSpans
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, OutcropError, UnknownNameError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.completion import checked, error_text
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import READ_RESULT, result_chars
from outcrop_specialists.toolbox import bounded, read_page
from outcrop_specialists.tools.registry import get_tool

DATA_TOOLS = ("list_files", "check_missing", "summarise_artifacts")
RESEARCH = "research"
CLOSED = frozenset({*DATA_TOOLS, RESEARCH, READ_RESULT.name})
"""Every tool the chat can have; the agent loop adds `complete`."""
CHAT_TOOL = "chat_tool"
"""The event that records what a call gave."""


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SummariseArguments(_Arguments):
    """Which artifacts."""

    of: Literal["conversation", "workspace"] = Field(
        default="conversation", description="Of the runs of this conversation, or of all runs of the workspace."
    )
    paths: list[str] = Field(default=[], description="Only these files.", max_length=limits.CHAT_ARTIFACTS)


class ResearchArguments(_Arguments):
    """One objective."""

    objective: str = Field(
        min_length=1,
        max_length=limits.OBJECTIVE_CHARS,
        description="What to find out, clean or draw, complete in itself: the run knows nothing else.",
    )
    data: list[str] = Field(default=[], description="The files to work on, as listed; without any the run looks.")
    attachments: list[str] = Field(default=[], description="Attached files whose text the run is to see.")


class Researches(Protocol):
    """Has a run answer an objective; gives it with its folder. Raises OutcropError where it cannot be begun."""

    async def __call__(self, asked: ResearchArguments, call_id: str) -> tuple[RunFolder, RunOutcome]: ...


class Notes(Protocol):
    """Writes an event into the chat's journal."""

    async def __call__(self, kind: str, body: Mapping[str, Any]) -> object: ...


def chat_schemas() -> list[ToolSchema]:
    """The chat's tools as its model sees them."""
    return [
        *(get_tool(name).schema() for name in DATA_TOOLS[:2]),
        ToolSchema(
            name=DATA_TOOLS[2],
            description="Tells of the files that runs have made: how, from what, with which parameters, and of tables "
            "rows and columns by name and type; never a row.",
            input_schema=SummariseArguments.model_json_schema(),
        ),
        ToolSchema(
            name=RESEARCH,
            description="Hand one research objective to the orchestrator and wait for its answer: specialists read, "
            "clean, compute and draw. Figures come back checked; rows never do.",
            input_schema=ResearchArguments.model_json_schema(),
        ),
        READ_RESULT,
    ]


class ChatToolbox:
    """The chat's tools at work for one message. Every result is recorded, so that prompts can be rebuilt."""

    def __init__(
        self,
        workspace: Workspace,
        sight: Sight,
        sources: Sources,
        store: Store,
        note: Notes,
        researches: Researches,
        window_tokens: int,
        runs: list[str],
        hands: Hands,
        spans: RunSpans = SILENT_RUN,
    ) -> None:
        self._spans = spans
        self._workspace, self._sight, self._sources, self._store = workspace, sight, sources, store
        self._note, self._researches, self._window_tokens = note, researches, window_tokens
        self._runs, self._begun, self._hands = runs, 0, hands
        self._tools: dict[str, Callable[[dict[str, Any], str], Awaitable[dict[str, Any] | str]]] = {
            DATA_TOOLS[0]: self._looks(DATA_TOOLS[0]),
            DATA_TOOLS[1]: self._looks(DATA_TOOLS[1]),
            DATA_TOOLS[2]: self._summarise,
            RESEARCH: self._research,
            READ_RESULT.name: self._read,
        }
        offered = {schema.name for schema in self.schemas()}
        if not offered == set(self._tools) == CLOSED:
            raise UnknownNameError("chat tool", ", ".join(sorted(offered ^ CLOSED)), known=CLOSED)

    def schemas(self) -> list[ToolSchema]:
        return chat_schemas()

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        with self._spans.tool(name, call_id, arguments) as span:
            content = await self._called(name, arguments, call_id)
            span.returned(content)
        return content

    async def _called(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        try:
            tool = self._tools.get(name)
            if tool is None:
                raise UnknownNameError("tool", name, known=self._tools)
            found = await tool(arguments, call_id)
        except OutcropError as error:
            content = error_text(error.kind, str(error), field=getattr(error, "field", None))
            await self._note(CHAT_TOOL, {"call_id": call_id, "name": name, "content": content, "is_error": True})
            raise
        text = found if isinstance(found, str) else wire.dumps(found).decode()
        content = text if isinstance(found, str) else bounded(text, self._store, result_chars(self._window_tokens))
        await self._note(CHAT_TOOL, {"call_id": call_id, "name": name, "content": content})
        return content

    def _looks(self, name: str) -> Callable[[dict[str, Any], str], Awaitable[dict[str, Any]]]:
        async def call(arguments: dict[str, Any], call_id: str) -> dict[str, Any]:
            checked(get_tool(name).arguments, arguments)
            found = await self._sight.look(name, arguments)
            self._sources.take_look(name, found)
            return found

        return call

    async def _summarise(self, arguments: dict[str, Any], call_id: str) -> dict[str, Any]:
        asked = checked(SummariseArguments, arguments)
        runs = self._runs if asked.of == "conversation" else None
        made, more = await self._hands.do(made_in, self._workspace, runs, asked.paths)
        found = await self._sight.look(DATA_TOOLS[2], {"artifacts": made}) if made else {"artifacts": []}
        self._sources.take_look(DATA_TOOLS[2], found)
        return {**found, **({"more": f"{more} older artifacts; name their paths"} if more else {})}

    async def _research(self, arguments: dict[str, Any], call_id: str) -> dict[str, Any]:
        asked = checked(ResearchArguments, arguments)
        if self._begun >= limits.CHAT_RUNS:
            raise ArgumentError("objective", f"{limits.CHAT_RUNS} runs were begun for this message; answer with these")
        self._begun += 1
        folder, outcome = await self._researches(asked, call_id)
        self._sources.take_run(outcome)
        tables = await self._hands.do(tables_of, folder, outcome)
        return await seen(outcome, tables, self._sight)

    async def _read(self, arguments: dict[str, Any], call_id: str) -> str:
        return read_page(self._store, arguments, self._window_tokens)
