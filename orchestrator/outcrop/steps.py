"""What an agent's window held, step by step, from the record: tokens by segment, as the server counted them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outcrop.exchanges import UNUSED, Exchange, read_exchanges
from outcrop.recovery import RunRecord
from outcrop.settings import LEAD
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import UnknownNameError
from outcrop_schemas.messages import ModelRequest, Usage
from outcrop_specialists.context.checkpoint import earlier_in
from outcrop_specialists.context.segments import SEGMENTS, Segment, estimated, scaled


@dataclass(frozen=True)
class Step:
    """One request. `is_reported`: the total is the server's own count; otherwise the whole is an estimate."""

    number: int
    purpose: str
    segments: Mapping[Segment, int]
    total: int
    is_reported: bool
    cached: int

    def as_json(self) -> dict[str, Any]:
        return {
            "step": self.number,
            "purpose": self.purpose,
            "tokens": self.total,
            "reported": self.is_reported,
            "read_from_cache": self.cached,
            **{segment: self.segments.get(segment, 0) for segment in SEGMENTS},
        }


def agents_of(run: RunRecord) -> list[str]:
    """The lead, where there is one, and every dispatch that asked a model."""
    found = {path.stem for path in run.folder.exchanges.glob("*.jsonl")} if run.folder.exchanges.is_dir() else set()
    return sorted(found, key=lambda name: (name != LEAD, name))


def find_agent(run: RunRecord, wanted: str | None) -> str:
    """The agent of this name, or of this beginning. Raises UnknownNameError."""
    agents = agents_of(run)
    if wanted is None and agents:
        return agents[0]
    found = [name for name in agents if wanted and name.startswith(wanted)]
    if len(found) != 1:
        raise UnknownNameError("dispatch with model turns", wanted or "", known=agents)
    return found[0]


def steps_of(run: RunRecord, agent: str) -> list[Step]:
    """The requests of one agent in their order. Raises JournalError where the record is damaged."""
    exchanges = read_exchanges(run.folder.exchanges / f"{agent}.jsonl")
    return [_step(number, exchange) for number, exchange in enumerate(exchanges, 1)]


def recorded_steps(run: RunRecord, agent: str) -> tuple[list[Step], int]:
    """The same from what stands in each line, no request put together; and how many lines are no exchange.

    A request of an earlier version, of whose segments nothing was recorded, has its total only.
    """
    steps: list[Step] = []
    damaged = 0
    path = run.folder.exchanges / f"{agent}.jsonl"
    with path.open("rb") as lines:
        for line in lines:
            try:
                steps.append(_step_of_line(len(steps) + 1, wire.loads(line)))
            except (ValueError, TypeError, AttributeError):
                # What stands after the last newline is being written, or was when the orchestrator died.
                damaged += line.endswith(b"\n")
    return steps, damaged


def _step_of_line(number: int, line: Mapping[str, Any]) -> Step:
    response = line.get("response")
    usage = Usage.model_validate(response.get("usage") or {}) if response else None
    return _measured(number, line, line.get("segments") or {}, usage)


def checkpoints_of(run: RunRecord, agent: str) -> list[dict[str, Any]]:
    """Each account from which an agent went on in a fresh context: `number`, `text` and the `step` that began with it;
    of the lead also what its journal says beside it. Raises JournalError where the record is damaged."""
    begun: dict[str, int] = {}
    for step, exchange in enumerate(read_exchanges(run.folder.exchanges / f"{agent}.jsonl"), 1):
        if exchange.about.get("purpose", "turn") == "turn":
            text = earlier_in(ModelRequest.model_validate(wire.loads(exchange.request)).messages)
            begun.setdefault(text or "", step)
    begun.pop("", None)
    if agent != LEAD:
        return [{"number": number, "step": step, "text": text} for number, (text, step) in enumerate(begun.items(), 1)]
    recorded = ({k: v for k, v in event.items() if k != "kind"} for event in run.events("checkpoint"))
    return [{**event, "step": begun.get(event["text"])} for event in recorded]


def window_of(run: RunRecord, agent: str) -> int:
    """How many tokens the agent's model takes, as far as the run knew."""
    if agent == LEAD:
        about: Mapping[str, Any] = run.about
    else:
        start = run.records.find("start", agent)
        about = start.body if start else {}
    return int((about.get("window") or {}).get("tokens", limits.WINDOW_TOKENS))


def _step(number: int, exchange: Exchange) -> Step:
    # Records of earlier versions do not have the estimate; it follows from the request.
    request = ModelRequest.model_validate(wire.loads(exchange.request))
    estimate: Mapping[Segment, int] = exchange.about.get("segments") or estimated(request)
    return _measured(number, exchange.about, estimate, exchange.response.usage if exchange.response else None)


def _measured(number: int, about: Mapping[str, Any], estimate: Mapping[Segment, int], usage: Usage | None) -> Step:
    total = usage.prompt_tokens if usage else 0
    return Step(
        number,
        # An answer that was not used: refused, cancelled.
        about.get(UNUSED) or about.get("purpose", "turn"),
        scaled(estimate, total) if total else estimate,
        total or sum(estimate.values()),
        bool(total),
        usage.cache_read_input_tokens if usage else 0,
    )
