"""An event loop in a thread of its own: the sync face of what is async inside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines for threads that have no event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="outcrop-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result. An interrupt (Ctrl-C) cancels the work, waits for it, and is raised."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(future.cancel)
            self._settle()
            raise

    def close(self) -> None:
        self._settle()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _settle(self) -> None:
        """Wait until every task of the loop has ended."""

        async def others() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            if tasks:
                await asyncio.wait(tasks)

        asyncio.run_coroutine_threadsafe(others(), self._loop).result()
