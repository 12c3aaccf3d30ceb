"""Who looks at the runs: one timer for all pages that somebody has open, whatever their number of readers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from outcrop.ui.faults import LOOKING
from outcrop.ui.feed import Feed, Part
from outcrop.ui.pages import Html
from outcrop_schemas import limits

_log = logging.getLogger(__name__)
_KEPT = 32
_AWAY = "What this page shows cannot be read any more: it was removed, or its disk is away"
# A look that takes long is not taken more often than this share of the time, and yet again after so many seconds.
_SHARE, _LONGEST_SECONDS = 0.25, 5.0


@dataclass(frozen=True)
class Look:
    """What was seen: the parts of the page; whether nothing can change any more; whether there is more to read now."""

    parts: list[Part]
    is_final: bool = False
    is_more: bool = False


class Seen(Protocol):
    """Something that a page shows."""

    def look(self) -> Look:
        """How it is now; blocking, by one thread at a time. Raises OutcropError, OSError."""

    def page(self, mark: str) -> Html:
        """The whole page as it was last seen; `mark` is its version."""


class Watch:
    """One page, looked at for all of its readers together."""

    def __init__(self, seen: Seen, turn: asyncio.Lock | None = None) -> None:
        self.seen, self.feed = seen, Feed()
        self._turn = turn or asyncio.Lock()
        self._due = 0.0
        self._has_more = False

    async def page(self) -> Html:
        """The page as it is now. Raises OutcropError, OSError."""
        async with self._turn:
            await self._look()
            return await asyncio.to_thread(self.seen.page, self.feed.mark)

    async def refresh(self) -> None:
        """Look again, where it is time and nobody looks."""
        if self._turn.locked() or time.monotonic() < self._due:
            return
        async with self._turn:
            try:
                await self._look()
            except LOOKING as error:
                # A run that was removed, or a disk that is not there for a while.
                _log.debug("nothing was seen: %s", error)
                self.feed.put([Part("state", "state", _AWAY)])

    async def _look(self) -> None:
        began = time.monotonic()
        look = await asyncio.to_thread(self.seen.look)
        self.feed.put([*look.parts, Part("state", "state", "")])
        self.feed.finish(is_final=look.is_final)
        now = time.monotonic()
        self._due = now if look.is_more else now + min((now - began) / _SHARE, _LONGEST_SECONDS)


class Watches:
    """All pages that were asked for of late. Belongs to one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Watch] = OrderedDict()
        self._under_way: set[asyncio.Task[None]] = set()

    def find(self, key: Hashable) -> Watch | None:
        """The watch of a page, kept for a while longer."""
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def add(self, key: Hashable, seen: Seen, turn: asyncio.Lock | None = None) -> Watch:
        """Watch a page, one at a time of those with the same `turn`. Those that have no reader and were not asked for
        longest are forgotten."""
        self._known[key] = watch = Watch(seen, turn)
        unread = [key for key, each in self._known.items() if not each.feed.readers and each is not watch]
        for key in unread[: max(0, len(self._known) - _KEPT)]:
            del self._known[key]
        return watch

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            for watch in list(self._known.values()):
                if watch.feed.readers:
                    task = asyncio.create_task(watch.refresh())
                    self._under_way.add(task)
                    task.add_done_callback(self._under_way.discard)
            await asyncio.sleep(limits.UI_LOOK_SECONDS)

    def close(self) -> None:
        """End all streams."""
        for watch in self._known.values():
            watch.feed.close()
