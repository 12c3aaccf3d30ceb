"""Checks what a specialist says it wrote: a regular file, in the workspace, reached without a link, hashed as it is.

Every component is opened with O_NOFOLLOW relative to the one before, so that nothing can be swapped in between, and
with O_NONBLOCK, so that a FIFO cannot stall the orchestrator.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.outcome import VerifiedArtifact
from outcrop_schemas.protocol import Artifact


@dataclass(frozen=True)
class Verification:
    """The artifacts that are there, and a sentence for each that is not."""

    verified: list[VerifiedArtifact]
    refused: list[str]


def verify(artifacts: Sequence[Artifact], workspace: Path, scratch: Path) -> Verification:
    """Check each artifact; relative paths start at the specialist's scratch folder. Blocking: call it in a thread."""
    verified: dict[str, VerifiedArtifact] = {}
    refused: list[str] = []
    for artifact in artifacts[: limits.ARTIFACTS_CHECKED]:
        try:
            found = _verify_one(artifact, workspace, scratch)
        except PathError as error:
            refused.append(f"artifact {artifact.path}: {error.reason}")
            continue
        verified[found.path] = found
    if len(artifacts) > limits.ARTIFACTS_CHECKED:
        refused.append(
            f"{len(artifacts) - limits.ARTIFACTS_CHECKED} artifacts over {limits.ARTIFACTS_CHECKED} were not checked"
        )
    return Verification(list(verified.values()), refused)


def _verify_one(artifact: Artifact, workspace: Path, scratch: Path) -> VerifiedArtifact:
    if "\0" in artifact.path:
        raise PathError(artifact.path, "is not a path: it holds a NUL character")
    absolute = Path(os.path.normpath(scratch / artifact.path))
    if not absolute.is_relative_to(workspace):
        raise PathError(artifact.path, f"is outside the workspace {workspace}")
    relative = absolute.relative_to(workspace)
    descriptor = _open_beneath(workspace, relative)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PathError(artifact.path, "is not a regular file")
        if found.st_size == 0:
            raise PathError(artifact.path, "is empty")
        with open(descriptor, "rb", closefd=False) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        os.close(descriptor)
    if artifact.bytes not in (None, found.st_size) or artifact.sha256 not in (None, digest):
        raise PathError(artifact.path, "differs from the size or hash that was claimed for it")
    return VerifiedArtifact(
        path=relative.as_posix(), kind=artifact.kind, title=artifact.title, bytes=found.st_size, sha256=digest
    )


def _open_beneath(workspace: Path, relative: Path) -> int:
    """A descriptor to a file beneath the workspace, no component of which is a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    current = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
