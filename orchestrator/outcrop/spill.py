"""The spill store of a run: files that take what is over a cap, written whole or not at all, for the owner only."""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from pathlib import Path

from outcrop_schemas.errors import SpillError


class SpillStore:
    """Files under one folder, which is made at the first write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, data: bytes) -> Path:
        """Write `data` under `name` and return its path. Raises SpillError, and then leaves nothing behind."""
        target = self._folder / name
        temporary = self._folder / f".{name}.{os.getpid()}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(temporary, data)
            temporary.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise SpillError(
                f"the full result of {len(data)} bytes could not be written to {target}: {error.strerror}"
            ) from error
        return target


def write_private(path: Path, data: bytes, *, is_flushed: bool = True) -> None:
    """Make a file of mode 0600 whatever the umask is, and have it on disk before returning, unless what it says stands
    elsewhere too. Raises OSError."""
    descriptor = open_private(path)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if is_flushed:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: Path) -> int:
    """A descriptor to a new or emptied file that only the owner may read. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def append_private(path: Path, data: bytes) -> None:
    """Add to a file that only the owner may read, made where there is none, in one go. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def sha256_of_bytes(data: bytes) -> str:
    """SHA-256 (hex)."""
    return sha256(data).hexdigest()
