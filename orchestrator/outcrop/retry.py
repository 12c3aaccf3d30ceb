"""When a model call that failed is made again, and after how long. The one place: the SDK's own retries are off."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how many seconds. What the server asks for (`retry-after`) counts, up to a maximum.

    A server that asks for no time at all does not shorten the wait: all attempts would be gone before it recovers.
    """

    attempts: int = limits.MODEL_ATTEMPTS
    first_seconds: float = limits.RETRY_FIRST_SECONDS
    longest_seconds: float = limits.RETRY_LONGEST_SECONDS
    longest_retry_after_seconds: float = limits.RETRY_AFTER_SECONDS


async def with_retries(policy: RetryPolicy, attempt: Callable[[], Awaitable[T]]) -> T:
    """Make the call until it answers, fails for good or was made `attempts` times. Raises its last ModelError."""
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

    # Full jitter: many agents that were refused together do not come back together. Half a step is the least.
    jitter = wait_random_exponential(multiplier=policy.first_seconds, max=policy.longest_seconds)

    def seconds(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, ModelError) else None
        wait = max(jitter(state), policy.first_seconds / 2)
        if asked is None or not math.isfinite(asked):
            return wait
        return max(min(asked, policy.longest_retry_after_seconds), wait)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.retryable),
        stop=stop_after_attempt(policy.attempts),
        wait=seconds,
        reraise=True,
    )

    async def made() -> T:
        return await attempt()

    return await retrying(made)
