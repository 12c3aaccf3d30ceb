"""An answer of the Messages API as our own data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from outcrop.models.anthropic.secrecy import scrubbed_json
from outcrop_schemas.messages import ModelResponse, Usage

if TYPE_CHECKING:
    from anthropic.types import Message


# What the SDK sums up of a usage.
_FIGURES = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Counted:
    """The events of a stream, with a usage where a server that imitates the API sends none, or an odd one.

    The SDK's accumulation trusts that there is one, and would break on every turn of such a server.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    async def __aiter__(self) -> AsyncIterator[Any]:
        from anthropic.types import MessageDeltaUsage
        from anthropic.types import Usage as SdkUsage

        async for event in self._raw:
            if event.type == "message_start" and not _has_usage(event.message):
                event.message.usage = SdkUsage.construct()
            elif event.type == "message_delta" and not _has_usage(event):
                # How much was put out is not known then: what the start said of it was said before.
                event.usage = MessageDeltaUsage.construct(output_tokens=None)
            yield event


def response_of(message: Message, request_id: str | None = None) -> ModelResponse:
    """A message of the SDK with all that the server said, `request_id` beside it. Raises ValueError for an odd one."""
    # What a server left out is not put in: the SDK's models know more fields than any one answer has.
    said: dict[str, Any] = scrubbed_json(message.to_dict(mode="json", warnings=False))
    said.pop("parsed_output", None)
    usage = usage_of(said.get("usage"))
    said = {key: value for key, value in said.items() if value is not None or key == "stop_reason"}
    extra = {"request_id": request_id} if request_id else {}
    return ModelResponse.model_validate({"stop_reason": None, **said, "usage": usage, **extra})


def usage_of(said: object) -> Usage:
    """Tokens by our names; what a server does not count is none. An account with an odd figure says nothing at all."""
    counted = said if isinstance(said, dict) else {}
    by_age = counted.get("cache_creation")
    for_an_hour = by_age.get("ephemeral_1h_input_tokens") if isinstance(by_age, dict) else None
    counts = {**counted, "cache_creation_1h_input_tokens": for_an_hour}
    found = {name: _count(counts.get(name)) for name in Usage.model_fields}
    known = {name: value for name, value in found.items() if value is not None}
    return Usage(**known) if len(known) == len(found) else Usage()


def _count(value: object) -> int | None:
    """A number of tokens; None for what is no such number."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 else None


def _has_usage(event: Any) -> bool:
    """Whether there is an account, and all of its figures are such."""
    usage = getattr(event, "usage", None)
    return hasattr(usage, "to_dict") and all(_count(getattr(usage, name, None)) is not None for name in _FIGURES)
