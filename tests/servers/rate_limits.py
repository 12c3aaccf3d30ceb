"""A server's rate limit on requests, in the three ways that servers count, with the headers that say so."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Literal


class RequestLimit:
    """At most `requests` in `seconds`: a window that begins anew, the seconds just past, or a bucket that refills."""

    def __init__(
        self,
        requests: int,
        seconds: float,
        style: Literal["window", "sliding", "bucket"] = "window",
        *,
        tells: bool = True,
    ) -> None:
        self._most, self._seconds, self._style, self._tells = requests, seconds, style, tells
        self._taken: deque[float] = deque()
        self._window_ends, self._level, self._level_at = 0.0, float(requests), 0.0

    def take(self) -> tuple[float | None, dict[str, str]]:
        """Count one request: None, or the seconds after which one would be taken; and the headers."""
        now = time.monotonic()
        left, whole_in, next_in = getattr(self, f"_{self._style}")(now)
        taken = left >= 1
        if taken:
            self._count(now)
            left, whole_in, _ = getattr(self, f"_{self._style}")(now)
        return None if taken else next_in, self._headers(left, whole_in) if self._tells else {}

    def _count(self, now: float) -> None:
        self._taken.append(now)
        self._level -= 1

    def _window(self, now: float) -> tuple[float, float, float]:
        if now >= self._window_ends:
            self._taken.clear()
            self._window_ends = now + self._seconds
        ends_in = self._window_ends - now
        return self._most - len(self._taken), ends_in, ends_in

    def _sliding(self, now: float) -> tuple[float, float, float]:
        while self._taken and self._taken[0] <= now - self._seconds:
            self._taken.popleft()
        if not self._taken:
            return self._most, 0.0, 0.0
        return (
            self._most - len(self._taken),
            self._taken[-1] + self._seconds - now,
            self._taken[0] + self._seconds - now,
        )

    def _bucket(self, now: float) -> tuple[float, float, float]:
        rate = self._most / self._seconds
        self._level = min(self._most, self._level + (now - self._level_at) * rate) if self._level_at else self._level
        self._level_at = now
        return self._level, (self._most - self._level) / rate, max(1 - self._level, 0.0) / rate

    def _headers(self, left: float, whole_in: float) -> dict[str, str]:
        reset = datetime.now(UTC) + timedelta(seconds=whole_in)
        prefix = "anthropic-ratelimit-requests"
        return {
            f"{prefix}-limit": str(self._most),
            f"{prefix}-remaining": str(int(left)),
            f"{prefix}-reset": reset.isoformat().replace("+00:00", "Z"),
        }
