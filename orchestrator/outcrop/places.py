"""The places of specialists: how many may be at work at a time, which may change while they are."""

from __future__ import annotations

import asyncio


class Places(asyncio.Semaphore):
    """A semaphore whose count can be changed; who has a place when there are fewer keeps it."""

    def __init__(self, count: int, most: int | None = None) -> None:
        super().__init__(count)
        self.count, self.most = count, most or count
        self._too_many = 0

    def release(self) -> None:
        if self._too_many:
            self._too_many -= 1
        else:
            super().release()

    async def resize(self, count: int) -> None:
        """From now on so many, but at least one, and never more than `most`."""
        count = max(1, min(count, self.most))
        more, self.count = count - self.count, count
        for _ in range(more):
            self.release()
        for _ in range(-more):
            if self.locked():
                self._too_many += 1
            else:
                await self.acquire()
