"""What a person sees while a run goes on: a live table on a terminal, plain lines elsewhere. Always on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from outcrop.events import DispatchEnded, DispatchStarted, Event, GapAsked, GapDecided, LeadTurn, Watcher, nobody
from outcrop.terminal import has_colours
from outcrop.text import inert, shorten

if TYPE_CHECKING:
    from rich.live import Live

    from outcrop.live_batch import LiveBatch
    from outcrop.live_table import LiveTable

_REFRESH_PER_SECOND = 8
_LINE_CHARS = 300


@contextmanager
def progress_view(*, quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows events on stderr for as long as the block lasts, and as somebody reads them."""
    if sys.stderr is None:
        yield nobody
    elif _is_screen():
        from outcrop.live_table import LiveTable

        with _live(table := LiveTable()) as live:

            def take(event: Event) -> None:
                # What is redrawn under a question would hide it, and what is typed.
                if isinstance(event, GapAsked):
                    live.stop()
                elif isinstance(event, GapDecided):
                    live.start()
                else:
                    table.take(event)

            yield take
    else:
        yield nobody if quiet else PlainLines().take


@contextmanager
def batch_view() -> Iterator[LiveBatch | None]:
    """The live table of a batch for as long as the block lasts; None where there is no screen for it."""
    if sys.stderr is None or not _is_screen():
        yield None
        return
    from outcrop.live_batch import LiveBatch

    with _live(batch := LiveBatch()):
        yield batch


def _is_screen() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


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


@contextmanager
def _live(picture: LiveTable | LiveBatch) -> Iterator[Live]:
    from rich.console import Console
    from rich.live import Live

    # What stays on the screen at the end is what was there last: never more than it has lines.
    console = Console(stderr=True, color_system="auto" if has_colours(sys.stderr) else None, legacy_windows=False)
    with Live(picture, console=console, refresh_per_second=_REFRESH_PER_SECOND, vertical_overflow="crop") as live:
        yield live


def _short(dispatch_id: str) -> str:
    return dispatch_id.partition("-")[0]
