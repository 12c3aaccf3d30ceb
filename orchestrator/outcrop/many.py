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


Do = Callable[[Work], Coroutine[Any, Any, Outcome]]


async def as_completed(do: Do, works: Iterable[Work], at_once: int) -> AsyncIterator[tuple[Work, Outcome]]:
    """Each piece of work with its outcome, in the order they end. Of `works` no more are taken than are under way.

    What is under way is cancelled, and waited for, when the iterator is closed or a call raises.
    """
    under_way: dict[asyncio.Task[Outcome], Work] = {}
    waiting = iter(works)
    try:
        while True:
            while len(under_way) < at_once and (work := next(waiting, None)) is not None:
                under_way[asyncio.create_task(do(work))] = work
            if not under_way:
                return
            ended, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                yield under_way.pop(task), task.result()
    finally:
        await _cancelled(under_way)


async def in_order(do: Do, works: Iterable[Work], at_once: int) -> AsyncIterator[Outcome]:
    """The outcomes in the order of `works`, of which no more are taken than are under way or wait to be given out."""
    under_way: deque[asyncio.Task[Outcome]] = deque()
    waiting = iter(works)
    try:
        while True:
            while len(under_way) < at_once and (work := next(waiting, None)) is not None:
                under_way.append(asyncio.create_task(do(work)))
            if not under_way:
                return
            outcome = await asyncio.shield(under_way[0])
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


async def _cancelled(tasks: Iterable[asyncio.Task[Outcome]]) -> None:
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
