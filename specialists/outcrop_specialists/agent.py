"""The agent loop, one for specialists and lead: tools are called until `complete` is called with a valid answer.

The loop knows nothing of processes, files or kinds of model. What a model is shown is built here and nowhere else, so
that a recorded conversation can be rebuilt byte for byte from the same pieces.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ValidationError

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ContextOverflowError, OutcropError
from outcrop_schemas.messages import (
    Block,
    Message,
    ModelRequest,
    ModelResponse,
    TextBlock,
    ToolResultBlock,
    ToolSchema,
    ToolUseBlock,
    Usage,
)
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.completion import COMPLETE, complete_tool, error_text, first_fault
from outcrop_specialists.context.checkpoint import CHECKPOINT, OnCheckpoint, Phases, told_to_nobody
from outcrop_specialists.context.compaction import Compactor
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.summary import request_for_summary
from outcrop_specialists.context.window import ContextWindow
from outcrop_specialists.server_calls import is_call
from outcrop_specialists.shrinking import whole_of
from outcrop_specialists.tools.registry import projection_of
from outcrop_specialists.turns import (
    appended,
    carries_calls,
    cut_off,
    refusal,
    sendable,
    side_by_side,
    with_pins_first,
)

Stop = Literal[
    "completed", "turn_limit", "invalid_completion", "no_completion", "repeated_call", "max_tokens", "refusal"
]

CUT_OFF = "The turn was cut off at the limit of tokens, and nothing in it was carried out. Go on in smaller steps."
USE_COMPLETE = f"Nothing was called. Call a tool, or end the work with the `{COMPLETE}` tool."


class Asks(Protocol):
    """Whatever answers a Messages API request."""

    async def create(self, request: ModelRequest) -> ModelResponse: ...


@dataclass(frozen=True)
class ToolAnswer:
    """What a model gets back for one call."""

    content: str
    is_error: bool = False


class Toolbox(Protocol):
    """The tools of one agent: those offered now, and the call of one of them.

    `call` raises OutcropError for what a model may mend, and nothing else.
    """

    def schemas(self) -> list[ToolSchema]: ...

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str: ...


@dataclass
class AgentEnd:
    """How an agent's work ended: with an answer, or with the reason there is none."""

    stop: Stop
    answer: BaseModel | None
    reason: str = ""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)


class Agent:
    """One agent at work.

    `tail` gives texts that follow the conversation in every request and change from turn to turn (pins, the lead's
    history): they stand after the part of the prompt that a server can cache, and are not kept in the conversation; the
    pins among them stand at its start too. `window` says how much the model takes at a time, `store` is where turns go
    that are summed up; `on_checkpoint` is told of each account from which the work goes on in a fresh context. Calls of
    a turn run at the same time, but for those of the tools in `alone`, which keep their order. `objects` says what is
    wrong with a valid answer, which is then to be given again; it ends objecting by itself.
    """

    def __init__(
        self,
        model: Asks,
        toolbox: Toolbox,
        *,
        system: str,
        opening: Sequence[str],
        answer: type[BaseModel],
        max_turns: int = limits.AGENT_TURNS,
        tail: Callable[[], Sequence[str]] = tuple,
        window: WindowSettings | None = None,
        store: Store | None = None,
        on_checkpoint: OnCheckpoint = told_to_nobody,
        alone: Collection[str] = (),
        objects: Callable[[BaseModel], str | None] = lambda answer: None,
    ) -> None:
        self._model, self._toolbox, self._answer, self._max_turns = model, toolbox, answer, max_turns
        self._system, self._tail, self._alone, self._objects = system, tail, alone, objects
        settings = window or WindowSettings()
        summarise = self._summarised if settings.summaries == "model" else None
        compactor = Compactor(store or Store(None), summarise, projection_of)
        self._window = ContextWindow(settings, compactor, max_turns)
        self._phases = Phases(compactor, on_checkpoint)
        self._summaries = Usage()
        self._complete_tool = complete_tool(answer)
        self._texts: list[str] = []
        self._messages = [Message(role="user", content=[TextBlock(text=text) for text in opening])]
        self._calls: Counter[bytes] = Counter()
        self._ids: set[str] = set()
        self._faults = self._invalid = 0

    def request(self) -> ModelRequest:
        """Exactly what the model would be asked now."""
        return self._with(self._told_now())

    def _told_now(self) -> list[str]:
        """What follows the conversation now; the pins at its start are brought up to it."""
        texts = list(self._tail())
        self._messages = with_pins_first(self._messages, texts)
        return texts

    def _with(self, texts: Sequence[str]) -> ModelRequest:
        # A turn that paused ends on the model's own words.
        place = max(number for number, message in enumerate(self._messages) if message.role == "user")
        tail = [TextBlock(text=text) for text in texts]
        messages = list(self._messages)
        messages[place] = Message(role="user", content=[*messages[place].content, *tail])
        # Asked for each time: what is offered may grow from turn to turn.
        tools = [*self._toolbox.schemas(), self._complete_tool]
        return ModelRequest(system=self._system, messages=messages, tools=tools, tail_blocks=len(tail))

    async def run(self) -> AgentEnd:
        """Work until complete. Raises ModelError when the model cannot answer."""
        usage = Usage()
        for turn in range(1, self._max_turns + 1):
            response = await self._next()
            usage = usage.plus(response.usage).plus(self._summaries)
            self._summaries = Usage()
            end = await self._take(response)
            if end:
                end.turns, end.usage = turn, usage
                return end
        reason = f"the limit of {self._max_turns} turns was reached before `{COMPLETE}` was called"
        return AgentEnd("turn_limit", None, reason, self._max_turns, usage)

    async def _next(self) -> ModelResponse:
        """The model's next turn. Room is made before it is asked; where that was not enough, it is made once more."""
        self._texts = self._told_now()
        request = self._with(self._texts)
        shorter = await self._window.fitting(request, self._messages)
        if shorter:
            await self._phases.after_compaction(self._messages, shorter)
            # Nobody has seen them so far, so they are recorded nowhere else.
            whole = whole_of(self._messages, shorter)
            self._messages = shorter
            request = self._with(self._texts).model_copy(update={"whole_results": whole})
        try:
            return await self._asked(request)
        except ContextOverflowError:
            smaller = await self._window.smaller(self._messages)
            if smaller is None:
                raise
            await self._phases.after_compaction(self._messages, smaller)
            self._messages = smaller
        return await self._asked(self.request())

    async def _asked(self, request: ModelRequest) -> ModelResponse:
        self._window.asked(request)
        response = await self._model.create(request)
        if not any(is_call(block) for block in response.content):
            # A turn in which the server worked too read its prompt more than once: its account is no measure of it.
            self._window.answered(response.usage)
        return response

    async def _summarised(self, task: Sequence[str], before: str | None, removed: Sequence[Message]) -> str:
        """A summary by the model. Raises ModelError."""
        request = request_for_summary(task, before, removed, self._texts, self._window.room_chars)
        response = await self._model.create(request)
        self._summaries = self._summaries.plus(response.usage)
        return "\n".join(block.text for block in response.content if isinstance(block, TextBlock))

    async def _take(self, response: ModelResponse) -> AgentEnd | None:
        """Act on one turn; the end of the work, if this was it."""
        if response.stop_reason == "refusal":
            return AgentEnd("refusal", None, refusal(response))
        if response.stop_reason == "max_tokens":
            return self._cut_off(response)
        said = sendable(response, self._ids)
        calls = [block for block in said if isinstance(block, ToolUseBlock)]
        self._messages = appended(self._messages, said)
        if response.stop_reason == "pause_turn" and not calls:
            return None  # sent back as it is, the model goes on from there
        if calls and not carries_calls(response):
            return self._not_carried_out(calls, response.stop_reason)
        if not calls:
            return self._fault(AgentEnd("no_completion", None, "the model ended without a completion"), USE_COMPLETE)
        repeated = self._repeated(calls)
        if repeated:
            return AgentEnd("repeated_call", None, repeated)
        work = [call for call in calls if call.name != COMPLETE]
        answers: dict[str, ToolAnswer] = {}
        for together in side_by_side(work, self._alone):
            answers |= zip([call.id for call in together], await self._answers(together), strict=True)
        end: AgentEnd | None = None
        for call in calls:
            if call.name == COMPLETE:
                end, answers[call.id] = self._complete(call)
        results: list[Block] = [
            ToolResultBlock(tool_use_id=c.id, content=answers[c.id].content, is_error=answers[c.id].is_error)
            for c in calls
        ]
        self._messages = await self._phases.after_turn([*self._messages, Message(role="user", content=results)])
        return end

    def _not_carried_out(self, calls: Sequence[ToolUseBlock], stop_reason: str | None) -> AgentEnd | None:
        """A turn that stopped for a reason that is not known to mean: carry these calls out."""
        why = f"the turn stopped with {stop_reason}, so nothing in it was carried out"
        content = error_text("not_carried_out", f"{why}; call again what is still wanted")
        answers: list[Block] = [ToolResultBlock(tool_use_id=c.id, content=content, is_error=True) for c in calls]
        self._messages.append(Message(role="user", content=answers))
        self._faults += 1
        return AgentEnd("no_completion", None, why) if self._faults >= limits.INVALID_COMPLETIONS else None

    def _cut_off(self, response: ModelResponse) -> AgentEnd | None:
        """A turn that ended at its limit of tokens: half a call, or half of the calls, is never carried out."""
        self._messages = appended(self._messages, cut_off(response))
        used = response.usage.output_tokens
        return self._fault(AgentEnd("max_tokens", None, f"turns were cut off at {used} tokens of output"), CUT_OFF)

    async def _answers(self, calls: Sequence[ToolUseBlock]) -> list[ToolAnswer]:
        """All calls at once. Where one breaks, the others are cancelled and waited for before its error goes on."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._call(call)) for call in calls]
        except BaseExceptionGroup as broken:
            raise broken.exceptions[0] from broken
        return [task.result() for task in tasks]

    def _complete(self, call: ToolUseBlock) -> tuple[AgentEnd | None, ToolAnswer]:
        try:
            answer = self._answer.model_validate(call.input)
            if objection := self._objects(answer):
                return None, ToolAnswer(error_text("objection", objection), is_error=True)
            return AgentEnd("completed", answer), ToolAnswer("accepted")
        except ValidationError as error:
            where, reason = first_fault(error)
            text = error_text("invalid_completion", f"{where}: {reason}", field=where)
            self._faults, self._invalid = self._faults + 1, self._invalid + 1
            over = self._faults >= limits.INVALID_COMPLETIONS
            times = "once" if self._invalid == 1 else f"{self._invalid} times"
            idle = self._faults - self._invalid
            also = f" and {idle} of the turns called nothing" if idle else ""
            why = f"`{COMPLETE}` was called {times} with an invalid answer{also}; last: {where}: {reason}"
            return (AgentEnd("invalid_completion", None, why) if over else None), ToolAnswer(text, is_error=True)

    def _fault(self, end: AgentEnd, nudge: str) -> AgentEnd | None:
        self._faults += 1
        if self._faults >= limits.INVALID_COMPLETIONS:
            return end
        self._messages.append(Message(role="user", content=[TextBlock(text=nudge)]))
        return None

    def _repeated(self, calls: list[ToolUseBlock]) -> str | None:
        for call in calls:
            if call.name == COMPLETE:
                continue
            key = wire.canonical([call.name, call.input])
            self._calls[key] += 1
            if self._calls[key] >= limits.REPEATED_CALLS:
                return f"{call.name} was called {self._calls[key]} times with the same arguments"
        return None

    async def _call(self, call: ToolUseBlock) -> ToolAnswer:
        try:
            if call.name == CHECKPOINT.name:
                return ToolAnswer(self._phases.ask(call.input))
            return ToolAnswer(await self._toolbox.call(call.name, call.input, call.id))
        except OutcropError as error:
            return ToolAnswer(error_text(error.kind, str(error), field=getattr(error, "field", None)), is_error=True)
