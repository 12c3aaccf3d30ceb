"""The record of what was asked of a model and what it answered: one file per agent, each message stored once.

A conversation grows by its end, so a request is kept as the number of messages it shares with the one before and the
messages that are new; its SHA-256 proves that it is put together again as it was sent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from outcrop.journal import now
from outcrop.spill import open_private
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError, ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse


@dataclass(frozen=True)
class Exchange:
    """One request, byte for byte, and its answer (None where the model failed)."""

    request: bytes
    response: ModelResponse | None
    is_intact: bool


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
    """All whole exchanges of a file, requests put together again. An absent file has none."""
    if not path.is_file():
        return []
    exchanges: list[Exchange] = []
    before: dict[str, Any] = {"messages": []}
    for line in path.read_bytes().split(b"\n"):
        try:
            stored = wire.loads(line)
        except ValueError:
            # The last line of an orchestrator that died while writing it.
            continue
        fields = {**before, **{key: stored[key] for key in ("system", "tools", "max_tokens") if key in stored}}
        fields["messages"] = before["messages"][: stored["keep"]] + stored["messages"]
        request = ModelRequest.model_validate(fields).as_bytes()
        response = ModelResponse.model_validate(stored["response"]) if "response" in stored else None
        exchanges.append(Exchange(request, response, sha256(request).hexdigest() == stored["sha256"]))
        before = fields
    return exchanges


def _shared(before: list[Any], after: list[Any]) -> int:
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count
