"""The model gateway: the only way to a model, for the lead and for every specialist.

A specialist asks over an inherited socket; the answer comes from the `Model` of its role. Every exchange is recorded
once. Time spent waiting for a free model call counts neither as silence nor against the limit of the dispatch.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

from pydantic import ValidationError

from outcrop.exchanges import ExchangeWriter
from outcrop.models import ModelTable
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
        """One turn. Raises ModelError."""
        await self._gateway.take_place(self._clock)
        model, started = self._gateway.models.of(self._role), time.monotonic()
        try:
            response = await model.create(request)
        except ModelError as error:
            self._writer.record(request, model.name, error, time.monotonic() - started)
            raise
        finally:
            self._gateway.give_place()
        self._writer.record(request, model.name, response, time.monotonic() - started)
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

    async def take_place(self, clock: QueueClock) -> None:
        """Wait for a free model call. Raises ModelError past the limit for waiting."""
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

    def give_place(self) -> None:
        self._places.release()


def _error(number: object, kind: str, message: str, retryable: bool) -> wire.Json:
    return {"id": number, "error": {"type": kind, "message": message, "retryable": retryable}}
