"""One nursery for all runs of a process of pytest: a specialist costs a fork in place of its imports.

For tests of what a run does and says; how specialists are started has tests of its own, with launchers of their own.
"""

from __future__ import annotations

import asyncio
import functools
import select
import tempfile
from pathlib import Path

from outcrop.launching.nursery import NurseryLauncher

PATIENCE_SECONDS = 120


class Warm(NurseryLauncher):
    """Ready when it has been asked for; stays when a run is over, which may have had an event loop of its own."""

    def warm(self) -> None:
        if self._process is not None:
            return
        super().warm()
        assert self._socket is not None
        asyncio.get_running_loop().remove_reader(self._socket)
        assert select.select([self._socket], [], [], PATIENCE_SECONDS)[0], "the nursery is not ready"
        self._listen()

    async def close(self) -> None:
        """It ends with this process."""


@functools.cache
def warm() -> Warm:
    """The nursery of this process."""
    cache = tempfile.TemporaryDirectory(prefix="outcrop-warm-")
    launcher = Warm(Path(cache.name), is_wanted=True)
    _FOLDERS.append(cache)
    return launcher


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
