"""The one boundary to a model's code, which may be anyone's: what comes of a call is a turn or a ModelError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from outcrop.models import Model
from outcrop.models.remote import Hears, RemoteModel
from outcrop_schemas import wire
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage


class Listening:
    """Hears for the pace of a model, and for the record of the line that asks it."""

    def __init__(self, turn: Hears, heard: Callable[[Mapping[str, str]], None]) -> None:
        self._turn, self._heard = turn, heard

    def heard(self, headers: Mapping[str, str]) -> None:
        self._heard(headers)
        self._turn.heard(headers)

    def refused(self, retry_after: float | None, headers: Mapping[str, str]) -> None:
        self._turn.refused(retry_after, headers)


async def asked(
    model: Model | RemoteModel, name: str, request: ModelRequest, hears: Hears | None = None
) -> ModelResponse:
    """Ask once, a model behind a network with what `hears` of its rates. Raises ModelError, whatever the model raises
    or gives that is no turn."""
    try:
        if hears:
            answer: object = await cast(RemoteModel, model).attempt(request, hears)
        else:
            answer = await cast(Model, model).create(request)
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
        told = _as_text(f"model {name!r} gave a turn that cannot be recorded: {error}")
        raise ModelError(told, usage=answer.counted_usage()) from error
    ids = [call.id for call in turn.tool_uses()]
    if len(set(ids)) < len(ids):
        told = f"model {name!r} gave a turn with two calls of one id; each call needs its own: {ids}"
        raise ModelError(told, usage=turn.counted_usage())
    # An account with less than nothing in it is none.
    return turn.model_copy(update={"usage": Usage()}) if min(turn.usage.model_dump().values()) < 0 else turn


def _as_text(text: str) -> str:
    """A message as it can be recorded and sent, whatever a foreign exception holds."""
    return text.encode("utf-8", "backslashreplace").decode()
