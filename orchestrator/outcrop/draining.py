"""What is under way in a pool: followed to its end, waited for, cancelled. A signal may begin that."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

T = TypeVar("T")


class UnderWay:
    """The calls of a pool that were taken, as tasks of its event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def follow(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this; when the caller is cancelled, after it has ended."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            await _all_ended([task])
            raise

    async def wait(self, seconds: float) -> None:
        """Wait so long for what is under way now."""
        if self._tasks:
            await asyncio.wait([*self._tasks], timeout=seconds)

    async def cancel(self) -> int:
        """Cancel what is left and wait until it has ended; how many those were."""
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        await _all_ended(left)
        return len(left)


def on_signals(begin: Callable[[], None], signals: Sequence[int], *, pass_on: bool) -> ExitStack:
    """Have these signals call `begin` in the running event loop until what is returned is closed.

    With `pass_on` the handler that each had is called after that, and is put back in the end.
    """
    loop = asyncio.get_running_loop()

    def handle(number: int, before: Any) -> None:
        begin()
        if pass_on and callable(before):
            before(number, None)

    with ExitStack() as undo:
        for number in signals:
            before = signal.getsignal(number)
            if pass_on and before is not None:
                undo.callback(signal.signal, number, before)
            loop.add_signal_handler(number, handle, number, before)
            undo.callback(loop.remove_signal_handler, number)
        return undo.pop_all()


async def _all_ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Wait until tasks that were cancelled have ended, which has a bound; a cancellation meanwhile is raised then."""
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
