"""When one dispatch must have its outcome: timeout + grace + 1 s, or grace + 0.5 s after it was cancelled."""

from __future__ import annotations

import time

from outcrop.gateway import QueueClock
from outcrop.order import Order

# What a start may take of the second, and by when the rest must be done: verifying, capping. What is then left of it is
# for the record.
_START_SECONDS = 0.4
_SETTLED_SECONDS = 0.5
# The same of the half second. A start is nearly always over by then, and what was started is ended in its own way.
_CANCELLED_START_SECONDS = 0.1
_CANCELLED_SETTLED_SECONDS = 0.2


class Due:
    """The clock of one dispatch. It begins when it is made, again with `begin()`; queue time of `clock` is apart."""

    def __init__(self, order: Order, clock: QueueClock) -> None:
        self._timeout, self._grace, self._clock = order.timeout_seconds, order.grace_seconds, clock
        self._cancelled_at: float | None = None
        self.begin()

    def begin(self) -> None:
        self._began_at = time.monotonic()

    def cancel(self) -> None:
        self._cancelled_at = self._cancelled_at or time.monotonic()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled_at is not None

    @property
    def latest_start(self) -> float:
        """From when on the wall clock counts, at the latest (monotonic seconds)."""
        return self._began_at + _START_SECONDS

    def passed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began_at

    def seconds_to_start(self) -> float:
        """How long the start may still take."""
        if self._cancelled_at is not None:
            return max(self._cancelled_at + _CANCELLED_START_SECONDS - time.monotonic(), 0)
        return max(self._timeout + _START_SECONDS - self.passed(), 0)

    def seconds_to_settle(self) -> float:
        """How long what comes after the process may still take."""
        due = self._began_at + self._timeout + self._clock.seconds() + _SETTLED_SECONDS
        if self._cancelled_at is not None:
            due = min(due, self._cancelled_at + _CANCELLED_SETTLED_SECONDS)
        return max(due + self._grace - time.monotonic(), 0)
