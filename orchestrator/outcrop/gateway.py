"""The model gateway: the only way to a model, for the lead and for every specialist.

A specialist asks over an inherited socket, which is `channel.py`'s; the answer comes from the `Model` of its role.
Every exchange is recorded once, also one whose answer nobody used: a refusal after which another model was asked, a
call that was cancelled. Time spent waiting (for money, for a turn, before another attempt) counts neither as silence
nor against the limit of the dispatch.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from outcrop.asking import Listening, asked
from outcrop.blocks import BlockWriter
from outcrop.bookkeeping import NO_LEDGER, Ledger
from outcrop.exchanges import UNUSED, WHOLE_RESULTS, ExchangeWriter
from outcrop.fallback import Falling
from outcrop.models import Model, ModelTable
from outcrop.models.remote import HearsNothing, RemoteModel
from outcrop.pins import CurrentPins, check_pins, no_pins
from outcrop.queue_clock import QueueClock as QueueClock
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy, with_retries
from outcrop.room import Room
from outcrop.runs import RunFolder
from outcrop.telemetry import SILENT_RUN, SILENT_SPAN, RunSpans
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import JournalError, ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage

# Where nobody has counted.
CHARS_PER_TOKEN = 3
_log = logging.getLogger(__name__)


class Line:
    """One agent's line to its model: asks, records, counts."""

    def __init__(
        self,
        gateway: Gateway,
        agent_id: str,
        role: str,
        clock: QueueClock,
        pins: CurrentPins,
    ) -> None:
        self._gateway, self._agent_id, self._role, self._clock, self._pins = gateway, agent_id, role, clock, pins
        self._writer = ExchangeWriter(gateway.folder.exchanges / f"{agent_id}.jsonl", gateway.blocks)
        self._asked_at, self._bytes_before = 0.0, 0
        self._falling = Falling(gateway.models, role, agent_id)
        self._failed: list[wire.Json] = []
        # What went out last, and whether its answer is still to come.
        self._parameters: wire.Json = {}
        self._request_id: str | None = None
        self._is_out = False
        self._room = Room(gateway.models, role)
        self._span = SILENT_SPAN
        self.usage = Usage()
        self.turns = 0

    @property
    def model_name(self) -> str:
        """Who answers now."""
        return self._falling.name

    @property
    def warnings(self) -> list[str]:
        """What the outcome should say of how the model was asked."""
        notes = self._gateway.models.notes(self._role)
        return [*notes, *self._falling.warnings, *self._room.warnings(self.model_name)]

    @property
    def refused_because(self) -> str | None:
        """Why the ceiling let no further call through; None where it did not come to that."""
        return self._gateway.ledger.refusals.get(self._agent_id)

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn, recorded whatever comes of it. Raises ModelError, whatever a model raises; JournalError.

        A request that does not carry all current pins is not sent and not recorded: PinMissingError.
        """
        check_pins(request, self._pins())
        self._room.measure(request)
        self._asked_at, self._failed = time.monotonic(), []
        self._parameters, self._request_id, self._is_out = {}, None, False
        try:
            self._room.check(self.model_name, is_free=self._falling.is_free)
            response = await self._answered(request)
        except ModelError as error:
            self._record(request, error)
            raise
        except asyncio.CancelledError:
            self._record_cancelled(request)
            raise
        finally:
            self._clock.stop()
        self._record(request, response)
        self._room.answered(response)
        self.usage, self.turns = self.usage.plus(response.usage), self.turns + 1
        return response

    def _record_cancelled(self, request: ModelRequest) -> None:
        """What was sent and may be billed, though nobody waits for its answer any more."""
        if not (self._is_out or self._failed):
            return
        told = ModelError("the call was cancelled before it was answered", request_id=self._request_id)
        try:
            self._record(request, told, unused="cancelled")
        except JournalError as error:
            _log.warning("a cancelled call of %s is not recorded: %s", self._agent_id, error)

    def _record(self, request: ModelRequest, answer: ModelResponse | ModelError, unused: str | None = None) -> None:
        """`unused` says why no turn of the agent came of this answer."""
        purpose = request.purpose if request.purpose != "turn" else None
        about: wire.Json = {
            "failed_attempts": self._failed,
            "purpose": purpose,
            WHOLE_RESULTS: request.whole_results,
            "segments": self._room.segments,
            "parameters": self._parameters,
            UNUSED: unused,
            **self._falling.about(request),
        }
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
            self._record(request, response, unused="refused")
            self._failed, self._parameters = [], {}
        if not self._falling.fall(request, error):
            assert error is not None
            raise error
        self._bytes_before = 0
        return await self._from(self._falling.model, request)

    async def _from(self, model: Model, request: ModelRequest) -> ModelResponse:
        asked = self._falling.fitted(request)
        spent = partial(self._gateway.ledger.spent_by, self._agent_id)
        with self._gateway.spans.chat(self._agent_id, model, asked, spent) as self._span:
            if self._falling.is_remote:
                response = await self._from_afar(cast(RemoteModel, model), asked)
            else:
                response = await self._from_here(model, asked)
            self._span.answered(response)
            return response

    async def _from_here(self, model: Model, request: ModelRequest) -> ModelResponse:
        """A turn of a model in this process: one attempt, reserved where it is not free."""
        if not self._falling.is_free:
            most = self._gateway.models.parameters(self._role).max_tokens or limits.MODEL_OUTPUT_TOKENS
            request = request.model_copy(update={"max_tokens": min(request.max_tokens or most, most)})
        self._clock.start()
        reservation = await self._gateway.ledger.reserve(self._agent_id, self._role, self.model_name, request)
        known: Usage | None = Usage()
        try:
            async with self._gateway.governor.turn(self._role, None):
                self._begin()
                known = None
                if not self._falling.is_free:
                    self._parameters = {"max_tokens": request.max_tokens}
                self._is_out = True
                self._span.sent(self._parameters)
                response = await asked(model, self.model_name, request)
                self._is_out = False
            known = response.counted_usage()
            return response
        except ModelError as error:
            self._is_out = False
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
                self._goes_out(model, request)
                response = await asked(model, model.name, request, HearsNothing())
            else:
                async with self._gateway.governor.turn(self._role, model.name, new_bytes // CHARS_PER_TOKEN) as turn:
                    self._begin()
                    known, is_sent = None, True
                    self._goes_out(model, request)
                    response = await asked(model, model.name, request, Listening(turn, self.heard))
            self._is_out = False
            # Where the server did not count, nobody knows.
            known = response.counted_usage()
            return response
        except ModelError as error:
            self._is_out = False
            if is_sent:
                known = error.usage
            else:
                error.retryable = False
            self._failed.append(self._failure(model.name, error))
            self._span.attempt_failed(self._failed[-1])
            # The wait for the next attempt begins.
            self._clock.start()
            raise
        finally:
            reservation.on_attempt(known)

    def _goes_out(self, model: RemoteModel, request: ModelRequest) -> None:
        settings: Callable[[ModelRequest], wire.Json] | None = getattr(model, "settings", None)
        self._parameters = settings(request) if settings else {"max_tokens": request.max_tokens}
        self._request_id, self._is_out = None, True
        self._span.sent(self._parameters)

    def heard(self, headers: Mapping[str, str]) -> None:
        """The answer to what is out has begun."""
        if said := headers.get("request-id"):
            self._request_id = str(said)

    def _failure(self, model: str, error: ModelError) -> wire.Json:
        seconds = round(time.monotonic() - self._asked_at, 6)
        found: dict[str, Any] = {"model": model, "type": error.error_type, "message": str(error), "seconds": seconds}
        usage = error.usage.model_dump(exclude_defaults=True) if error.usage else None
        known = {"status": error.status, "request_id": error.request_id, "usage": usage}
        return {**found, **{name: value for name, value in known.items() if value is not None}}

    def _begin(self) -> None:
        self._clock.stop()
        self._asked_at = time.monotonic()

    def close(self) -> None:
        self._writer.close()


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
        spans: RunSpans = SILENT_RUN,
    ) -> None:
        self.spans = spans
        self.models, self.folder, self.governor, self.ledger = models, folder, governor, ledger
        self.retry = retry or RetryPolicy()
        self.blocks = BlockWriter(folder.exchanges)

    def line(
        self,
        agent_id: str,
        role: str,
        clock: QueueClock | None = None,
        pins: CurrentPins = no_pins,
    ) -> Line:
        """A line for one agent. `pins` gives the facts that every request of it must carry."""
        return Line(self, agent_id, role, clock or QueueClock(), pins)
