"""A specialist's own end of the stream: messages go to a private descriptor, stray prints to stderr.

Claiming the stream first means that a print in a library, a script or a C extension can neither forge nor break it.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from pydantic import BaseModel

from outcrop_schemas import limits, wire
from outcrop_schemas.protocol import Progress

# Exit status of a specialist whose orchestrator is gone: nobody is left to read it.
ORPHANED = 70


class Stream:
    """Writes protocol 1 messages, and beats while nothing else is said."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._now: Progress = Progress(text="starting")
        self._beat = threading.Thread(target=self._beats, name="beat", daemon=True)

    @classmethod
    def claim_stdout(cls) -> Stream:
        """Take stdout for the stream; whatever prints from now on prints to stderr."""
        descriptor = os.dup(1)
        os.set_inheritable(descriptor, False)
        os.dup2(2, 1)
        return cls(descriptor)

    def start_beating(self) -> None:
        self._beat.start()

    def send(self, message: BaseModel) -> None:
        """Write one message, whole."""
        self._write(message.model_dump(mode="json", exclude_none=True))

    def progress(self, text: str, done: int | None = None, total: int | None = None, tool: str | None = None) -> None:
        """Say what is being done."""
        self._now = Progress(text=text, done=done, total=total, tool=tool)
        self.send(self._now)

    def end(self) -> None:
        """No more beats; the descriptor is closed, so that the reader sees the end."""
        self._ended.set()
        with self._lock:
            os.close(self._descriptor)

    def _beats(self) -> None:
        while not self._ended.wait(limits.BEAT_SECONDS):
            self.send(self._now)

    def _write(self, message: dict[str, Any]) -> None:
        view = memoryview(wire.dumps(message) + b"\n")
        with self._lock:
            if self._ended.is_set():
                return
            try:
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except BrokenPipeError:
                # The orchestrator is gone: work that nobody will record must not go on.
                os._exit(ORPHANED)
