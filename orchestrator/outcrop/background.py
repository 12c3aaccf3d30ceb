"""An event loop in a thread of its own: the sync face of what is async inside."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from outcrop_schemas.errors import PoolClosedError

T = TypeVar("T")

FORKED = "the pool was opened by the process that this one was forked from; open one here"


class BackgroundLoop:
    """Runs coroutines for threads that have no event loop; for the process that made it, as a fork has no threads."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="outcrop-loop", daemon=True)
        self._thread.start()

    @property
    def is_ours(self) -> bool:
        """Whether this is the process that made it."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raises PoolClosedError in a forked child, where nothing would ever run."""
        if not self.is_ours:
            raise PoolClosedError(FORKED)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result. An interrupt (Ctrl-C) cancels the work, waits for it, and is raised.

        Raises PoolClosedError in a forked child.
        """
        if not self.is_ours:
            work.close()
        self.check()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(future.cancel)
            self._settle()
            raise

    def close(self) -> None:
        """End the loop and its thread; in a forked child nothing, as the selector is shared with the parent."""
        if not self.is_ours:
            return
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


class SyncFace(ABC):
    """Gives what is used by `async with` a plain `with` block too, in which `_background` runs its coroutines."""

    __background: BackgroundLoop | None = None

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def __enter__(self) -> Self:
        background = BackgroundLoop()
        try:
            background.run(self.__aenter__())
        except BaseException:
            background.close()
            raise
        self.__background = background
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.__background and not self.__background.is_ours:
            return  # a forked child that leaves the block; what is open is its parent's
        background, self.__background = self._background, None
        try:
            background.run(self.__aexit__(kind, error, trace))
        finally:
            background.close()

    @property
    def _background(self) -> BackgroundLoop:
        """The loop of the plain `with` block. Raises PoolClosedError outside of one, and in a forked child."""
        if self.__background is None:
            raise PoolClosedError(
                "dispatch_sync and drain_sync need the pool in a plain `with` block; in async code await the others"
            )
        self.__background.check()
        return self.__background
