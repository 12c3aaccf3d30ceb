"""The model gateway: the only way to a model, for the lead and for every specialist.

A specialist asks over an inherited socket; the answer comes from the `Model` of its role. Every exchange is recorded
once. Time spent waiting (for money, for a turn, before another attempt) counts neither as silence nor against the limit
of the dispatch.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from outcrop.blocks import BlockWriter
from outcrop.bookkeeping import NO_LEDGER, Ledger
from outcrop.exchanges import ExchangeWriter
from outcrop.fallback import Falling
from outcrop.models import Model, ModelTable
from outcrop.models.remote import Hears, HearsNothing, RemoteModel
from outcrop.pins import CurrentPins, check_pins, no_pins
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy, with_retries
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
        """Waiting begins, or goes on."""
        if not self.is_waiting:
            self._since, self.is_waiting = time.monotonic(), True
            self._on_change()

    def stop(self) -> None:
        if self.is_waiting:
            self._seconds += time.monotonic() - self._since
            self.is_waiting = False
        self.last_answer_at = time.monotonic()
        self._on_change()

    def seconds(self) -> float:
        return self._seconds + (time.monotonic() - self._since if self.is_waiting else 0.0)


class Line:
    """One agent's line to its model: asks, records, counts."""

    def __init__(self, gateway: Gateway, agent_id: str, role: str, clock: QueueClock, pins: CurrentPins) -> None:
        self._gateway, self._agent_id, self._role, self._clock, self._pins = gateway, agent_id, role, clock, pins
        self._writer = ExchangeWriter(gateway.folder.exchanges / f"{agent_id}.jsonl", gateway.blocks)
        self._asked_at, self._bytes_before = 0.0, 0
        self._falling = Falling(gateway.models, role)
        self._failed: list[wire.Json] = []
        self.usage = Usage()
        self.turns = 0

    @property
    def model_name(self) -> str:
        """Who answers now."""
        return self._falling.name

    @property
    def warnings(self) -> list[str]:
        """What the outcome should say of how the model was asked."""
        return self._falling.warnings

    @property
    def refused_because(self) -> str | None:
        """Why the ceiling let no further call through; None where it did not come to that."""
        return self._gateway.ledger.refusals.get(self._agent_id)

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn, recorded whatever comes of it. Raises ModelError, whatever a model raises; JournalError.

        A request that does not carry all current pins is not sent and not recorded: PinMissingError.
        """
        check_pins(request, self._pins())
        self._asked_at, self._failed = time.monotonic(), []
        try:
            response = await self._answered(request)
        except ModelError as error:
            self._record(request, error)
            raise
        finally:
            self._clock.stop()
        self._record(request, response)
        self.usage, self.turns = self.usage.plus(response.usage), self.turns + 1
        return response

    def _record(self, request: ModelRequest, answer: ModelResponse | ModelError) -> None:
        about: wire.Json = {"failed_attempts": self._failed, **self._falling.about(request)}
        if not self._falling.is_free:
            about["parameters"] = self._gateway.models.parameters(self._role).of_a_call()
        self._writer.record(request, self.model_name, answer, time.monotonic() - self._asked_at, about)

    async def _answered(self, request: ModelRequest) -> ModelResponse:
        """The answer of the model, or of the one to fall back on where that gives none."""
        error: ModelError | None = None
        try:
            response = await self._from(self._falling.model, request)
        except ModelError as raised:
            error = raised
        else:
            if not self._falling.is_refused(response):
                return response
            # What the refusal took was taken all the same.
            self.usage = self.usage.plus(response.usage)
        if not self._falling.fall(request, error):
            assert error is not None
            raise error
        self._bytes_before = 0
        return await self._from(self._falling.model, request)

    async def _from(self, model: Model, request: ModelRequest) -> ModelResponse:
        asked = self._falling.fitted(request)
        if isinstance(model, RemoteModel):
            return await self._from_afar(model, asked)
        return await self._from_here(model, asked)

    async def _from_here(self, model: Model, request: ModelRequest) -> ModelResponse:
        """A turn of a model in this process: one attempt, reserved where it is not free."""
        if not self._falling.is_free:
            most = self._gateway.models.parameters(self._role).max_tokens
            request = request.model_copy(update={"max_tokens": request.max_tokens or most})
        self._clock.start()
        reservation = await self._gateway.ledger.reserve(self._agent_id, self._role, self.model_name, request)
        known: Usage | None = Usage()
        try:
            async with self._gateway.governor.turn(self._role, None):
                self._begin()
                known = None
                response = await _asked(model, self.model_name, request)
            known = response.usage
            return response
        except ModelError as error:
            known = known if known is not None else error.usage
            raise
        finally:
            reservation.on_attempt(known)

    async def _from_afar(self, model: RemoteModel, request: ModelRequest) -> ModelResponse:
        """A turn of a model behind a network: attempts until it answers or fails for good."""
        self._clock.start()
        prepared = await model.prepared(request)
        size = len(prepared.as_bytes())
        new = size - self._bytes_before if size >= self._bytes_before else size
        response = await with_retries(self._gateway.retry, lambda: self._attempt(model, prepared, new))
        # What this conversation held before is in the server's cache, which rates do not count.
        self._bytes_before = size
        return response

    async def _attempt(self, model: RemoteModel, request: ModelRequest, new_bytes: int) -> ModelResponse:
        """Reserve, wait for a turn, ask, settle. An attempt that was never sent takes nothing and is not repeated."""
        self._clock.start()
        reservation = await self._gateway.ledger.reserve(self._agent_id, self._role, model.name, request)
        usage, is_sent = Usage(), False
        known: Usage | None = usage
        try:
            if getattr(model, "waits_in_queue", False):
                # No pace and no place, and the clock runs on: it may take hours.
                known, is_sent = None, True
                response = await _asked(model, model.name, request, HearsNothing())
            else:
                async with self._gateway.governor.turn(self._role, model.name, new_bytes // _CHARS_PER_TOKEN) as turn:
                    self._begin()
                    known, is_sent = None, True
                    response = await _asked(model, model.name, request, turn)
            known = response.usage
            return response
        except ModelError as error:
            if is_sent:
                known = error.usage
            else:
                error.retryable = False
            self._failed.append(self._failure(model.name, error))
            # The wait for the next attempt begins.
            self._clock.start()
            raise
        finally:
            reservation.on_attempt(known)

    def _failure(self, model: str, error: ModelError) -> wire.Json:
        seconds = round(time.monotonic() - self._asked_at, 6)
        found: dict[str, Any] = {"model": model, "type": error.error_type, "message": str(error), "seconds": seconds}
        known = {"status": error.status, "request_id": error.request_id}
        return {**found, **{name: value for name, value in known.items() if value is not None}}

    def _begin(self) -> None:
        self._clock.stop()
        self._asked_at = time.monotonic()

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
            asked = {**message["request"], "tail_blocks": message.get("tail_blocks", 0)}
            response = await self.create(ModelRequest.model_validate(asked))
        except ModelError as error:
            return _error(number, error.error_type, str(error), error.retryable)
        except JournalError as error:
            return _error(number, "api_error", str(error), False)
        except (ValidationError, ValueError, KeyError, AttributeError) as error:
            return _error(number, "invalid_request_error", f"not a request of protocol 1: {error}", False)
        return {"id": number, "response": response.model_dump(mode="json")}


class Gateway:
    """Hands out lines; what they share is the ceiling, the turns and the rule for trying again."""

    def __init__(
        self,
        models: ModelTable,
        folder: RunFolder,
        governor: RateGovernor,
        *,
        ledger: Ledger = NO_LEDGER,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.models, self.folder, self.governor, self.ledger = models, folder, governor, ledger
        self.retry = retry or RetryPolicy()
        self.blocks = BlockWriter(folder.exchanges)

    def line(self, agent_id: str, role: str, clock: QueueClock | None = None, pins: CurrentPins = no_pins) -> Line:
        """A line for one agent. `pins` gives the facts that every request of it must carry."""
        return Line(self, agent_id, role, clock or QueueClock(), pins)


async def _asked(
    model: Model | RemoteModel, name: str, request: ModelRequest, hears: Hears | None = None
) -> ModelResponse:
    """The one boundary to a model's code, which may be anyone's: whatever it raises or gives, ModelError or a turn."""
    try:
        if isinstance(model, RemoteModel) and hears:
            answer: object = await model.attempt(request, hears)
        else:
            assert isinstance(model, Model)
            answer = await model.create(request)
    except ModelError as error:
        error.args = (_as_text(str(error)),)
        raise
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
