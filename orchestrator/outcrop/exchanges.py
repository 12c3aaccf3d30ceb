"""The record of what was asked of a model and what it answered: one file per agent, each message stored once.

A conversation grows by its end, so a request is kept as the number of messages it shares with the one before and the
messages that are new; its SHA-256 proves that it is put together again as it was sent. The answer has one too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from outcrop.journal import now
from outcrop.spill import open_private
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError, ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_specialists.completion import first_fault


@dataclass(frozen=True)
class Exchange:
    """One request, byte for byte, and its answer: a response, or the error of a model that failed."""

    request: bytes
    response: ModelResponse | None
    is_intact: bool
    error: ModelError | None = None


class ExchangeWriter:
    """Appends the exchanges of one agent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._before: dict[str, Any] = {"messages": []}

    def record(self, request: ModelRequest, model: str, answer: ModelResponse | ModelError, seconds: float) -> None:
        """Write one exchange. Raises JournalError."""
        sent = request.as_bytes()
        fields = wire.loads(sent)
        kept = _shared(self._before["messages"], fields["messages"])
        line = {
            "at": now(),
            "model": model,
            "keep": kept,
            "messages": fields["messages"][kept:],
            **{key: value for key, value in fields.items() if key != "messages" and value != self._before.get(key)},
            "sha256": sha256(sent).hexdigest(),
            "seconds": seconds,
        }
        if isinstance(answer, ModelResponse):
            line["response"] = answer.model_dump(mode="json")
        else:
            line["error"] = {"type": answer.error_type, "message": str(answer), "retryable": answer.retryable}
        line["response_sha256"] = _answer_hash(line)
        self._before = fields
        self._append(wire.dumps(line) + b"\n")

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, data: bytes) -> None:
        try:
            if self._descriptor is None:
                self._descriptor = open_private(self._path)
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise JournalError(f"{self._path}: an exchange could not be recorded: {error.strerror}") from error


def read_exchanges(path: Path) -> list[Exchange]:
    """All whole exchanges of a file, requests put together again. An absent file has none.

    Raises JournalError for a line that is no exchange. What stands after the last newline is what an orchestrator
    was writing when it died, and is passed over.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JournalError(f"{path}: the exchanges cannot be read: {error.strerror}") from error
    exchanges: list[Exchange] = []
    before: dict[str, Any] = {"messages": []}
    for number, line in enumerate(lines, 1):
        try:
            exchange, before = _read_line(line, before)
        except KeyError as error:
            raise JournalError(f"{path}: line {number} is damaged: it has no {error}") from error
        except (ValueError, TypeError, AttributeError) as error:
            reason = ": ".join(first_fault(error)) if isinstance(error, ValidationError) else str(error)
            raise JournalError(f"{path}: line {number} is damaged: {reason}") from error
        exchanges.append(exchange)
    return exchanges


def _read_line(line: bytes, before: dict[str, Any]) -> tuple[Exchange, dict[str, Any]]:
    """One exchange and the fields of its request. Raises ValueError, KeyError, TypeError where it is damaged."""
    stored = wire.loads(line)
    if not isinstance(stored, dict):
        raise ValueError("it is no JSON object")
    fields = {**before, **{key: stored[key] for key in ("system", "tools", "max_tokens") if key in stored}}
    kept = stored["keep"]
    if not isinstance(kept, int) or not 0 <= kept <= len(before["messages"]):
        raise ValueError(f"it keeps {kept!r} of {len(before['messages'])} messages")
    fields["messages"] = before["messages"][:kept] + stored["messages"]
    request = ModelRequest.model_validate(fields).as_bytes()
    response = ModelResponse.model_validate(stored["response"]) if "response" in stored else None
    error = None if response else _error(**stored["error"])
    is_intact = sha256(request).hexdigest() == stored["sha256"] and _answer_hash(stored) == stored["response_sha256"]
    return Exchange(request, response, is_intact, error), fields


def _error(type: str, message: str, retryable: bool) -> ModelError:
    return ModelError(message, retryable=retryable, error_type=type)


def _answer_hash(line: dict[str, Any]) -> str:
    """Covers the answer, be it a response or an error."""
    return sha256(wire.dumps(line["response"] if "response" in line else line["error"])).hexdigest()


def _shared(before: list[Any], after: list[Any]) -> int:
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count
