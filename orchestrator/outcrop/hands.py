"""Blocking work of the dispatches, on threads of our own.

The event loop's own threads belong to the application: work of its that takes long would hold up ours, and ours its.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from outcrop_schemas import limits

T = TypeVar("T")


class Hands:
    """A thread for each of `workers` dispatches, none of which has more than one thing to do at a time."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="outcrop-hand")
        # Of journals, for the runs under way and the batch or pool that they are part of.
        self.writers = ThreadPoolExecutor(workers + 1, thread_name_prefix="outcrop-journal")
        # Whoever takes large results in hand has several copies of them; this bounds what all have together.
        self.large = asyncio.Semaphore(limits.RESULTS_IN_HAND)

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run it in a thread; it runs to its end also when the caller is cancelled."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def close(self) -> None:
        """Wait until all is done."""
        self._threads.shutdown()
        self.writers.shutdown()
