"""A run step by step as it went, from the record alone: what each agent was sent and said, what came of it.

Steps follow the journal, so dispatches of one turn stand as they began and ended. The turns of a specialist, which the
journal does not have, stand before the end of its dispatch. Nothing is launched, nothing is written, and each step is
read when it is asked for: the first steps of a run of any length are there at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from outcrop.blocks import Blocks
from outcrop.exchanges import UNUSED, Exchange, read_exchanges
from outcrop.ledger import RESERVED, SETTLED
from outcrop.playback import Answers, answers_in
from outcrop.records import LEAVES, WAITS
from outcrop.recovery import RunRecord
from outcrop.settings import LEAD
from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.context.segments import estimated, pieces

What = Literal["run", "turn", "summary", "result", "dispatch", "outcome", "event", "answer"]
# What a turn costs stands in `outcrop show`, what an agent called in its turns.
_PASSED_OVER = frozenset((RESERVED, SETTLED, WAITS, LEAVES, "turn"))


@dataclass(frozen=True)
class Step:
    """One thing that happened. `fields` is JSON: what is known of it, every text in short; `request` is what was sent,
    whole, where a model was asked."""

    number: int
    at: str
    agent: str
    what: What
    fields: Mapping[str, Any]
    request: bytes | None = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        told = {name: value for name, value in self.fields.items() if value not in (None, "", [], {})}
        return {"step": self.number, "at": self.at, "agent": self.agent, "what": self.what, **told}


def steps(run: RunRecord, until: str | int | None = None) -> Iterator[Step]:
    """The steps of a run, all of them or up to the end of a dispatch or to a number. Raises JournalError where the
    record is damaged."""
    for number, (at, agent, what, fields, request) in enumerate(_Walk(run).made(), 1):
        yield Step(number, at, agent, what, fields, request)
        if until == number or (what == "outcome" and agent == until):
            return


_Made = tuple[str, str, What, dict[str, Any], bytes | None]


class _Walk:
    """The walk through one run's record."""

    def __init__(self, run: RunRecord) -> None:
        self._run, self._blocks = run, Blocks(run.folder.exchanges)
        self._lead: Iterator[_Made] = iter(())
        if run.about.get("kind") == "run":
            self._lead = self._turns(LEAD)

    def made(self) -> Iterator[_Made]:
        open_ones: dict[str, None] = {}
        for record in self._run.records:
            if record.type == "start":
                open_ones[record.id] = None
            elif record.type == "end":
                open_ones.pop(record.id, None)
            yield from self._of(record)
        yield from self._lead
        unwritten = {outcome.dispatch_id: outcome for outcome in self._run.interrupted}
        for dispatch in open_ones:
            yield from self._turns(dispatch)
            if dispatch in unwritten:
                yield _outcome("", unwritten[dispatch])

    def _of(self, record: JournalRecord) -> Iterator[_Made]:
        body = record.body
        if record.type == "run":
            about = {"kind": body.get("kind"), "objective": _short(body.get("objective") or "")}
            data = [entry["path"] for entry in body.get("data", [])]
            yield record.at, LEAD, "run", {**about, **_listed("data", data), "pins": body.get("pins")}, None
        elif record.type == "start":
            yield record.at, record.id, "dispatch", _begun(body), None
        elif record.type == "end":
            yield from self._turns(record.id)
            yield _outcome(record.at, Outcome.model_validate(body))
        elif body["kind"] == "turn":
            yield from self._lead_turn()
        elif body["kind"] == "answer":
            # What the lead was sent last stands before it, also in a run that was cancelled amid a turn.
            yield from self._lead
            yield record.at, LEAD, "answer", _told(body["outcome"]), None
        elif body["kind"] == "lead_tool":
            if "dispatch_id" not in body:
                status = "error" if body.get("is_error") else "ok"
                said = {"tool": body.get("name"), "status": status, "text": _short(body["content"])}
                yield record.at, LEAD, "result", said, None
        elif body["kind"] not in _PASSED_OVER:
            said = {name: value for name, value in body.items() if name != "kind"}
            yield record.at, LEAD, "event", {"kind": body["kind"], "text": _short(wire.dumps(said).decode())}, None

    def _lead_turn(self) -> Iterator[_Made]:
        """The next turn of the lead, and the summaries before it."""
        for made in self._lead:
            yield made
            if made[2] == "turn" and UNUSED not in made[3]:
                return

    def _turns(self, agent: str) -> Iterator[_Made]:
        """What an agent was sent, what it answered, and what its calls gave; those of the lead are in the journal."""
        exchanges = read_exchanges(self._run.folder.exchanges / f"{agent}.jsonl", self._blocks)
        answers = {} if agent == LEAD else answers_in([each for each in exchanges if each.is_used])
        before: Counter[tuple[str, str]] = Counter()
        turn = 0
        for exchange in exchanges:
            request = ModelRequest.model_validate(wire.loads(exchange.request))
            is_turn = "purpose" not in exchange.about
            turn += is_turn and exchange.is_used
            texts = _texts_of_users(request)
            new = Counter(texts) - before if is_turn else Counter()
            before = Counter(texts) if is_turn else before
            fields = {
                **({"turn": turn} if is_turn else {}),
                **{name: value for name, value in exchange.about.items() if name == UNUSED},
                "model": exchange.about.get("model"),
                # Pins stand at both ends of a request.
                "sent": _sent(request, exchange, list(dict.fromkeys(text for text in texts if text in new))),
                **_said(exchange, answers, turn),
            }
            yield str(exchange.about.get("at", "")), agent, "turn" if is_turn else "summary", fields, exchange.request


def _texts_of_users(request: ModelRequest) -> list[tuple[str, str]]:
    """Segment and text of each block that was not said by the model itself."""
    roles = [message.role for message in request.messages for _ in message.content]
    found = list(pieces(request))
    return [piece for role, piece in zip(roles, found[len(found) - len(roles) :], strict=True) if role == "user"]


def _sent(request: ModelRequest, exchange: Exchange, new: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The size of a request by segment, and what is new in it."""
    usage = exchange.response.usage.prompt_tokens if exchange.response else 0
    segments = dict(exchange.about.get("segments") or estimated(request))
    told = [{"segment": segment, "text": _short(text)} for segment, text in new]
    return {"tokens": usage or sum(segments.values()), "is_counted": bool(usage), **_listed("new", told)}


def _said(exchange: Exchange, answers: Answers, turn: int) -> dict[str, Any]:
    response = exchange.response
    if response is None:
        return {"error": _short(str(exchange.error))}
    said = " ".join(block.text for block in response.content if isinstance(block, TextBlock))
    calls = []
    for use in response.tool_uses():
        call: dict[str, Any] = {"tool": use.name, "arguments": _short(wire.dumps(use.input).decode())}
        answer = answers.get((turn, use.id))
        if answer:
            call |= {"status": "error" if answer.is_error else "ok", "result": _short(answer.content)}
        calls.append(call)
    stopped = response.stop_reason if response.stop_reason not in ("tool_use", "end_turn") else None
    return {"text": _short(said), "calls": calls, "stop_reason": stopped}


def _begun(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "specialist": body["specialist"],
        "objective": _short(body["objective"]),
        **_listed("data", body.get("data") or []),
        "command": body.get("command"),
        "call": _short(wire.dumps(body["call"]).decode()) if body.get("call") else None,
        "context": _short(wire.dumps(body["context"]).decode()) if body.get("context") else None,
    }


def _outcome(at: str, outcome: Outcome) -> _Made:
    fields = {
        "specialist": outcome.specialist,
        **_told(outcome.model_dump(mode="json")),
        "results": _short(wire.dumps(outcome.results).decode()) if outcome.results else None,
    }
    return at, outcome.dispatch_id, "outcome", fields, None


def _told(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """What an outcome and an answer both have."""
    lists = ("findings", "blockers", "errors", "warnings")
    found: dict[str, Any] = {
        "status": outcome["status"],
        "duration_s": outcome["duration_s"],
        "summary": _short(outcome["summary"]),
    }
    for name in lists:
        found |= _listed(name, [_short(entry) for entry in outcome.get(name, [])])
    return found | _listed("artifacts", [artifact["path"] for artifact in outcome.get("artifacts", [])])


def _listed(name: str, entries: Sequence[Any]) -> dict[str, Any]:
    """A list, and how many more entries it has than are told."""
    more = len(entries) - limits.REPLAY_PIECES
    return {name: list(entries[: limits.REPLAY_PIECES]), **({f"more_{name}": more} if more > 0 else {})}


def _short(text: str) -> str:
    return shorten(" ".join(text[: 4 * limits.REPLAY_TEXT_CHARS].split()), limits.REPLAY_TEXT_CHARS)
