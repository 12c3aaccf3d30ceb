"""A Messages request as the offline model reads it: the work given, and the answer to every call made so far."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from outcrop_schemas import wire
from outcrop_schemas.messages import ModelRequest, TextBlock, ToolResultBlock, ToolUseBlock
from outcrop_specialists.brief import CONTEXT, DATA, OBJECTIVE, read_opening
from outcrop_specialists.completion import COMPLETE


@dataclass(frozen=True)
class Call:
    """A tool to be called, and with what."""

    name: str
    arguments: dict[str, Any]

    @property
    def key(self) -> bytes:
        return wire.canonical([self.name, self.arguments])


@dataclass(frozen=True)
class Answer:
    """What a call was answered with; `data` is empty where the text is no JSON object."""

    text: str
    data: dict[str, Any]
    is_error: bool

    @property
    def error(self) -> str:
        """The reason, where the answer is an error."""
        error = self.data.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return message if isinstance(message, str) and message else self.text.strip() or "no reason was given"

    @property
    def results(self) -> dict[str, Any]:
        found = self.data.get("results")
        return found if isinstance(found, dict) else {}

    @property
    def summary(self) -> str:
        found = self.data.get("summary")
        return found if isinstance(found, str) else ""

    def texts(self, key: str) -> list[str]:
        """A list of sentences under `key`."""
        found = self.data.get(key)
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def records(self, key: str) -> list[dict[str, Any]]:
        """A list of objects under `key`."""
        found = self.data.get(key)
        return [record for record in found if isinstance(record, dict)] if isinstance(found, list) else []


@dataclass
class Conversation:
    """The state of the work: nothing else is known between two turns."""

    objective: str
    data: list[str]
    context: dict[str, Any]
    calls_made: int = 0
    refused_completions: int = 0
    _answers: dict[bytes, Answer] = field(default_factory=dict)

    def answer(self, call: Call) -> Answer | None:
        """The answer to this very call, whenever it was made."""
        return self._answers.get(call.key)

    @classmethod
    def of(cls, request: ModelRequest) -> Conversation:
        conversation = cls(*_opening(request))
        open_calls: dict[str, ToolUseBlock] = {}
        for block in (block for message in request.messages for block in message.content):
            if isinstance(block, ToolUseBlock):
                conversation.calls_made += 1
                open_calls[block.id] = block
            elif isinstance(block, ToolResultBlock) and block.tool_use_id in open_calls:
                conversation._take(open_calls.pop(block.tool_use_id), block)
        return conversation

    def _take(self, call: ToolUseBlock, result: ToolResultBlock) -> None:
        if call.name == COMPLETE:
            self.refused_completions += result.is_error
        else:
            answer = Answer(result.content, _object(result.content), result.is_error)
            self._answers[Call(call.name, call.input).key] = answer


def _opening(request: ModelRequest) -> tuple[str, list[str], dict[str, Any]]:
    """Objective, data and context. Only blocks of these three kinds are read: the history of a lead may follow them."""
    first = request.messages[0].content if request.messages else []
    texts = [block.text for block in first if isinstance(block, TextBlock)]
    contexts = [text for text in texts if text.startswith(CONTEXT)]
    objective, data, _ = read_opening([text for text in texts if text.startswith((OBJECTIVE, DATA))])
    found = [_object(text.removeprefix(CONTEXT)) for text in contexts]
    paths = [path for path in data if path.strip()]
    return _without_blank_names(objective, paths), paths, found[0] if found else {}


def _without_blank_names(objective: str, paths: list[str]) -> str:
    """The words of a file name with blanks would be read as columns and values; the only file need not be named."""
    for said in (paths[0], PurePosixPath(paths[0]).name) if len(paths) == 1 else ():
        if len(said.split()) > 1:
            named = re.escape(said)
            objective = re.sub(rf"""["“]{named}["”]|'{named}'|(?<![\w/]){named}(?!\w)""", "the table", objective)
    return objective


def _object(text: str) -> dict[str, Any]:
    try:
        found = wire.loads(text)
    except ValueError:
        # Text that is no JSON is an answer too; it is quoted as it is.
        return {}
    return found if isinstance(found, dict) else {}


def string_of(record: Mapping[str, Any], key: str) -> str:
    """The text under `key`, empty where there is none."""
    found = record.get(key)
    return found if isinstance(found, str) else ""
