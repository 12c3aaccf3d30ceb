"""What a pool has done so far: counts, waiting and working time. Kept in a bounded room."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any

from outcrop.events import DispatchEnded, DispatchStarted, Event, Watcher
from outcrop.order import Order
from outcrop_schemas import limits
from outcrop_schemas.errors import PoolBusyError
from outcrop_schemas.outcome import Outcome


@dataclass
class Statistics:
    """Fed by the calls of a pool and by what its dispatches tell. Times are seconds; percentiles are nearest-rank ones
    of the last dispatches."""

    calls: int = 0
    refused: int = 0
    waiting: int = 0
    running: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    _began: float = field(default_factory=time.monotonic)
    _durations: deque[float] = field(default_factory=lambda: deque(maxlen=limits.DURATIONS_KEPT))
    _waits: deque[float] = field(default_factory=lambda: deque(maxlen=limits.DURATIONS_KEPT))

    def take(self, event: Event) -> None:
        """Learn of an event of the run."""
        if isinstance(event, DispatchStarted):
            self.running += 1
        elif isinstance(event, DispatchEnded):
            self.running -= 1
            self.statuses[event.outcome.status] += 1
            self._durations.append(event.outcome.duration_s)

    def waited(self, seconds: float) -> None:
        """Learn how long a call waited for a worker."""
        self._waits.append(seconds)

    def as_json(self) -> dict[str, Any]:
        up = time.monotonic() - self._began
        ended = self.statuses.total()
        return {
            "calls": self.calls,
            "refused": self.refused,
            "waiting": self.waiting,
            "running": self.running,
            "ended": ended,
            "statuses": dict(sorted(self.statuses.items())),
            "uptime_s": round(up, 3),
            "per_second": round(ended / up, 3) if up else 0.0,
            "duration_s": _percentiles(self._durations),
            "wait_s": _percentiles(self._waits),
        }


class Call:
    """One call of `dispatch`: counted as waiting until its dispatch begins, within a deadline in seconds from now."""

    # Ten thousand of them may wait.
    __slots__ = ("_began", "_is_waiting", "_statistics", "_until", "_watcher", "outcome")

    def __init__(self, statistics: Statistics, deadline: float | None, watcher: Watcher) -> None:
        self._statistics, self._watcher = statistics, watcher
        self._began, self._is_waiting = time.monotonic(), False
        self._until = None if deadline is None else self._began + deadline
        self.outcome: Outcome | None = None
        """Of its dispatch when that has ended, also by being cancelled."""

    def bound(self, order: Order) -> Order:
        """The order within the deadline, watched."""
        return replace(order, watcher=self._take, until=self._until)

    def __enter__(self) -> None:
        self._statistics.calls += 1
        self._statistics.waiting += 1
        self._is_waiting = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._statistics.refused += kind is PoolBusyError
        self._wait_no_more()

    def _take(self, event: Event) -> None:
        if isinstance(event, DispatchStarted) and self._is_waiting:
            self._statistics.waited(time.monotonic() - self._began)
            self._wait_no_more()
        elif isinstance(event, DispatchEnded):
            self.outcome = event.outcome
        self._watcher(event)

    def _wait_no_more(self) -> None:
        self._statistics.waiting -= self._is_waiting
        self._is_waiting = False


def _percentiles(values: deque[float]) -> dict[str, float] | None:
    ordered = sorted(values)
    if not ordered:
        return None
    return {f"p{wanted}": round(ordered[max(0, -(-wanted * len(ordered) // 100) - 1)], 6) for wanted in (50, 95, 99)}
