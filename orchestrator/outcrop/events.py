"""What a run tells a watcher while it goes on. A watcher never decides anything."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outcrop_schemas.outcome import Outcome


@dataclass(frozen=True)
class DispatchWaiting:
    """A dispatch waits for a free worker; those that find one at once are not told of."""

    dispatch_id: str
    specialist: str
    objective: str


@dataclass(frozen=True)
class DispatchLeft:
    """A dispatch that waited will not begin: its caller was cancelled, or its deadline passed."""

    dispatch_id: str


@dataclass(frozen=True)
class DispatchStarted:
    """A specialist process has been started for a dispatch."""

    dispatch_id: str
    specialist: str
    objective: str


@dataclass(frozen=True)
class DispatchProgress:
    """One decoded progress line; its text is the specialist's own and not to be trusted on a terminal."""

    dispatch_id: str
    message: dict[str, Any]


@dataclass(frozen=True)
class DispatchEnded:
    """A dispatch has its outcome; the last event of it."""

    outcome: Outcome


@dataclass(frozen=True)
class LeadTurn:
    """The lead is asked for its n-th turn; what it read, wrote and spent before."""

    number: int
    tokens: int = 0
    usd: str = "0"


@dataclass(frozen=True)
class GapAsked:
    """The user is asked whether a package may be installed; until `GapDecided` the terminal is theirs."""

    dispatch_id: str
    requirement: str


@dataclass(frozen=True)
class GapDecided:
    """The user has answered."""

    dispatch_id: str
    requirement: str


_log = logging.getLogger(__name__)
Event = (
    DispatchWaiting
    | DispatchLeft
    | DispatchStarted
    | DispatchProgress
    | DispatchEnded
    | LeadTurn
    | GapAsked
    | GapDecided
)
Watcher = Callable[[Event], None]


def harmless(watcher: Watcher) -> Watcher:
    """A watcher whose faults are logged and change nothing."""
    if watcher is nobody:
        return nobody

    def tell(event: Event) -> None:
        try:
            watcher(event)
        except Exception:  # noqa: BLE001 - the boundary to code of the user's
            _log.exception("a watcher failed on %s", type(event).__name__)

    return tell


def nobody(event: Event) -> None:
    """A watcher that does not watch."""


def both(one: Watcher, other: Watcher) -> Watcher:
    """Two watchers, each told of everything."""
    if nobody in (one, other):
        return one if other is nobody else other

    def tell(event: Event) -> None:
        one(event)
        other(event)

    return tell
