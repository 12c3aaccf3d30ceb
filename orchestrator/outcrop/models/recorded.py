"""The model of a finished run: each agent is given the answers that were recorded, in its turn, whatever it asks.

What it asks is compared with what was asked then, after ids, times and places were put aside, which no two runs share.
A handle of what was put aside comes of its content, ids and all: a recorded call that names one is given that of now,
and one that names a dispatch the id that it has now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from outcrop.exchanges import Exchange, read_exchanges
from outcrop.runs import RunFolder
from outcrop_schemas import wire
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolUseBlock

LISTING = "list_files"
_DIFF_LINES = 30
_ID = re.compile(rb"\bd\d{4,}-[0-9a-f]{16}\b")
_HANDLE = re.compile(rb"\bread_result ([0-9a-f]{16})\b")
_PUT_ASIDE = (
    (re.compile(r"\bd(\d{4,})-[0-9a-f]{16}\b"), r"d\1"),
    (re.compile(r"\b\d{8}-\d{6}-\d{6}-[0-9a-f]{4}\b"), "RUN"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)"), "TIME"),
    (re.compile(r"\(\d+\.\d s\)"), "(SECONDS)"),
    (re.compile(r"(\b(?:read_result |handle\W{1,6}))[0-9a-f]{16}\b"), r"\1HANDLE"),
    (re.compile(r"((?:duration_s|seconds|elapsed_s)\W{1,4})\d+(?:\.\d+)?"), r"\1SECONDS"),
)


def comparable(request: bytes, places: Iterable[Path]) -> str:
    """A request without what no two runs share: ids, times, durations, these folders, and what else lies in them."""
    fields = wire.loads(request)
    _put_listings_aside(fields["messages"])
    text = json.dumps(fields, indent=1, ensure_ascii=False)
    for place in places:
        text = text.replace(json.dumps(str(place), ensure_ascii=False)[1:-1], "PLACE")
    for pattern, instead in _PUT_ASIDE:
        text = pattern.sub(instead, text)
    return text


def _put_listings_aside(messages: Iterable[dict[str, Any]]) -> None:
    """A listing tells of all files of a workspace, of which the run had some; what it says of tables stays."""
    blocks = [block for message in messages for block in message["content"]]
    asked = {block["id"] for block in blocks if block["type"] == "tool_use" and block["name"] == LISTING}
    for block in blocks:
        if block["type"] != "tool_result" or block["tool_use_id"] not in asked or block.get("is_error"):
            continue
        try:
            told = wire.loads(block["content"])
            block["content"] = wire.dumps({"tables": told["results"].get("tables")}).decode()
        except (ValueError, TypeError, LookupError, AttributeError):
            continue  # put aside or cut by a compaction: compared as it stands


def ordinal_of(agent_id: str) -> str:
    """`d0003` of `d0003-9f3a…`: what two runs of the same work share of a dispatch's id; `lead` of the lead."""
    return agent_id.partition("-")[0]


@dataclass(frozen=True)
class Difference:
    """The first turn in which an agent asked something else than then."""

    agent: str
    turn: int
    told: str


@dataclass
class RecordedModel:
    """The answers of the run in `folder`. `places` are folders that stand in requests and are no difference."""

    folder: RunFolder
    places: list[Path] = field(default_factory=list)
    differences: dict[str, Difference] = field(default_factory=dict)
    is_free = True
    searches_tools = True

    @property
    def name(self) -> str:
        return f"replay:{self.folder.run_id}"

    async def create(self, request: ModelRequest) -> ModelResponse:
        """Never asked itself: each agent has a player of its own."""
        raise ModelError("a recorded model answers agents by their ids only")

    def of_agent(self, agent_id: str) -> _Player:
        """Who answers one agent."""
        ordinal = ordinal_of(agent_id)
        found = sorted(self.folder.exchanges.glob(f"{ordinal}*.jsonl"))
        exchanges = [each for path in found if ordinal_of(path.stem) == ordinal for each in read_exchanges(path)]
        return _Player(self, ordinal, [each for each in exchanges if each.is_used])


class _Player:
    """Answers one agent from the record."""

    is_free = True

    def __init__(self, model: RecordedModel, agent: str, exchanges: list[Exchange]) -> None:
        self._model, self._agent, self._exchanges, self._turn = model, agent, exchanges, 0
        self._handles: dict[str, str] = {}
        self._dispatches: dict[str, str] = {}
        self.name = model.name

    async def create(self, request: ModelRequest) -> ModelResponse:
        """The answer of this turn. Raises ModelError where none is recorded, or an error was."""
        self._turn += 1
        if self._turn > len(self._exchanges):
            self._note("asked for a turn that is not recorded")
            raise ModelError(f"{self._agent} had {len(self._exchanges)} turns, a further one is not recorded")
        exchange = self._exchanges[self._turn - 1]
        self._learn_handles(exchange.request, request.as_bytes())
        then, now = (comparable(each, self._model.places) for each in (exchange.request, request.as_bytes()))
        if then != now:
            lines = unified_diff(then.splitlines(), now.splitlines(), "then", "now", lineterm="", n=1)
            self._note("\n".join(line for _, line in zip(range(_DIFF_LINES), lines, strict=False)))
        if exchange.response is None:
            raise exchange.error or ModelError("no answer is recorded")
        return self._with_handles(exchange.response)

    def _learn_handles(self, then: bytes, now: bytes) -> None:
        """Those of then with those of now that stand in the same places; and the dispatches of now by ordinal."""
        self._dispatches |= {ordinal_of(each): each for each in map(bytes.decode, _ID.findall(now))}
        of_then, of_now = (_HANDLE.findall(request) for request in (then, now))
        if len(of_then) == len(of_now):
            self._handles |= {old.decode(): new.decode() for old, new in zip(of_then, of_now, strict=True)}

    def _with_handles(self, response: ModelResponse) -> ModelResponse:
        content = [
            block.model_copy(update={"input": self._of_now(block.input)}) if isinstance(block, ToolUseBlock) else block
            for block in response.content
        ]
        return response.model_copy(update={"content": content})

    def _of_now(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("handle") in self._handles:
            arguments = {**arguments, "handle": self._handles[arguments["handle"]]}

        def named(found: re.Match[bytes]) -> bytes:
            name = found[0].decode()
            return self._dispatches.get(ordinal_of(name), name).encode()

        text = wire.dumps(arguments)
        made = _ID.sub(named, text)
        return arguments if made == text else dict(wire.loads(made))

    def _note(self, told: str) -> None:
        self._model.differences.setdefault(self._agent, Difference(self._agent, self._turn, told))
