"""The model gateway: the only way to a model, for the lead and for every specialist.

A specialist asks over an inherited socket; the answer comes from the `Model` of its role. Every exchange is recorded
once. Time spent waiting for a free model call counts neither as silence nor against the limit of the dispatch.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import ValidationError

from outcrop.exchanges import ExchangeWriter
from outcrop.models import Model, ModelTable
from outcrop.runs import RunFolder
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import JournalError, ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage

_CHARS_PER_TOKEN = 3


class QueueClock:
    """How long one agent has waited in the queue, and whether it is waiting now."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._seconds, self._since, self._on_change = 0.0, 0.0, on_change
        self.is_waiting = False
        self.last_answer_at = 0.0

    def start(self) -> None:
        self._since, self.is_waiting = time.monotonic(), True
        self._on_change()

    def stop(self) -> None:
        self._seconds += time.monotonic() - self._since
        self.is_waiting = False
        self.last_answer_at = time.monotonic()
        self._on_change()

    def seconds(self) -> float:
        return self._seconds + (time.monotonic() - self._since if self.is_waiting else 0.0)


class Line:
    """One agent's line to its model: asks, records, counts."""

    def __init__(self, gateway: Gateway, agent_id: str, role: str, clock: QueueClock) -> None:
        self._gateway, self._role, self._clock = gateway, role, clock
        self._writer = ExchangeWriter(gateway.folder.exchanges / f"{agent_id}.jsonl")
        self.model_name = gateway.models.of(role).name
        self.usage = Usage()
        self.turns = 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn, recorded whatever comes of it. Raises ModelError, whatever a model raises; JournalError."""
        started = time.monotonic()
        try:
            async with self._gateway.place(self._clock):
                started = time.monotonic()
                response = await _asked(self._gateway.models.of(self._role), self.model_name, request)
        except ModelError as error:
            self._writer.record(request, self.model_name, error, time.monotonic() - started)
            raise
        self._writer.record(request, self.model_name, response, time.monotonic() - started)
        self.usage, self.turns = self.usage.plus(response.usage), self.turns + 1
        return response

    async def serve(self, end: socket.socket) -> None:
        """Answer what comes over a specialist's channel until it closes."""
        reader, writer = await asyncio.open_unix_connection(sock=end, limit=limits.MODEL_LINE_BYTES)
        try:
            while line := await reader.readline():
                writer.write(wire.dumps(await self._answer(line)) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.LimitOverrunError):
            # The specialist is gone, or sent a line beyond the limit: the channel ends, its outcome says the rest.
            return
        finally:
            self._writer.close()
            writer.close()

    def close(self) -> None:
        self._writer.close()

    async def _answer(self, line: bytes) -> wire.Json:
        number = None
        try:
            message = wire.loads(line)
            number = message.get("id")
            if "count_tokens" in message:
                request = ModelRequest.model_validate(message["count_tokens"])
                return {"id": number, "response": {"input_tokens": len(request.as_bytes()) // _CHARS_PER_TOKEN}}
            response = await self.create(ModelRequest.model_validate(message["request"]))
        except ModelError as error:
            return _error(number, error.error_type, str(error), error.retryable)
        except JournalError as error:
            return _error(number, "api_error", str(error), False)
        except (ValidationError, ValueError, KeyError, AttributeError) as error:
            return _error(number, "invalid_request_error", f"not a request of protocol 1: {error}", False)
        return {"id": number, "response": response.model_dump(mode="json")}


class Gateway:
    """Bounds how many model calls go on at a time and hands out lines."""

    def __init__(self, models: ModelTable, folder: RunFolder, places: asyncio.Semaphore) -> None:
        self.models, self.folder, self._places = models, folder, places

    def line(self, agent_id: str, role: str, clock: QueueClock | None = None) -> Line:
        return Line(self, agent_id, role, clock or QueueClock())

    @asynccontextmanager
    async def place(self, clock: QueueClock) -> AsyncIterator[None]:
        """Wait for a free model call and hold it. Raises ModelError past the limit for waiting."""
        clock.start()
        try:
            async with asyncio.timeout(limits.QUEUED_MODEL_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            raise ModelError(
                f"no model call became free in {limits.QUEUED_MODEL_SECONDS:.0f} s",
                retryable=True,
                error_type="overloaded_error",
            ) from None
        finally:
            clock.stop()
        try:
            yield
        finally:
            self._places.release()


async def _asked(model: Model, name: str, request: ModelRequest) -> ModelResponse:
    """The one boundary to a model's code, which may be anyone's: whatever it raises or gives, ModelError or a turn."""
    try:
        answer = await model.create(request)
    except ModelError as error:
        if _as_text(str(error)) == str(error):
            raise
        raise ModelError(_as_text(str(error)), retryable=error.retryable, error_type=error.error_type) from error
    except Exception as error:
        raise ModelError(_as_text(f"model {name!r} raised {type(error).__name__}: {error}")) from error
    return _checked(name, answer)


def _checked(name: str, answer: object) -> ModelResponse:
    """A turn as pure JSON, just as it will be read from its record. Raises ModelError."""
    if not isinstance(answer, ModelResponse):
        raise ModelError(f"model {name!r} gave a {type(answer).__name__}, not a ModelResponse")
    try:
        # Not in pydantic's own JSON mode: it replaces lone surrogates in keys, and says nothing.
        turn = ModelResponse.model_validate(wire.loads(wire.dumps(answer.model_dump())))
    except (ValueError, TypeError) as error:
        raise ModelError(_as_text(f"model {name!r} gave a turn that cannot be recorded: {error}")) from error
    ids = [call.id for call in turn.tool_uses()]
    if len(set(ids)) < len(ids):
        raise ModelError(f"model {name!r} gave a turn with two calls of one id; each call needs its own: {ids}")
    return turn


def _as_text(text: str) -> str:
    """A message as it can be recorded and sent, whatever a foreign exception holds."""
    return text.encode("utf-8", "backslashreplace").decode()


def _error(number: object, kind: str, message: str, retryable: bool) -> wire.Json:
    return {"id": number, "error": {"type": kind, "message": message, "retryable": retryable}}
