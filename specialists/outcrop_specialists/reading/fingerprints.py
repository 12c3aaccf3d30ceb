"""The SHA-256 of a file, computed once: a gigabyte takes a second, and every tool call asks for it.

A hash is used again while device, inode, size and both times (changed, status changed) of the file are as they were
when it was computed. A program can set the first of the times back but not the second, so this is a trade only against
one who changes the clock. A file that was touched within two seconds of its hashing is hashed again the next time.
"""

from __future__ import annotations

import os
import time
from hashlib import sha256
from pathlib import Path

from outcrop_schemas import wire
from outcrop_specialists.reading.cache_folder import cache_folder, write_whole
from outcrop_specialists.tools.lineage import sha256_of

SMALL_BYTES = 1 << 20
"""Hashing less is quicker than remembering it."""
SETTLED_NS = 2_000_000_000
_known: dict[str, tuple[list[int], str]] = {}


def state_of(path: Path) -> list[int]:
    """What of a file changes when it is written to or replaced."""
    found = path.stat()
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def fingerprint(workspace: Path, path: Path) -> str:
    """The SHA-256 (hex) of a file of the workspace, from memory or from the cache where the file is as it was."""
    plain = str(path)
    state = state_of(path)
    if state[2] < SMALL_BYTES:
        return sha256_of(path)
    known = _known.get(plain) or _kept(workspace, plain)
    if known is not None and known[0] == state:
        _known[plain] = known
        return known[1]
    began = time.time_ns()
    found = sha256_of(path)
    if state_of(path) == state and max(state[3:]) < began - SETTLED_NS:
        _known[plain] = (state, found)
        _keep(workspace, plain, state, found)
    return found


def _record(workspace: Path, plain: str) -> Path | None:
    folder = cache_folder(workspace, "hashes")
    return folder / f"{sha256(os.fsencode(plain)).hexdigest()[:32]}.json" if folder else None


def _kept(workspace: Path, plain: str) -> tuple[list[int], str] | None:
    record = _record(workspace, plain)
    if record is None:
        return None
    try:
        found = wire.loads(record.read_bytes())
        return list(found["state"]), str(found["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # none, or of another make: it is computed anew


def _keep(workspace: Path, plain: str, state: list[int], found: str) -> None:
    record = _record(workspace, plain)
    if record is not None:
        write_whole(record, wire.dumps({"path": plain, "state": state, "sha256": found}))
