"""Every prompt of a chat rebuilt from its record, by the agents that sent them, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from outcrop.attaching import attached_before
from outcrop.chat.agent import chat_agent
from outcrop.chat.answer import Answered, ChatAnswer
from outcrop.chat.history import Earlier
from outcrop.chat.record import earlier_of
from outcrop.chat.toolbox import chat_schemas
from outcrop.exchanges import Exchange, read_exchanges
from outcrop.playback import Answers, EndOfRecord, Playback, RecordedTools, Walked, walk
from outcrop.recovery import RunRecord
from outcrop.settings import CHAT
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent, AgentEnd, ToolAnswer


@dataclass
class _Asked:
    """One message as it was recorded: what the chat was shown with it, and what its calls gave."""

    message: str
    attached: list[str]
    answers: Answers = field(default_factory=dict)
    objections: dict[int, str] = field(default_factory=dict)
    turns: int = 0
    answered: Answered | None = None


@dataclass
class Rebuilt:
    """One message walked again."""

    number: int
    playback: Playback
    walked: Walked
    agent: Agent
    answered: Answered | None


def rebuilt(run: RunRecord) -> Iterator[Rebuilt]:
    """Each message of a chat, walked through its exchanges. Raises what a damaged record may make of this code."""
    exchanges = [each for each in read_exchanges(run.folder.exchanges / f"{CHAT}.jsonl") if each.is_used]
    earlier = earlier_of(run)
    asked = _asked(run)
    for number, each in enumerate(asked, 1):
        count = each.answered.turns if each.answered else each.turns
        own, exchanges = _split(exchanges, count)
        playback = Playback(own)
        agent = _agent(run, each, playback, earlier)
        yield Rebuilt(number, playback, walk(agent), agent, each.answered)
        earlier = [*earlier, _as_earlier(each)]


def difference_of(one: Rebuilt) -> str | None:
    """How one message differs from its record, apart from its prompts."""
    if not one.playback.is_used_up:
        return f"message {one.number}: the record goes on, but {one.walked.says}"
    answered = one.answered
    if answered is None or answered.status == "cancelled":
        return None
    if isinstance(one.walked.end, EndOfRecord):
        return f"message {one.number}: {one.walked.says}"
    end = one.walked.end
    said = end.answer.answer if isinstance(end, AgentEnd) and isinstance(end.answer, ChatAnswer) else ""
    return None if said == answered.answer else f"message {one.number}: the recorded answer is not what the chat said"


def last_request(run: RunRecord) -> ModelRequest | None:
    """What the chat was shown last; None where nothing was asked."""
    last = None
    for one in rebuilt(run):
        last = one.playback.last or last
    return last


def _asked(run: RunRecord) -> list[_Asked]:
    found: list[_Asked] = []
    attached: list[str] = []
    for body in (record.body for record in run.records.of("event")):
        kind = body["kind"]
        if kind == "attached":
            attached = attached_before(run.folder, body["handles"])
        elif kind == "question":
            found.append(_Asked(body["message"], attached))
        elif found:
            _take(found[-1], kind, body)
    return found


def _take(asked: _Asked, kind: str, body: dict[str, Any]) -> None:
    if kind == "chat_turn":
        asked.turns += 1
    elif kind == "chat_tool":
        asked.answers[asked.turns, body["call_id"]] = ToolAnswer(body["content"], body.get("is_error", False))
    elif kind == "objection":
        asked.objections[asked.turns] = body["text"]
    elif kind == "chat_answer":
        asked.answered = Answered.model_validate(body["answered"])


def _split(exchanges: Sequence[Exchange], turns: int) -> tuple[list[Exchange], list[Exchange]]:
    """The exchanges of so many turns, with the summaries before each, and the rest."""
    for place, exchange in enumerate(exchanges):
        if turns == 0:
            return list(exchanges[:place]), list(exchanges[place:])
        turns -= "purpose" not in exchange.about
    return list(exchanges), []


def _agent(run: RunRecord, asked: _Asked, playback: Playback, earlier: Sequence[Earlier]) -> Agent:
    shown = [name for body in run.events("shown_pins") for name in body["shown"]]
    pins = {name: value for name, value in (run.about.get("pins") or {}).items() if name in shown}

    def objects(answer: BaseModel) -> str | None:
        return asked.objections.get(playback.asked)

    return chat_agent(
        playback,
        RecordedTools(chat_schemas(), asked.answers, playback),
        asked.message,
        data=[entry["path"] for entry in run.about.get("data", ())],
        pins=pins,
        earlier=earlier,
        attached=asked.attached,
        turns=int(run.about.get("turns") or limits.AGENT_TURNS),
        window=WindowSettings.model_validate(run.about.get("window", {})),
        objects=objects,
    )


def _as_earlier(asked: _Asked) -> Earlier:
    answered = asked.answered
    if answered is None or not answered.answer:
        return Earlier(asked.message, f"(no answer: {answered.status if answered else 'interrupted'})")
    return Earlier(asked.message, answered.answer)
