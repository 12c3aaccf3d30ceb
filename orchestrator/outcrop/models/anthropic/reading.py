"""An answer of the Messages API as our own data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcrop_schemas.messages import ModelResponse, Usage

if TYPE_CHECKING:
    from anthropic.types import Message


def response_of(message: Message, request_id: str | None = None) -> ModelResponse:
    """A message of the SDK with all that the server said, `request_id` beside it. Raises ValueError for an odd one."""
    # What a server left out is not put in: the SDK's models know more fields than any one answer has.
    said: dict[str, Any] = message.to_dict(mode="json")
    said.pop("parsed_output", None)
    usage = usage_of(said.get("usage") or {})
    said = {key: value for key, value in said.items() if value is not None or key == "stop_reason"}
    extra = {"request_id": request_id} if request_id else {}
    return ModelResponse.model_validate({"stop_reason": None, **said, "usage": usage, **extra})


def usage_of(said: dict[str, Any]) -> Usage:
    """Tokens by our names; what a server does not count is none."""
    by_age = said.get("cache_creation") or {}
    counts = {**said, "cache_creation_1h_input_tokens": by_age.get("ephemeral_1h_input_tokens")}
    return Usage(**{name: counts.get(name) or 0 for name in Usage.model_fields})
