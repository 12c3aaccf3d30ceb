"""What the dispatches under way do now, by the last progress line of their transcripts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from outcrop.text import inert, shorten
from outcrop_schemas import limits, wire

_PROGRESS = b'"progress"'
_TEXT_CHARS = 120


@dataclass(frozen=True)
class Progress:
    """What is being done, and how much of it is."""

    text: str = ""
    done: int | None = None
    total: int | None = None

    def __str__(self) -> str:
        if self.done is None:
            return self.text
        count = f"{self.done:,}" + ("" if self.total is None else f" of {self.total:,}")
        return f"{self.text} ({count})" if self.text else count


class Transcripts:
    """Looks at the transcripts of one run, at those only that grew since the last look."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, Progress]] = {}

    def last(self, transcripts: list[Path]) -> list[Progress]:
        """The last progress of each; those of others are forgotten."""
        self._seen = {path: self._look(path) for path in transcripts}
        return [progress for _, progress in self._seen.values()]

    def _look(self, path: Path) -> tuple[int, Progress]:
        known = self._seen.get(path, (0, Progress()))
        try:
            size = path.stat().st_size
            # Past twice of what is kept a transcript is written in a ring: its end is not its newest part.
            if size == known[0] or size >= 2 * limits.TRANSCRIPT_KEPT_BYTES:
                return known
            return size, _last_in(_tail(path, size)) or known[1]
        except OSError:
            return known


def _tail(path: Path, size: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.pread(descriptor, limits.UI_TAIL_BYTES, max(0, size - limits.UI_TAIL_BYTES))
    finally:
        os.close(descriptor)


def _last_in(tail: bytes) -> Progress | None:
    """Of whole lines the last that is one of progress."""
    end = tail.rfind(b"\n")
    while end > 0:
        start = tail.rfind(b"\n", 0, end) + 1
        line = tail[start:end]
        if _PROGRESS in line and (found := _progress_of(line)):
            return found
        end = start - 1
    return None


def _progress_of(line: bytes) -> Progress | None:
    try:
        message = wire.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("type") != "progress":
        return None
    text, done, total = message.get("text") or message.get("tool"), message.get("done"), message.get("total")
    return Progress(
        shorten(inert(text, keep_newlines=False), _TEXT_CHARS) if isinstance(text, str) else "",
        done if isinstance(done, int) else None,
        total if isinstance(total, int) else None,
    )
