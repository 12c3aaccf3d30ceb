"""The `anthropic` model: one attempt at a time on the official SDK, always streamed. Repeating is the gateway's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from outcrop.models.anthropic.client import Client
from outcrop.models.anthropic.faults import (
    broken,
    is_status,
    request_id_of,
    retry_after,
    status_fault,
    unreadable,
    unsent,
)
from outcrop.models.anthropic.offers import Offers
from outcrop.models.anthropic.reading import Counted, response_of, usage_of
from outcrop.models.anthropic.secrecy import scrubbed
from outcrop.models.anthropic.sending import body_of
from outcrop.models.remote import Hears, HearsNothing
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ContextOverflowError, ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage
from outcrop_specialists.completion import first_fault

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream

Thinking = Literal["adaptive", False] | int
_WINDOW_EXCEEDED = "model_context_window_exceeded"
# What the SDK's accumulation raises for events that are not of their form.
_MISSHAPEN = (AttributeError, TypeError, LookupError)
_log = logging.getLogger(__name__)


class AnthropicModel:
    """A model of the Messages API by the name that its server knows.

    `max_tokens` bounds a turn. `thinking` is "adaptive", False or a budget of tokens; without it a model that can
    decide for itself does. `effort` is low, medium, high, xhigh or max. `base_url` and key are the SDK's environment
    variables where they are not given. The SDK is imported when the model is first asked.
    """

    searches_tools = True
    provider = "anthropic"

    def __init__(
        self,
        name: str,
        *,
        max_tokens: int | None = None,
        thinking: Thinking | None = None,
        effort: str | None = None,
        base_url: str | None = None,
    ) -> None:
        self._name, self._max_tokens, self._thinking, self._effort = name, max_tokens, thinking, effort
        self._client = Client(base_url)
        self._offers = Offers(name)

    @property
    def name(self) -> str:
        return self._name

    async def client(self) -> AsyncAnthropic:
        """The SDK's client, for what is asked beside turns. Raises ModelError where there is no key."""
        return await self._client.open()

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._client.close()

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One attempt, for whoever has no gateway. Raises ModelError."""
        return await self.attempt(await self.prepared(request), HearsNothing())

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        """The request with `max_tokens`: what it asks for or a default, at most what was set and the model has."""
        offer = await self._offers.get(await self.client())
        most = request.max_tokens or self._max_tokens or limits.MODEL_OUTPUT_TOKENS
        most = max(min(most, self._max_tokens or most), 1)
        return request.model_copy(update={"max_tokens": min(most, offer.max_tokens or most)})

    def params(self, request: ModelRequest) -> dict[str, Any]:
        """The parameters of a prepared request, without `stream`."""
        return {"model": self._name, **self.settings(request), **body_of(request)}

    def settings(self, request: ModelRequest) -> dict[str, Any]:
        """Those of the parameters that say how the model is to answer: bound, thinking, effort."""
        assert request.max_tokens is not None
        params: dict[str, Any] = {"max_tokens": request.max_tokens}
        if thinking := self._thinking_param(request.max_tokens):
            params["thinking"] = thinking
        if self._effort:
            params["output_config"] = {"effort": self._effort}
        return params

    async def attempt(self, request: ModelRequest, hears: Hears) -> ModelResponse:
        """One call, never repeated here. Raises ModelError."""
        client = await self.client()
        reader = _Reader(request, hears)
        try:
            async with asyncio.timeout(limits.MODEL_SECONDS):
                raw = await client.messages.create(**self.params(request), stream=True)
                async with _stream_of(raw) as stream:
                    return await reader.read(stream)
        except ModelError:
            raise
        except TimeoutError as error:
            raise reader.broke(f"the turn was not over after {limits.MODEL_SECONDS:.0f} s") from error
        except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
            # Whatever the SDK, its transport or a malformed stream raises: many of these are no error of the SDK's.
            fault = reader.fault_of(error)
            if fault.status == 404:
                fault = await self._offers.unknown(client, fault)
            # A traceback must not show what was taken out of the text.
            raise fault from None

    def _thinking_param(self, max_tokens: int) -> dict[str, Any] | None:
        if self._thinking is False:
            return {"type": "disabled"} if self._offers.known.thinks else None
        if isinstance(self._thinking, int):  # a budget
            return {"type": "enabled", "budget_tokens": min(self._thinking, max_tokens - 1)}
        if self._thinking == "adaptive" or self._offers.known.thinks:
            return {"type": "adaptive"}
        return None


class _Reader:
    """Reads the stream of one attempt, and knows what was seen of it when it broke."""

    def __init__(self, request: ModelRequest, hears: Hears) -> None:
        self._max_tokens, self._hears = request.max_tokens or 0, hears
        self._stream: AsyncMessageStream | None = None
        self._inputs: dict[int, list[str]] = {}

    async def read(self, stream: AsyncMessageStream) -> ModelResponse:
        """The whole turn. Raises ModelError for one that was cut short, and what the SDK raises."""
        self._stream = stream
        _told(lambda: self._hears.heard(stream.response.headers))
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                self._inputs.setdefault(event.index, []).append(event.delta.partial_json)
        message = await stream.get_final_message()
        if message.stop_reason is None:
            raise self.broke("the stream ended before the turn was over")
        if message.stop_reason != "max_tokens":
            self._check_inputs()
        try:
            response = response_of(message, self._request_id)
        except ValueError as error:
            raise self._unreadable(error, usage_of(message.to_dict(warnings=False).get("usage"))) from None
        if message.stop_reason == _WINDOW_EXCEEDED:
            raise ContextOverflowError(
                f"the answer did not fit into the model's window any more (request {self._request_id})",
                error_type=ContextOverflowError.kind,
                request_id=self._request_id,
                usage=response.counted_usage(),
            )
        return response

    @property
    def _request_id(self) -> str | None:
        return request_id_of(self._stream.request_id) if self._stream else None

    def fault_of(self, error: Exception) -> ModelError:
        """What was raised, as a ModelError."""
        if is_status(error):
            fault = status_fault(error)
            if fault.status == 429:
                headers: Mapping[str, str] = getattr(error, "response").headers  # noqa: B009
                _told(lambda: self._hears.refused(retry_after(headers), headers))
            elif fault.status is None:
                fault.usage = self._usage()
            return fault
        told = str(error) or type(error).__name__
        if self._stream:
            if isinstance(error, _MISSHAPEN):
                return self._unreadable(error)
            return self.broke(f"the stream broke: {type(error).__name__}: {told}")
        if ours := unsent(error):
            return ours
        cause = error.__cause__
        if cause is not None and "Connect" in type(cause).__name__:
            # Nothing was sent, so nothing was used.
            return broken(f"no connection to the Messages API: {told}: {cause}", usage=Usage())
        if isinstance(error, OSError) or cause is not None:
            return broken(f"the connection to the Messages API broke: {told}{f': {cause}' if cause else ''}")
        told = scrubbed(f"the request could not be sent: {type(error).__name__}: {told}")
        return ModelError(told, error_type="invalid_request_error", usage=Usage())

    def broke(self, what: str) -> ModelError:
        return broken(what, request_id=self._request_id, usage=self._usage())

    def _unreadable(self, error: Exception, usage: Usage | None = None) -> ModelError:
        """A turn that is not of its form, with its account where there is one."""
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ValidationError):
            reason = ": ".join(first_fault(error))
        told = f"the server gave a turn that cannot be read: {reason}"
        is_counted = usage and usage.prompt_tokens and usage.output_tokens
        return unreadable(told, request_id=self._request_id, usage=usage if is_counted else self._usage())

    def _usage(self) -> Usage | None:
        """The most that a broken turn can have taken: its whole prompt, and all the output that it was allowed."""
        try:
            said: Any = self._stream.current_message_snapshot.to_dict(warnings=False) if self._stream else {}
        except AssertionError:
            return None
        usage = usage_of(said.get("usage")).model_copy(update={"output_tokens": self._max_tokens})
        return usage if usage.prompt_tokens else None

    def _check_inputs(self) -> None:
        """The SDK reads half a JSON text without a word; half an input must never be acted on."""
        for parts in self._inputs.values():
            text = "".join(parts)
            if text and not isinstance(wire.loads(text), dict):
                raise ValueError("the input of a call is not an object")


def _stream_of(raw: Any) -> AsyncMessageStream:
    """The SDK's accumulation of a stream that has begun."""
    from anthropic import NOT_GIVEN
    from anthropic.lib.streaming import AsyncMessageStream

    return AsyncMessageStream(Counted(raw), NOT_GIVEN)  # type: ignore[arg-type]


def _told(tell: Callable[[], None]) -> None:
    """What a server says of its rates helps, and is never worth a turn that was paid for."""
    try:
        tell()
    except Exception:  # noqa: BLE001 - whatever a header makes of foreign code, the turn goes on
        _log.warning("what the server said of its rates could not be used", exc_info=True)
