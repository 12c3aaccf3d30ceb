"""How long an agent waits in the gateway: time that counts neither as silence nor against its dispatch."""

from __future__ import annotations

import time
from collections.abc import Callable


class QueueClock:
    """How long one agent has waited in the queue, and whether it is waiting now."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._seconds, self._since, self._on_change = 0.0, 0.0, on_change
        self.is_waiting = False
        self.last_answer_at = 0.0

    def start(self) -> None:
        """Waiting begins, or goes on."""
        if not self.is_waiting:
            self._since, self.is_waiting = time.monotonic(), True
            self._on_change()

    def stop(self) -> None:
        if self.is_waiting:
            self._seconds += time.monotonic() - self._since
            self.is_waiting = False
        self.last_answer_at = time.monotonic()
        self._on_change()

    def seconds(self) -> float:
        return self._seconds + (time.monotonic() - self._since if self.is_waiting else 0.0)
