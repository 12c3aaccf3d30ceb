"""The live table of a run: the dispatches at work and the newest that ended, as many as the screen has lines for."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal

from outcrop.events import (
    DispatchEnded,
    DispatchLeft,
    DispatchProgress,
    DispatchStarted,
    DispatchWaiting,
    Event,
    LeadTurn,
)
from outcrop.terminal import colour, shown, takes_unicode

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

# Name, width, and from how many columns of the terminal on it is there. The objective takes what is left.
_COLUMNS: tuple[tuple[str, int | None, int], ...] = (
    ("dispatch", 8, 30),
    ("specialist", 10, 0),
    ("objective", None, 60),
    ("now", 12, 76),
    ("rows", 9, 90),
    ("time", 8, 0),
    ("status", 9, 0),
)
# Heading, what was left out, the header, and the line on which the cursor stands.
_OTHER_LINES = 4
_LEAST_ROWS = 1
_RUNNING, _WAITING = "running", "waiting"
_UNENDED = (_RUNNING, _WAITING)
_NUMBERS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass
class Row:
    """One dispatch as the live table shows it."""

    dispatch_id: str
    specialist: str
    objective: str
    started: float = field(default_factory=time.monotonic)
    doing: str = ""
    rows_done: str = ""
    status: str = _RUNNING
    seconds: float | None = None

    def progress(self, message: dict[str, Any]) -> None:
        self.doing = str(message.get("text") or message.get("tool") or self.doing)
        done, total = message.get("done"), message.get("total")
        if isinstance(done, int):
            self.rows_done = f"{done:,}" + (f" of {total:,}" if isinstance(total, int) else "")

    def cell(self, name: str) -> str:
        seconds = self.seconds if self.seconds is not None else time.monotonic() - self.started
        return {
            "dispatch": self.dispatch_id.partition("-")[0],
            "specialist": self.specialist,
            "objective": self.objective,
            "now": self.doing,
            "rows": self.rows_done,
            "time": f"{seconds:.1f} s",
            "status": self.status,
        }[name]


class LiveTable:
    """The rows so far; rich asks for a picture of them again and again, on a screen that may change its size."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._turn, self._lead_tokens, self._tokens = 0, 0, 0
        self._lead_usd, self._usd = Decimal(0), Decimal(0)
        self._began = time.monotonic()

    def take(self, event: Event) -> None:
        if isinstance(event, LeadTurn):
            self._turn, self._lead_tokens, self._lead_usd = event.number, event.tokens, Decimal(event.usd)
        elif isinstance(event, DispatchWaiting):
            self._rows[event.dispatch_id] = Row(event.dispatch_id, event.specialist, event.objective, status=_WAITING)
        elif isinstance(event, DispatchLeft):
            self._rows.pop(event.dispatch_id, None)
        elif isinstance(event, DispatchStarted):
            # Behind those that began before it, wherever it waited.
            self._rows.pop(event.dispatch_id, None)
            self._rows[event.dispatch_id] = Row(event.dispatch_id, event.specialist, event.objective)
        elif isinstance(event, DispatchProgress):
            if row := self._rows.get(event.dispatch_id):
                row.progress(event.message)
        elif isinstance(event, DispatchEnded) and (row := self._rows.get(event.outcome.dispatch_id)):
            row.status, row.seconds = event.outcome.status, event.outcome.duration_s
            row.doing = row.rows_done = ""
            self._count(event.outcome.usage)

    def _count(self, usage: dict[str, Any]) -> None:
        # A COMMAND says itself what it used: that may be anything.
        counts = [usage.get(name, 0) for name in _NUMBERS]
        self._tokens += sum(count for count in counts if isinstance(count, int))
        spending = usage.get("spending")
        try:
            self._usd += Decimal(str(spending.get("spent_usd", 0))) if isinstance(spending, dict) else 0
        except InvalidOperation:
            return

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        rows = list(self._rows.values())
        kept = _kept(rows, max(console.size.height - _OTHER_LINES, _LEAST_ROWS))
        yield Text(_plain(self._heading(rows)), style="bold", no_wrap=True, overflow="crop")
        if left := [row for row in rows if row not in kept]:
            counts = Counter(row.status for row in left)
            told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
            yield Text(_plain(f"{len(left)} more: {told}"), style="dim", no_wrap=True, overflow="crop")
        if kept:
            yield _table(kept, options.max_width)

    def _heading(self, rows: list[Row]) -> str:
        """`lead: turn 3 · 4 of 5 dispatches ended · 12 s · 112,628 tokens · $0.12`."""
        ended = sum(row.status not in _UNENDED for row in rows)
        tokens, usd = self._lead_tokens + self._tokens, self._lead_usd + self._usd
        return " · ".join([
            *([f"lead: turn {self._turn}"] if self._turn else []),
            *([f"{ended} of {len(rows)} dispatches ended"] if rows else []),
            f"{time.monotonic() - self._began:.0f} s",
            *([f"{tokens:,} tokens"] if tokens else []),
            *([f"${usd:.4f}"] if usd else []),
        ])  # fmt: skip


def _kept(rows: list[Row], room: int) -> list[Row]:
    """Those at work first, then the newest that ended, then those that wait; in the order in which they began.

    Those that wait stand behind them.
    """
    weights = {_RUNNING: 2, _WAITING: 0}
    by_weight = sorted(range(len(rows)), key=lambda number: (weights.get(rows[number].status, 1), number), reverse=True)
    return [rows[number] for number in sorted(by_weight[:room], key=lambda at: (rows[at].status == _WAITING, at))]


def _table(rows: list[Row], width: int) -> Table:
    from rich.table import Table

    columns = [(name, size) for name, size, least in _COLUMNS if width >= least]
    table = Table(expand=any(size is None for _, size in columns), box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name, size in columns:
        right: Literal["right", "left"] = "right" if name in ("rows", "time") else "left"
        cut: Literal["ellipsis", "crop"] = "ellipsis" if takes_unicode(sys.stderr) else "crop"
        table.add_column(name, width=size, ratio=None if size else 1, no_wrap=True, overflow=cut, justify=right)
    for row in rows:
        table.add_row(*(_cell(row, name) for name, _ in columns))
    return table


def _cell(row: Row, name: str) -> Text:
    from rich.text import Text

    return Text(_plain(row.cell(name)), style=colour(row.status) if name == "status" else "")


def _plain(text: str) -> str:
    return shown(text, sys.stderr)
