"""What stands in for the model and the tools of a recorded agent: it gives what was recorded, in its turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from outcrop.exchanges import WHOLE_RESULTS, Exchange
from outcrop.prompt_diff import PromptDifference, by_segment
from outcrop_schemas import wire
from outcrop_schemas.errors import ModelError, OutcropError
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolResultBlock, ToolSchema
from outcrop_specialists.agent import Agent, AgentEnd, ToolAnswer

# The answers of a conversation by turn and call: a model may use the id of a call again in a later turn.
Answers = dict[tuple[int, str], ToolAnswer]


class EndOfRecord(Exception):
    """The agent needs what was never recorded: a turn, or the result of a call."""


class Playback:
    """Stands in for the model: compares each request with the recorded one and gives the recorded answer."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._exchanges = exchanges
        self.asked = self.compared = 0
        self.last: ModelRequest | None = None
        self.difference: PromptDifference | None = None

    def tools_offered(self) -> list[str] | None:
        """The names of the tools in the next turn that is recorded; None where there is none."""
        following = (each for each in self._exchanges[self.compared :] if "purpose" not in each.about)
        exchange = next(following, None)
        return [tool["name"] for tool in wire.loads(exchange.request)["tools"]] if exchange else None

    @property
    def is_used_up(self) -> bool:
        return self.compared == len(self._exchanges)

    async def create(self, request: ModelRequest) -> ModelResponse:
        if request.purpose == "turn":
            self.last, self.asked = request, self.asked + 1
        if self.is_used_up:
            raise EndOfRecord(f"prompt {self.asked} is not recorded")
        exchange = self._exchanges[self.compared]
        self.compared += 1
        rebuilt = request.as_bytes()
        if self.difference is None and not exchange.is_intact:
            self.difference = PromptDifference(self.compared, reason="the record is damaged (its hash differs)")
        elif self.difference is None and rebuilt != exchange.request:
            self.difference = PromptDifference(self.compared, by_segment(exchange.request, rebuilt))
        if exchange.response is None:
            raise exchange.error or EndOfRecord("there is no answer")
        return exchange.response


class RecordedTools:
    """Stands in for a toolbox: offers what was offered, as it is now, and gives the results that were recorded."""

    def __init__(self, schemas: list[ToolSchema], answers: Answers, playback: Playback) -> None:
        self._schemas, self._answers, self._playback = {tool.name: tool for tool in schemas}, answers, playback

    def schemas(self) -> list[ToolSchema]:
        offered = self._playback.tools_offered()
        if offered is None:
            return list(self._schemas.values())
        return [self._schemas[name] for name in offered if name in self._schemas]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        answer = self._answers.get((self._playback.asked, call_id))
        if answer is None:
            raise EndOfRecord(f"the result of {name} ({call_id}) in turn {self._playback.asked} is not recorded")
        if answer.is_error:
            raise _recorded_error(answer.content)
        return answer.content


@dataclass(frozen=True)
class Walked:
    """How an agent's walk through its record ended."""

    end: AgentEnd | ModelError | EndOfRecord

    @property
    def says(self) -> str:
        return f"the work ended with {self.end.stop}" if isinstance(self.end, AgentEnd) else str(self.end)


def walk(agent: Agent) -> Walked:
    """Let the agent go as far as the record does."""
    try:
        return Walked(asyncio.run(agent.run()))
    except (ModelError, EndOfRecord) as end:
        return Walked(end)


def answers_in(exchanges: list[Exchange]) -> Answers:
    """A specialist's tool results as they were given, though they stand cut in the request that followed the turn."""
    found: Answers = {}
    for turn, exchange in enumerate(each for each in exchanges if "purpose" not in each.about):
        whole = exchange.about.get(WHOLE_RESULTS, {})
        for block in ModelRequest.model_validate(wire.loads(exchange.request)).messages[-1].content:
            if isinstance(block, ToolResultBlock):
                content = whole.get(block.tool_use_id, block.content)
                found[turn, block.tool_use_id] = ToolAnswer(content, block.is_error)
    return found


class _Recorded(OutcropError):
    """A recorded tool error, raised so that the agent words it as it did then."""


def _recorded_error(content: str) -> _Recorded:
    stored = wire.loads(content)["error"]
    error = _Recorded(stored["message"])
    error.kind = stored["type"]
    if "field" in stored:
        error.__dict__["field"] = stored["field"]
    return error
