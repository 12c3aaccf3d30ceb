"""A run's log for reading: what happened, record by record, and which tools were called with what.

Everything comes from the journal and the exchanges, one record at a time, so that the first lines of a log of any
length are there at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from outcrop.exchanges import read_exchanges
from outcrop.playback import answers_in
from outcrop.records import LEAVES, WAITS
from outcrop.recovery import RunRecord
from outcrop.settings import CHAT, LEAD
from outcrop.text import shorten
from outcrop_schemas import wire
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.outcome import GOOD
from outcrop_specialists.completion import COMPLETE

_TEXT_CHARS = 300


@dataclass(frozen=True)
class Line:
    """One line of a log. `agent` is a dispatch id, or `lead`; `status` says how it ended, where it did."""

    at: str
    agent: str
    what: str
    text: str
    status: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by an agent, and what it was given back; `content` is None where no answer is recorded."""

    agent: str
    turn: int
    at: str
    name: str
    arguments: Mapping[str, Any]
    content: str | None
    is_error: bool

    @property
    def lacks_answer(self) -> bool:
        """Whether it should have been given something back; the call that ends the work is not."""
        return self.content is None and self.name != COMPLETE

    def line(self) -> Line:
        given = wire.dumps(self.arguments).decode()
        told = f" → {self.content}" if self.content is not None and self.is_error else ""
        status = "no answer" if self.lacks_answer else "error" if self.is_error else "ok"
        return Line(self.at, self.agent, f"calls {self.name}", shorten(given + told, _TEXT_CHARS), status)


def lines(
    run: RunRecord, *, dispatch: str | None = None, tool: str | None = None, errors: bool = False
) -> Iterator[Line]:
    """The lines of a run's log: of one dispatch with its tool calls, of the calls of one tool, of what went wrong."""
    if tool is not None:
        calls = (call for agent in agents(run, dispatch) for call in tool_calls(run, agent) if call.name == tool)
        yield from (call.line() for call in calls if call.is_error or call.lacks_answer or not errors)
        return
    for entry in run.records.entries:
        is_own = dispatch is None or entry.id == dispatch
        may_be_wrong = entry.type == "event" or (entry.type == "end" and entry.detail not in GOOD)
        if not is_own or (errors and not may_be_wrong):
            continue
        record = run.records.at(entry)
        if entry.type == "end" and dispatch is not None:
            yield from (call.line() for call in tool_calls(run, dispatch) if call.is_error or not errors)
        line = _line(record)
        if line is not None and not (errors and line.status in ("", *GOOD)):
            yield line


def agents(run: RunRecord, dispatch: str | None = None) -> list[str]:
    """The agents whose turns are recorded, the lead first, then dispatches as they began."""
    begun = [entry.id for entry in run.records.entries if entry.type == "start"]
    if dispatch is not None:
        return [dispatch]
    return [CHAT if run.about.get("kind") == CHAT else LEAD, *begun]


def tool_calls(run: RunRecord, agent: str) -> list[ToolCall]:
    """The calls of one agent in their order, each with what it was given back."""
    exchanges = [each for each in read_exchanges(run.folder.exchanges / f"{agent}.jsonl") if each.is_used]
    answers = answers_in(exchanges)
    found = []
    for turn, exchange in enumerate((each for each in exchanges if "purpose" not in each.about), 1):
        for use in exchange.response.tool_uses() if exchange.response else ():
            answer = answers.get((turn, use.id))
            told = (answer.content, answer.is_error) if answer else (None, False)
            found.append(ToolCall(agent, turn, str(exchange.about.get("at", "")), use.name, use.input, *told))
    return found


def _line(record: JournalRecord) -> Line | None:
    body = record.body
    if record.type == "run":
        kind = body.get("kind", "run")
        said = body.get("objective") or ""
        return Line(record.at, CHAT if kind == CHAT else LEAD, f"begins a {kind}", _short(said))
    if record.type == "start":
        return Line(record.at, record.id, f"begins: {body['specialist']}", _short(body["objective"]))
    if record.type == "end":
        said = body.get("summary") or "; ".join(body.get("errors", []))
        told = f"ends after {body['duration_s']:.1f} s"
        return Line(record.at, record.id, told, _short(said), body["status"])
    kind = body["kind"]
    if kind == "answer":
        outcome = body["outcome"]
        return Line(record.at, LEAD, "answers", _short(outcome["summary"]), outcome["status"])
    if kind == "chat_answer":
        answered = body["answered"]
        return Line(record.at, CHAT, "answers", _short(answered["answer"]), answered["status"])
    if kind == "chat_tool":
        return Line(record.at, CHAT, f"given back: {body['name']}", _short(body["content"]), "error" * _is_error(body))
    if kind == "turn":
        return Line(record.at, LEAD, f"turn {body['number']}", "")
    if kind == "lead_tool":
        told = body.get("content") or f"the outcome of {body.get('dispatch_id')}"
        return Line(record.at, LEAD, f"given back: {body['name']}", _short(told), "error" * bool(body.get("is_error")))
    text = "; ".join(body["damage"]) if kind == "recovered" else _event_text(body)
    is_wrong = kind == "recovered" or bool(body.get("is_error") or body.get("error"))
    if kind in (WAITS, LEAVES):
        told = "waits for a place" if kind == WAITS else "will not begin: it waited, and its caller gave up"
        return Line(record.at, record.id, told, _short(body.get("objective", "")))
    # A settled call names its agent in its own name: `AGENT/NUMBER`.
    agent = str(body.get("agent") or "") or str(body.get("call") or "").rpartition("/")[0] or LEAD
    return Line(record.at, agent, kind.replace("_", " "), _short(text), "error" * is_wrong)


def _is_error(body: Mapping[str, Any]) -> bool:
    return bool(body.get("is_error"))


def _event_text(body: Mapping[str, Any]) -> str:
    told = {
        name: value for name, value in body.items() if name not in ("kind", "agent") and value not in (None, "", [])
    }
    return ", ".join(
        f"{name} {value if isinstance(value, str) else wire.dumps(value).decode()}" for name, value in told.items()
    )


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), _TEXT_CHARS)


# --- export without what the tables hold ------------------------------------------------------------------------------

_KEPT = frozenset((
    "v", "type", "seq", "crc32c", "at", "kind", "status", "specialist", "dispatch_id", "run_id", "model", "launch",
    "sha256", "bytes", "rows", "columns", "chars", "duration_s", "started_at", "turns", "tokens", "usd", "call",
    "call_id", "agent", "role", "tool", "version", "is_error",
))  # fmt: skip
"""What is ours where it is one value; a list of that name may hold names of the user's."""
_KEPT_WHOLE = frozenset(("limits", "isolation", "usage", "models", "window", "exit"))
_OPAQUE = frozenset(("results", "claims", "figures", "pins", "arguments", "context", "gap", "evidence", "fields"))
"""What holds names and values of the user's tables."""


def redacted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without anything of the user's: its texts, results and names of files are told by their size."""
    return {"id": record["id"]} | {name: _redacted(value, name) for name, value in record.items() if name != "id"}


def _redacted(value: Any, key: str) -> Any:
    if value is None or isinstance(value, bool) or key in _KEPT_WHOLE:
        return value
    if key in _KEPT and not isinstance(value, dict | list):
        return value
    if key in _OPAQUE:
        return (
            f"[{len(value)} entries, {len(wire.dumps(value))} bytes]" if isinstance(value, dict | list) else "[value]"
        )
    if isinstance(value, dict):
        return {name: _redacted(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, "") for item in value]
    if isinstance(value, str):
        ending = PurePath(value).suffix if key == "path" else ""
        return f"[{len(value)} characters]{ending}"
    return "[number]"
