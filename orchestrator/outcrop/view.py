"""What a person sees while a run goes on: a live table on a terminal, plain lines elsewhere. Always on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from outcrop.events import (
    DispatchEnded,
    DispatchProgress,
    DispatchStarted,
    Event,
    GapAsked,
    GapDecided,
    LeadTurn,
    Watcher,
    nobody,
)
from outcrop.text import inert, shorten

if TYPE_CHECKING:
    from rich.table import Table

# Name and width of the live table's columns; an 80 column terminal leaves 20 for the objective.
_COLUMNS = {"dispatch": 8, "specialist": 10, "objective": None, "now": 12, "rows": 9, "time": 6, "status": 8}
_REFRESH_PER_SECOND = 8
_LINE_CHARS = 300


@contextmanager
def progress_view(*, quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows events on stderr for as long as the block lasts, and as somebody reads them."""
    if sys.stderr is None:
        yield nobody
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _live() as watcher:
            yield watcher
    else:
        yield nobody if quiet else PlainLines().take


class PlainLines:
    """A line for each start and end, the lead's first. When nobody reads them any more, none are written."""

    def __init__(self) -> None:
        self._is_read = True

    def take(self, event: Event) -> None:
        if isinstance(event, LeadTurn):
            if event.number > 1:
                return
            text = "lead started: it plans the work"
        elif isinstance(event, DispatchStarted):
            text = f"{_short(event.dispatch_id)} {event.specialist} started: {event.objective}"
        elif isinstance(event, DispatchEnded):
            end = event.outcome
            said = end.summary or "; ".join(end.errors)
            text = f"{_short(end.dispatch_id)} {end.specialist} {end.status} ({end.duration_s:.1f} s): {said}"
        else:
            return
        self._write(shorten(inert(text, keep_newlines=False), _LINE_CHARS) + "\n")

    def _write(self, line: str) -> None:
        if not self._is_read:
            return
        try:
            sys.stderr.write(line)
            sys.stderr.flush()
        except OSError:
            # `2>&1 | head`: the run goes on without its audience.
            self._is_read = False


@dataclass
class Row:
    """One dispatch as the live table shows it."""

    dispatch_id: str
    specialist: str
    objective: str
    started: float = field(default_factory=time.monotonic)
    doing: str = ""
    rows_done: str = ""
    status: str = "running"
    seconds: float | None = None

    def progress(self, message: dict[str, Any]) -> None:
        self.doing = str(message.get("text") or message.get("tool") or self.doing)
        done, total = message.get("done"), message.get("total")
        if isinstance(done, int):
            self.rows_done = f"{done:,}" + (f" of {total:,}" if isinstance(total, int) else "")


class LiveTable:
    """The rows of the live table; rich asks for it again and again."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._turn = 0

    def take(self, event: Event) -> None:
        if isinstance(event, LeadTurn):
            self._turn = event.number
        elif isinstance(event, DispatchStarted):
            self._rows[event.dispatch_id] = Row(event.dispatch_id, event.specialist, event.objective)
        elif isinstance(event, DispatchProgress):
            if row := self._rows.get(event.dispatch_id):
                row.progress(event.message)
        elif isinstance(event, DispatchEnded) and (row := self._rows.get(event.outcome.dispatch_id)):
            row.status, row.seconds = event.outcome.status, event.outcome.duration_s
            row.doing = row.rows_done = ""

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        title = f"lead: turn {self._turn}" if self._turn else None
        table = Table(title=title, title_justify="left", expand=True, box=None, padding=(0, 1, 0, 0))
        for name, width in _COLUMNS.items():
            # The objective takes what is left; on a narrow terminal it is what gives way.
            ratio = None if width else 1
            right: Literal["right", "left"] = "right" if name in ("rows", "time") else "left"
            table.add_column(name, width=width, ratio=ratio, no_wrap=True, overflow="ellipsis", justify=right)
        for row in self._rows.values():
            seconds = row.seconds if row.seconds is not None else time.monotonic() - row.started
            style = {"running": "yellow", "success": "green"}.get(
                row.status, "magenta" if row.status == "partial" else "red"
            )
            where = (_short(row.dispatch_id), row.specialist, row.objective)
            cells = (*where, row.doing, row.rows_done, f"{seconds:.1f} s")
            table.add_row(*(Text(inert(cell, keep_newlines=False)) for cell in cells), Text(row.status, style=style))
        return table


@contextmanager
def _live() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.live import Live

    table = LiveTable()
    with Live(table, console=Console(stderr=True), refresh_per_second=_REFRESH_PER_SECOND) as live:

        def take(event: Event) -> None:
            # What is redrawn under a question would hide it, and what is typed.
            if isinstance(event, GapAsked):
                live.stop()
            elif isinstance(event, GapDecided):
                live.start()
            else:
                table.take(event)

        yield take


def _short(dispatch_id: str) -> str:
    return dispatch_id.partition("-")[0]
