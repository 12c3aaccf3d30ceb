"""Checks what a specialist says it wrote: a regular file, in the workspace, reached without a link, hashed as it is.

Every component is opened with O_NOFOLLOW relative to the one before, so that nothing can be swapped in between, and
with O_NONBLOCK, so that a FIFO cannot stall the orchestrator.
"""

from __future__ import annotations

import csv
import hashlib
import os
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from outcrop.workspace import HOME
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.outcome import VerifiedArtifact
from outcrop_schemas.protocol import Artifact

# Counting the records of larger tables would hold up their outcome.
_MEASURED_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class _Patience:
    """Until when artifacts may be read."""

    until: float
    stop: threading.Event

    def is_over(self) -> bool:
        return self.stop.is_set() or time.monotonic() > self.until


@dataclass(frozen=True)
class Verification:
    """The artifacts that are there, and a sentence for each that is not, or is not as it was claimed to be."""

    verified: list[VerifiedArtifact]
    said: list[str]


def verify(
    artifacts: Sequence[Artifact], workspace: int, root: Path, scratch: Path, stop: threading.Event
) -> Verification:
    """Check each artifact beneath the descriptor `workspace` of the folder `root`, opened before the launch.

    Relative paths start at the specialist's scratch folder. Blocking, for at most ARTIFACT_SECONDS or until `stop` is
    set: call it in a thread.
    """
    patience = _Patience(time.monotonic() + limits.ARTIFACT_SECONDS, stop)
    verified: dict[str, VerifiedArtifact] = {}
    said: list[str] = []
    for artifact in artifacts[: limits.ARTIFACTS_CHECKED]:
        try:
            found = _verify_one(artifact, workspace, root, scratch, patience)
        except PathError as error:
            said.append(f"artifact {artifact.path}: {error.reason}")
            continue
        verified[found.path] = found
        said += _differences(artifact, found)
    if len(artifacts) > limits.ARTIFACTS_CHECKED:
        said.append(
            f"{len(artifacts) - limits.ARTIFACTS_CHECKED} artifacts over {limits.ARTIFACTS_CHECKED} were not checked"
        )
    return Verification(list(verified.values()), said)


def _verify_one(artifact: Artifact, workspace: int, root: Path, scratch: Path, patience: _Patience) -> VerifiedArtifact:
    if "\0" in artifact.path:
        raise PathError(artifact.path, "is not a path: it holds a NUL character")
    absolute = Path(os.path.normpath(scratch / artifact.path))
    if not absolute.is_relative_to(root):
        raise PathError(artifact.path, f"is outside the workspace {root}")
    relative = absolute.relative_to(root)
    if relative.parts[:1] == (HOME,) and not absolute.is_relative_to(scratch):
        raise PathError(artifact.path, "is one of Outcrop's own records")
    descriptor = _open_beneath(workspace, relative)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PathError(artifact.path, "is not a regular file")
        if found.st_nlink != 1:
            raise PathError(
                artifact.path, f"has {found.st_nlink} names (hard links), and may lie outside under another"
            )
        if found.st_size == 0:
            raise PathError(artifact.path, "is empty")
        digest = _hash(descriptor, artifact.path, patience)
        rows, columns = _measure(descriptor) if _is_csv(artifact, relative, found.st_size) else (None, None)
        after = os.fstat(descriptor)
        if (after.st_size, after.st_mtime_ns) != (found.st_size, found.st_mtime_ns):
            raise PathError(artifact.path, "changed while it was being checked")
    finally:
        os.close(descriptor)
    return VerifiedArtifact(
        path=relative.as_posix(),
        kind=artifact.kind,
        title=artifact.title,
        bytes=found.st_size,
        sha256=digest,
        rows=rows,
        columns=columns,
    )


def _hash(descriptor: int, path: str, patience: _Patience) -> str:
    """SHA-256 of all that is there. Raises PathError when it takes too long or is no longer wanted."""
    digest, place = hashlib.sha256(), 0
    while chunk := os.pread(descriptor, _CHUNK_BYTES, place):
        digest.update(chunk)
        place += len(chunk)
        if patience.is_over():
            raise PathError(path, f"was not checked to its end: {place} bytes were read in the time there is for it")
    return digest.hexdigest()


def _differences(claimed: Artifact, found: VerifiedArtifact) -> list[str]:
    """What was claimed and is not so; the outcome has what is so."""
    pairs = ((name, getattr(claimed, name), getattr(found, name)) for name in ("bytes", "sha256", "rows", "columns"))
    wrong = [
        f"{name} {measured}, not {claim}"
        for name, claim, measured in pairs
        if None not in (claim, measured) and claim != measured
    ]
    return [f"artifact {claimed.path} differs from its claim: {', '.join(wrong)}"] if wrong else []


def _is_csv(artifact: Artifact, relative: Path, size: int) -> bool:
    return artifact.kind in ("table", "other") and relative.suffix == ".csv" and size <= _MEASURED_BYTES


def _measure(descriptor: int) -> tuple[int | None, int | None]:
    """Records below the header and fields of the header; nothing where it cannot be read as CSV."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, newline="", encoding="utf-8", errors="replace", closefd=False) as file:
        records = csv.reader(file)
        try:
            header = next(records, [])
            return sum(1 for record in records if record), len(header)
        except csv.Error:
            return None, None


def _open_beneath(workspace: int, relative: Path) -> int:
    """A descriptor to a file beneath the workspace's, no component of which is a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    current = os.dup(workspace)
    try:
        for part in relative.parts[:-1]:
            following = os.open(part, flags | os.O_DIRECTORY, dir_fd=current)
            os.close(current)
            current = following
        name = relative.name or "."
        mode = os.stat(name, dir_fd=current, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            raise PathError(relative, "is a symlink")
        if not stat.S_ISREG(mode):
            raise PathError(relative, "is not a regular file")
        return os.open(name, flags, dir_fd=current)
    except FileNotFoundError:
        raise PathError(relative, "is missing") from None
    except OSError as error:
        reason = (
            "leads through a symlink or a file" if error.errno in (20, 40) else f"cannot be opened: {error.strerror}"
        )
        raise PathError(relative, reason) from error
    finally:
        os.close(current)
