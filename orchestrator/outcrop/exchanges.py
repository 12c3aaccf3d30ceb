"""The record of what was asked of a model and what it answered: one file per agent, one line per turn.

A line names the pieces of its request by their hashes (`blocks.py`), and of the conversation only what is new since the
line before: so a long conversation costs as much as what is said in it. The SHA-256 of the whole request proves that it
is put together again as it was sent; the answer has one too. No header and no key is ever part of what is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from outcrop.blocks import Blocks, BlockWriter
from outcrop.journal import now
from outcrop.spill import open_private
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError, ModelError, model_error
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.regular import read_file
from outcrop_specialists.completion import first_fault

# Of a request, what every later one nearly always has too.
_CONSTANT = ("system", "tools")
_STORED = {"messages", *_CONSTANT}
# In `about`, of an answer that no turn of the agent came of: why.
UNUSED = "unused"
# Of a request in which results of the last turn were cut: those results as they were given, by the ids of their calls.
WHOLE_RESULTS = "whole_results"


@dataclass(frozen=True)
class Exchange:
    """One request, byte for byte, and its answer: a response, or the error of a model that failed.

    `about` has what else is known: `model`, `parameters`, `failed_attempts`, `seconds`, `request_id`,
    `fallback_from`; `unused` where no turn of the agent came of it.
    """

    request: bytes
    response: ModelResponse | None
    is_intact: bool
    error: ModelError | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_used(self) -> bool:
        """Whether the agent was given this answer."""
        return UNUSED not in self.about


class ExchangeWriter:
    """Appends the exchanges of one agent. `blocks` is shared by all agents of a run."""

    def __init__(self, path: Path, blocks: BlockWriter | None = None) -> None:
        self._path, self._blocks = path, blocks or BlockWriter(path.parent)
        self._descriptor: int | None = None
        self._before: list[dict[str, Any]] = []

    def record(
        self,
        request: ModelRequest,
        model: str,
        answer: ModelResponse | ModelError,
        seconds: float,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Write one exchange. `about` is JSON that goes along. Raises JournalError."""
        fields = request.as_json()
        sent = wire.dumps(fields)
        kept = _shared(self._before, fields["messages"])
        whole = answer.model_dump(mode="json") if isinstance(answer, ModelResponse) else None
        new = fields["messages"][kept:]
        (system, tools), stored = self._stored(
            [fields[name] for name in _CONSTANT], [*new, *([whole] if whole else [])]
        )
        line = {
            "at": now(),
            "model": model,
            "system": system,
            "tools": tools,
            "keep": kept,
            "messages": stored[: len(new)],
            "fields": {name: value for name, value in fields.items() if name not in _STORED},
            "sha256": sha256(sent).hexdigest(),
            "seconds": round(seconds, 6),
            **{name: value for name, value in (about or {}).items() if value},
        }
        if isinstance(answer, ModelResponse):
            line["response"], line["response_sha256"] = stored[-1], _hash(whole)
            line["request_id"] = (answer.model_extra or {}).get("request_id")
        else:
            line["error"] = {"type": answer.error_type, "message": str(answer), "retryable": answer.retryable}
            line["response_sha256"] = _hash(line["error"])
            line["request_id"] = answer.request_id
        self._before = fields["messages"]
        self._append(wire.dumps(line) + b"\n")

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _stored(
        self, pieces: Sequence[Any], messages: Sequence[Mapping[str, Any]]
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The hashes of these pieces, and messages with those of their blocks in their place. All are stored at once:
        each time a file is opened and written."""
        hashes = iter(self._blocks.put(*pieces, *(block for message in messages for block in message["content"])))
        of_pieces = list(islice(hashes, len(pieces)))
        return of_pieces, [{**each, "content": list(islice(hashes, len(each["content"])))} for each in messages]

    def _append(self, data: bytes) -> None:
        try:
            if self._descriptor is None:
                self._descriptor = open_private(self._path)
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise JournalError(f"{self._path}: an exchange could not be recorded: {error.strerror}") from error


def read_exchanges(path: Path, blocks: Blocks | None = None) -> list[Exchange]:
    """All whole exchanges of a file, requests put together again. An absent file has none.

    Raises JournalError for a line that is no exchange. What stands after the last newline is what an orchestrator
    was writing when it died, and is passed over.
    """
    blocks = blocks or Blocks(path.parent)
    try:
        lines = read_file(path).split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JournalError(f"{path}: the exchanges cannot be read: {error.strerror}") from error
    exchanges: list[Exchange] = []
    before: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            exchange, before = _read_line(line, before, blocks)
        except KeyError as error:
            raise JournalError(f"{path}: line {number} is damaged: it has no {error}") from error
        except (ValueError, TypeError, AttributeError) as error:
            reason = ": ".join(first_fault(error)) if isinstance(error, ValidationError) else str(error)
            raise JournalError(f"{path}: line {number} is damaged: {reason}") from error
        exchanges.append(exchange)
    return exchanges


def _read_line(line: bytes, before: list[dict[str, Any]], blocks: Blocks) -> tuple[Exchange, list[dict[str, Any]]]:
    """One exchange and the messages of its request. Raises ValueError, KeyError, TypeError where it is damaged."""
    stored = wire.loads(line)
    if not isinstance(stored, dict):
        raise ValueError("it is no JSON object")
    kept = stored["keep"]
    if not isinstance(kept, int) or not 0 <= kept <= len(before):
        raise ValueError(f"it keeps {kept!r} of {len(before)} messages")
    messages = before[:kept] + [_whole(message, blocks) for message in stored["messages"]]
    fields = {**{name: blocks.get(stored[name]) for name in _CONSTANT}, "messages": messages, **stored["fields"]}
    request = ModelRequest.model_validate(fields).as_bytes()
    answer = _whole(stored["response"], blocks) if "response" in stored else stored["error"]
    response = ModelResponse.model_validate(answer) if "response" in stored else None
    error = None if response else _error(**answer)
    is_intact = sha256(request).hexdigest() == stored["sha256"] and _hash(answer) == stored["response_sha256"]
    known = {"system", "tools", "keep", "messages", "fields", "sha256", "response", "response_sha256", "error"}
    about = {name: value for name, value in stored.items() if name not in known}
    return Exchange(request, response, is_intact, error, about), messages


def _whole(message: Mapping[str, Any], blocks: Blocks) -> dict[str, Any]:
    return {**message, "content": [blocks.get(name) for name in message["content"]]}


def _error(type: str, message: str, retryable: bool) -> ModelError:
    return model_error(type, message, retryable=retryable)


def _hash(answer: Any) -> str:
    """Covers the answer, be it a response or an error."""
    return sha256(wire.dumps(answer)).hexdigest()


def _shared(before: list[Any], after: list[Any]) -> int:
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count
