"""What happens in a piece of work as the short lines that a client is told while it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from outcrop.events import DispatchEnded, DispatchProgress, DispatchStarted, Event, LeadTurn
from outcrop.text import inert, shorten
from outcrop_schemas import limits

_CHARS = 200
Report = Callable[[float, str], Awaitable[None]]


class Progress:
    """Passes on what a watcher is told, in order. A client that reads slowly is told less: the oldest lines go.

    `async with Progress(report) as progress:` and `progress.watcher` for the work; all of it is told before it is left.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(limits.EVENTS_WAITING)
        self._telling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Progress:
        self._telling = asyncio.create_task(self._tell())
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        assert self._telling is not None
        if error is None:
            self._put(None)
        else:
            self._telling.cancel()
        with suppress(asyncio.CancelledError):
            await self._telling

    def watcher(self, event: Event) -> None:
        line = line_of(event)
        if line:
            self._put(line)

    def _put(self, line: str | None) -> None:
        if self._lines.full():
            self._lines.get_nowait()
        self._lines.put_nowait(line)

    async def _tell(self) -> None:
        number = 0
        while (line := await self._lines.get()) is not None:
            # The number only says that it goes on: nobody knows how many lines there will be.
            number += 1
            await self._report(number, line)


def line_of(event: Event) -> str:
    """One event as a line; empty for one that says nothing."""
    if isinstance(event, LeadTurn):
        return f"the lead thinks, turn {event.number}"
    if isinstance(event, DispatchStarted):
        return _line(f"{event.specialist} begins: {event.objective}")
    if isinstance(event, DispatchEnded):
        return _line(f"{event.outcome.specialist} ended, {event.outcome.status}: {event.outcome.summary}")
    # The user of an MCP server is asked nothing: there is no terminal.
    return _of_message(event) if isinstance(event, DispatchProgress) else ""


def _of_message(event: DispatchProgress) -> str:
    text, done, total = (event.message.get(name) for name in ("text", "done", "total"))
    told = str(text or event.message.get("tool") or "")
    return _line(f"{told} ({done} of {total})" if told and done is not None and total else told)


def _line(text: str) -> str:
    return shorten(inert(text, keep_newlines=False), _CHARS)
