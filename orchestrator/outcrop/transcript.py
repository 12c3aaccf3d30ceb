"""A specialist's raw stdout on disk: all of it up to a limit, beyond it head and tail with the number between."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from outcrop.spill import open_private
from outcrop_schemas import limits

_COPY_BYTES = 1 << 20


class Transcript:
    """Written as it comes, by one thread. `error` says why there is none; the work goes on without it."""

    def __init__(self, path: Path, kept: int = limits.TRANSCRIPT_KEPT_BYTES) -> None:
        self._path, self._kept = path, kept
        self._descriptor: int | None = None
        self._length = 0
        self.error: str | None = None

    def write(self, chunk: bytes) -> None:
        """Keep the next bytes: in the head, then in a ring that ends up as the tail."""
        if self.error:
            return
        try:
            if self._descriptor is None:
                self._descriptor = open_private(self._path)
            view = memoryview(chunk)
            while view:
                place, room = self._place()
                written = os.pwrite(self._descriptor, view[:room], place)
                self._length += written
                view = view[written:]
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Put the tail in order where it had gone round."""
        if self._descriptor is None:
            return
        try:
            if self._length > 2 * self._kept:
                self._put_in_order(self._descriptor)
        except OSError as error:
            self._give_up(error)
        else:
            os.close(self._descriptor)
            self._descriptor = None

    def _place(self) -> tuple[int, int]:
        """Where the next byte goes, and how many fit there in one piece."""
        if self._length < self._kept:
            return self._length, self._kept - self._length
        around = (self._length - self._kept) % self._kept
        return self._kept + around, self._kept - around

    def _put_in_order(self, ring: int) -> None:
        between = self._length - 2 * self._kept
        turn = self._kept + between % self._kept
        aside = self._path.with_name(f".{self._path.name}")
        ordered = open_private(aside)
        try:
            _copy(ring, ordered, 0, self._kept)
            os.write(ordered, f"\n… {between} bytes are left out here …\n".encode())
            _copy(ring, ordered, turn, 2 * self._kept)
            _copy(ring, ordered, self._kept, turn)
        finally:
            os.close(ordered)
        aside.replace(self._path)

    def _give_up(self, error: OSError) -> None:
        # On a full disk the room that it took is what the journal needs for the outcome.
        self.error = f"the transcript could not be written, so there is none: {error.strerror}"
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        for path in (self._path, self._path.with_name(f".{self._path.name}")):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _copy(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        piece = os.pread(source, min(_COPY_BYTES, end - start), start)
        if not piece:
            return
        start += len(piece)
        view = memoryview(piece)
        while view:
            view = view[os.write(target, view) :]
