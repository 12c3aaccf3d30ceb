"""The live table of a batch: how far it is, and the newest jobs that ended, as many as the screen has lines for."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop.terminal import colour, shown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

# More than any screen has lines.
_ROWS_KEPT = 500
_OTHER_LINES = 3
_WIDE_COLUMNS = 50


@dataclass(frozen=True)
class JobRow:
    """One job that ended."""

    name: str
    status: str
    seconds: float
    told: str


class LiveBatch:
    """The jobs so far; rich asks for a picture of them again and again."""

    def __init__(self) -> None:
        self._rows: deque[JobRow] = deque(maxlen=_ROWS_KEPT)
        self._statuses: Counter[str] = Counter()
        self._standing, self._began = "", time.monotonic()

    def take(self, row: JobRow, standing: str) -> None:
        """A job ended, and the batch stands like this now."""
        self._rows.append(row)
        self._statuses[row.status] += 1
        self._standing = standing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        room = max(console.size.height - _OTHER_LINES, 1)
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self._statuses.items()))
        heading = [f"batch: {time.monotonic() - self._began:.0f} s", self._standing, counts]
        said = shown(" · ".join(part for part in heading if part), sys.stderr)
        yield Text(said, style="bold", no_wrap=True, overflow="crop")
        table = Table.grid(padding=(0, 1, 0, 0), expand=True)
        is_wide = options.max_width >= _WIDE_COLUMNS
        for width in (12, 12, 9) if is_wide else (10, None):
            table.add_column(width=width, ratio=None if width else 1, no_wrap=True, overflow="crop")
        if is_wide:
            table.add_column(ratio=1, no_wrap=True, overflow="crop")
        for row in list(self._rows)[-room:]:
            cells = [row.name, row.status, f"{row.seconds:.1f} s", row.told][: 4 if is_wide else 2]
            texts = [Text(shown(cell, sys.stderr)) for cell in cells]
            texts[1].stylize(colour(row.status))
            table.add_row(*texts)
        if self._rows:
            yield table
