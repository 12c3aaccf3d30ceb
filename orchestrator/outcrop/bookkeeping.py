"""What the gateway needs of whoever keeps its accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from outcrop_schemas import wire
from outcrop_schemas.messages import ModelRequest, Usage


class Reservation(Protocol):
    """What one attempt may take of a ceiling."""

    def on_attempt(self, usage: Usage | None) -> None:
        """The attempt ended and took this: nothing where the server refused it, the worst case where it is None."""


class Ledger(Protocol):
    """Holds the ceiling. Asked before every attempt, the repeated ones too."""

    @property
    def refusals(self) -> Mapping[str, str]:
        """Why no further call was let through, by agent."""

    def spent_by(self, agent_id: str) -> wire.Json | None:
        """What one agent spent; None where nothing of it is kept."""

    async def reserve(self, agent_id: str, role: str, model: str, request: ModelRequest) -> Reservation:
        """Room for the worst case of this call; may wait for others to settle. Raises ModelError where none is."""


class _NoLedger:
    """No ceiling."""

    refusals: Mapping[str, str] = {}

    def spent_by(self, agent_id: str) -> wire.Json | None:
        return None

    async def reserve(self, agent_id: str, role: str, model: str, request: ModelRequest) -> Reservation:
        return self

    def on_attempt(self, usage: Usage | None) -> None:
        pass


NO_LEDGER: Ledger = _NoLedger()
