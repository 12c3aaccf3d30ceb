"""Walking a finished run from its journal and exchanges: nothing is launched, no model is asked.

Prompts are rebuilt by the very agents that sent them, fed with the recorded answers, and compared byte for byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from outcrop.exchanges import Exchange, read_exchanges
from outcrop.history import History
from outcrop.lead.agent import lead_agent, render_tail
from outcrop.lead.pins import Pins
from outcrop.lead.toolbox import digest, lead_schemas
from outcrop.recovery import RunRecord
from outcrop_schemas import wire
from outcrop_schemas.errors import OutcropError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolResultBlock, ToolSchema
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.agent import Agent, ToolAnswer
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.roles import get_role

_DIFF_LINES = 40


@dataclass(frozen=True)
class Checked:
    """The prompts of one agent: how many were compared, and how the first that differs does so."""

    agent: str
    prompts: int
    difference: str | None


class _EndOfRecord(Exception):
    """The agent asks for a turn that was never recorded."""


class _Recorded(OutcropError):
    """A recorded tool error, raised so that the agent words it as it did then."""


def verify(run: RunRecord) -> list[Checked]:
    """Rebuild every prompt of a run and compare it with the one that was sent."""
    checked = []
    if run.about.get("kind") == "run":
        checked.append(_verify_lead(run))
    for start in run.records:
        if start.type == "start" and start.body["command"] is None:
            checked.append(_verify_specialist(run, start))
    return checked


def lead_request(run: RunRecord) -> ModelRequest:
    """Exactly what the lead would be shown now, after everything that is recorded."""
    replayed = _LeadReplay(run)
    replayed.walk()
    return replayed.agent.request()


class _Playback:
    """Stands in for the model: compares each request with the recorded one and gives the recorded answer."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._exchanges = iter(exchanges)
        self.compared = 0
        self.difference: str | None = None

    async def create(self, request: ModelRequest) -> ModelResponse:
        exchange = next(self._exchanges, None)
        if exchange is None:
            raise _EndOfRecord
        self.compared += 1
        rebuilt = request.as_bytes()
        if not exchange.is_intact:
            self.difference = self.difference or f"prompt {self.compared}: the record is damaged (its hash differs)"
        elif rebuilt != exchange.request:
            self.difference = self.difference or f"prompt {self.compared}:\n{_diff(exchange.request, rebuilt)}"
        if exchange.response is None:
            raise _EndOfRecord
        return exchange.response


class _RecordedTools:
    """Stands in for a toolbox: gives the results that were recorded."""

    def __init__(self, schemas: list[ToolSchema], answers: dict[str, ToolAnswer]) -> None:
        self._schemas, self._answers = schemas, answers

    def schemas(self) -> list[ToolSchema]:
        return self._schemas

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        answer = self._answers.get(call_id)
        if answer is None:
            raise _EndOfRecord
        if answer.is_error:
            raise _recorded_error(answer.content)
        return answer.content


class _LeadReplay:
    """The lead of a recorded run, walking its journal: each `turn` event is the place of one prompt."""

    def __init__(self, run: RunRecord) -> None:
        self._records = iter(run.records)
        self._history, self._pins = History(), Pins(run.about.get("pins"))
        self.playback = _Playback(read_exchanges(run.folder.exchanges / "lead.jsonl"))
        data = [entry["path"] for entry in run.about.get("data", [])]
        tools = _RecordedTools(lead_schemas(), _lead_answers(run))
        self.agent = lead_agent(self.playback, tools, run.about.get("objective") or "", data, self._tail)

    def walk(self) -> None:
        _walk(self.agent)

    def _tail(self) -> str | None:
        for record in self._records:
            if record.type == "event" and record.body["kind"] == "turn":
                break
            self._take(record)
        return render_tail(self._pins.render(), self._history.render())

    def _take(self, record: JournalRecord) -> None:
        self._history.take(record.type, record.id, record.body)
        if record.type == "event" and record.body["kind"] == "lead_tool" and "key" in record.body:
            self._pins.set(record.body["key"], record.body["value"])


def _verify_lead(run: RunRecord) -> Checked:
    replayed = _LeadReplay(run)
    replayed.walk()
    return Checked("lead", replayed.playback.compared, replayed.playback.difference)


def _verify_specialist(run: RunRecord, start: JournalRecord) -> Checked:
    exchanges = read_exchanges(run.folder.exchanges / f"{start.id}.jsonl")
    role = get_role(start.body["specialist"])
    context = dict(start.body["context"])
    pins = context.pop("pins", None)
    playback = _Playback(exchanges)
    tools = _RecordedTools([tool.schema() for tool in role.tools], _answers_in(exchanges))
    blocks = opening(start.body["objective"], start.body["data"], context, pins)
    _walk(Agent(playback, tools, system=role.prompt(), opening=blocks, answer=SpecialistAnswer))
    return Checked(start.id, playback.compared, playback.difference)


def _walk(agent: Agent) -> None:
    """Let the agent go as far as the record does."""

    async def go() -> None:
        try:
            await agent.run()
        except _EndOfRecord:
            return

    asyncio.run(go())


def _lead_answers(run: RunRecord) -> dict[str, ToolAnswer]:
    """What each of the lead's calls gave, from the journal."""
    ends = {record.id: record.body for record in run.records if record.type == "end"}
    answers = {}
    for body in run.events("lead_tool"):
        if "dispatch_id" in body:
            answers[body["call_id"]] = ToolAnswer(digest(Outcome.model_validate(ends[body["dispatch_id"]])))
        else:
            answers[body["call_id"]] = ToolAnswer(body["content"], body.get("is_error", False))
    return answers


def _answers_in(exchanges: list[Exchange]) -> dict[str, ToolAnswer]:
    """A specialist's tool results, as they stand in the requests that followed them."""
    found: dict[str, ToolAnswer] = {}
    for exchange in exchanges:
        for block in _tool_results(ModelRequest.model_validate(wire.loads(exchange.request))):
            found[block.tool_use_id] = ToolAnswer(block.content, block.is_error)
    return found


def _tool_results(request: ModelRequest) -> Iterator[ToolResultBlock]:
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                yield block


def _recorded_error(content: str) -> _Recorded:
    stored = wire.loads(content)["error"]
    error = _Recorded(stored["message"])
    error.kind = stored["type"]
    if "field" in stored:
        error.__dict__["field"] = stored["field"]
    return error


def _diff(recorded: bytes, rebuilt: bytes) -> str:
    lines = unified_diff(_pretty(recorded), _pretty(rebuilt), "recorded", "rebuilt", lineterm="", n=1)
    return "\n".join(line for _, line in zip(range(_DIFF_LINES), lines, strict=False))


def _pretty(request: bytes) -> list[str]:
    import json

    return json.dumps(wire.loads(request), indent=1, ensure_ascii=False).splitlines()
