"""What changes on a page: its parts as they are now, each with the version that brought it, for any number of readers.

A reader that comes again after a break is given what changed meanwhile, once each and as it is now: nothing is queued
for anybody, so that a slow reader costs nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from outcrop_schemas import limits, wire

Kind = Literal["part", "progress", "said", "state"]
_VERSION_DIGITS = 18


@dataclass(frozen=True)
class Part:
    """One part of a page: `kind` says what a browser does with it."""

    kind: Kind
    name: str
    data: str | wire.Json


class Feed:
    """The parts of one page. Belongs to one event loop."""

    def __init__(self) -> None:
        # Versions of an earlier server, or of a page that was forgotten meanwhile, mean nothing here.
        self._epoch = secrets.token_hex(4)
        self._version = 0
        self._parts: dict[str, tuple[int, Part]] = {}
        self._changed = asyncio.Event()
        self.readers = 0
        self._is_closed = self._is_final = False

    @property
    def mark(self) -> str:
        """The version that a page made now has."""
        return f"{self._epoch}-{self._version}"

    def put(self, parts: list[Part]) -> None:
        """These parts are so now; what did not change is not sent."""
        new = [part for part in parts if part.name not in self._parts or self._parts[part.name][1] != part]
        if new:
            self._version += 1
            self._parts.update({part.name: (self._version, part) for part in new})
            self._wake()

    def finish(self, *, is_final: bool) -> None:
        """Nothing will change any more, or something may again."""
        if is_final != self._is_final:
            self._is_final = is_final
            self._wake()

    def close(self) -> None:
        """The server ends: so do the streams."""
        self._is_closed = True
        self._wake()

    async def stream(self, since: str) -> AsyncIterator[bytes]:
        """Server-sent events from a version on, until nothing more can come; beats where nothing does."""
        seen = self._version_of(since)
        self.readers += 1
        try:
            yield b"retry: 1000\n\n"
            # No page has it in its text.
            if progress := [part for _, part in self._parts.values() if part.kind == "progress"]:
                yield _events(progress) + b"\n"
            while not self._is_closed:
                changed = self._changed
                if seen < self._version:
                    events, seen = self._events_after(seen), self._version
                    yield events
                    continue
                if self._is_final:
                    yield b"event: done\ndata: {}\n\n"
                    return
                try:
                    await asyncio.wait_for(changed.wait(), limits.UI_BEAT_SECONDS)
                except TimeoutError:
                    yield b": beat\n\n"
        finally:
            self.readers -= 1

    def _version_of(self, mark: str) -> int:
        epoch, _, number = mark.rpartition("-")
        is_ours = epoch == self._epoch and number.isdecimal() and len(number) <= _VERSION_DIGITS
        return min(int(number), self._version) if is_ours else 0

    def _events_after(self, seen: int) -> bytes:
        new = [part for version, part in self._parts.values() if version > seen]
        # Only the last has the version: whoever is cut off before it is given all of them again.
        return _events(new) + f"id: {self.mark}\n\n".encode()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _events(parts: list[Part]) -> bytes:
    """These parts as events, the last of which is left open."""
    told = ((part.kind.encode(), wire.dumps({"name": part.name, "data": part.data})) for part in parts)
    return b"\n".join(b"event: %s\ndata: %s\n" % each for each in told)
