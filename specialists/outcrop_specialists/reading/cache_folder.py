"""The folders below `.outcrop/cache/` that the built-in tools fill, and how files get into them whole."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import tempfile
from pathlib import Path

HOME, CACHE = ".outcrop", "cache"
_log = logging.getLogger(__name__)


def cache_folder(workspace: Path, name: str) -> Path | None:
    """The folder `name` of the workspace's cache, made where it is missing; None where there is no cache.

    The cache itself is made by the orchestrator. It is used only where it is a folder of our own in which nobody else
    may write: links and folders of others are passed over.
    """
    folder = workspace / HOME / CACHE
    try:
        if not (_is_ours(workspace / HOME) and _is_ours(folder)):
            return None
        found = folder / name
        found.mkdir(mode=0o700, exist_ok=True)
        return found if _is_ours(found) else None
    except OSError as error:
        _log.debug("no cache in %s: %s", folder, error)
        return None


def write_whole(path: Path, data: bytes) -> bool:
    """Write a small file so that it is there whole or not at all; False where it cannot be written."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(temporary).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        _log.debug("not kept in the cache: %s", error)
        return False
    return True


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
