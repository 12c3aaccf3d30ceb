"""Many pieces of work for one pool: as they end, in order, or one with all that happens in it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from outcrop.events import DispatchEnded, DispatchProgress, Event, Watcher
from outcrop_schemas import limits
from outcrop_schemas.outcome import Outcome


@dataclass(frozen=True)
class Work:
    """The arguments of one `Pool.dispatch`. `tag` is the caller's own, to know it again by; no specialist sees it."""

    specialist: str
    objective: str | None = None
    data: Sequence[str | Path] = ()
    context: Mapping[str, Any] | None = None
    timeout: float = limits.DISPATCH_SECONDS
    grace: float = limits.GRACE_SECONDS
    environment: Mapping[str, str] | None = None
    require: Sequence[str] = ()
    command: Sequence[str] | None = None
    pins: Mapping[str, str] | None = None
    attach: Sequence[str | Path] = ()
    tag: Any = field(default=None, compare=False)

    def arguments(self) -> dict[str, Any]:
        """As keyword arguments of `Pool.dispatch`."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "tag"}


Do = Callable[[Work], Coroutine[Any, Any, Outcome | None]]
"""Does one piece of work; None where it was not begun, because no more is taken."""

Takes = Callable[[int], bool]
"""Whether another piece is taken when so many are under way."""


async def as_completed(do: Do, works: Iterable[Work], takes: Takes) -> AsyncIterator[tuple[Work, Outcome]]:
    """Each piece of work with its outcome, in the order they end. Of `works` no more are taken than are under way.

    What is under way is cancelled, and waited for, when the iterator is closed or a call raises.
    """
    under_way: dict[asyncio.Task[Outcome | None], Work] = {}
    waiting = iter(works)
    try:
        while True:
            while takes(len(under_way)) and (work := next(waiting, None)) is not None:
                under_way[asyncio.create_task(do(work))] = work
            if not under_way:
                return
            ended, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                outcome = task.result()
                work = under_way.pop(task)
                if outcome is not None:
                    yield work, outcome
    finally:
        await _cancelled(under_way)


async def in_order(do: Do, works: Iterable[Work], takes: Takes) -> AsyncIterator[Outcome]:
    """The outcomes in the order of `works`, of which no more are taken than are under way or wait to be given out.

    Ends before the first that was not begun, so that each outcome has the place of its work.
    """
    under_way: deque[asyncio.Task[Outcome | None]] = deque()
    waiting = iter(works)
    try:
        while True:
            while takes(len(under_way)) and (work := next(waiting, None)) is not None:
                under_way.append(asyncio.create_task(do(work)))
            if not under_way:
                return
            outcome = await asyncio.shield(under_way[0])
            if outcome is None:
                return
            under_way.popleft()
            yield outcome
    finally:
        await _cancelled(under_way)


async def events_of(start: Callable[[Watcher], Coroutine[Any, Any, Outcome]]) -> AsyncIterator[Event]:
    """What happens in one dispatch, its end last. Whoever is slow to ask misses progress, and nothing else."""
    told: deque[Event] = deque()
    is_new = asyncio.Event()

    def watcher(event: Event) -> None:
        if isinstance(event, DispatchProgress) and len(told) >= limits.EVENTS_WAITING:
            return
        told.append(event)
        is_new.set()

    task = asyncio.create_task(start(watcher))
    task.add_done_callback(lambda _: is_new.set())
    try:
        while True:
            await is_new.wait()
            is_new.clear()
            while told:
                event = told.popleft()
                yield event
                if isinstance(event, DispatchEnded):
                    await task
                    return
            if task.done():
                await task  # raises what kept it from being started
                return
    finally:
        await _cancelled([task])


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
    for task in tasks:
        if not task.cancelled():
            # Of several that failed one is raised; asyncio would complain of the others.
            task.exception()
