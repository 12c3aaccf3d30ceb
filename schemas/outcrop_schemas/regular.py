"""Opening a file of a record only where it is a file: a pipe in its place would be waited for, for ever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotAFileError(OSError):
    """What lies there is no regular file; `strerror` says what it is."""


def descriptor_of(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; nothing else is opened. Raises NotAFileError and other OSErrors."""
    _check(path, path.stat().st_mode)
    # Should it be replaced by a pipe meanwhile, then opening that does not wait either.
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(path: Path, buffering: int = -1) -> BinaryIO:
    """A regular file for reading. Raises as `descriptor_of`."""
    return open(descriptor_of(path), "rb", buffering=buffering)


def read_file(path: Path) -> bytes:
    """The bytes of a regular file. Raises as `descriptor_of`."""
    with open_file(path) as file:
        return file.read()


def _check(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise NotAFileError(errno.EINVAL, f"it is {kind}, no regular file", str(path))
