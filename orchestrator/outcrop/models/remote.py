"""A model behind a network: what the gateway needs of it to pace, pay for and repeat its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from outcrop_schemas.messages import ModelRequest, ModelResponse


class Hears(Protocol):
    """Takes what a server says about its rates. Names of headers are in lower case."""

    def heard(self, headers: Mapping[str, str]) -> None:
        """The call was taken."""

    def refused(self, retry_after: float | None, headers: Mapping[str, str]) -> None:
        """The call was refused for its rate (429)."""


class HearsNothing:
    """For whoever asks a model directly."""

    def heard(self, headers: Mapping[str, str]) -> None:
        pass

    def refused(self, retry_after: float | None, headers: Mapping[str, str]) -> None:
        pass


@runtime_checkable
class RemoteModel(Protocol):
    """A `Model` whose every attempt the gateway makes itself: reserved, paced, and repeated where that may help."""

    @property
    def name(self) -> str: ...

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        """The request with `max_tokens`, as it will be sent. Raises ModelError."""

    async def attempt(self, request: ModelRequest, hears: Hears) -> ModelResponse:
        """One call, never repeated here. Raises ModelError with what the failure took, as far as it is known."""
