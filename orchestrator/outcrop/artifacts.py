"""Checks what a specialist says it wrote: a regular file, in the workspace, reached without a link, hashed as it is.

Every component is opened with O_NOFOLLOW relative to the one before, so that nothing can be swapped in between, and
with O_NONBLOCK, so that a FIFO cannot stall the orchestrator. One clock bounds hashing and measuring of all together.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from outcrop.measuring import NotMeasuredError, measure
from outcrop.text import inert, shorten
from outcrop.workspace import HOME
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.outcome import VerifiedArtifact
from outcrop_schemas.protocol import Artifact

_CHUNK_BYTES = 1 << 20
_PATH_CHARS = 300
MISSING = "is missing"
_LATE = "the time there is for it was over"


@dataclass(frozen=True)
class Grounds:
    """Where artifacts of one dispatch may lie, and what tells its files from those that were there before.

    `workspace` is a descriptor of the folder `root`, opened before the launch; `granted` are the results folders;
    `inputs` its data; `since_ns` the change time of the first thing that was made for it.
    """

    workspace: int
    root: Path
    scratch: Path
    granted: tuple[Path, ...]
    inputs: frozenset[Path]
    since_ns: int

    def may_be_made(self, path: Path, found: os.stat_result) -> bool:
        """Whether the dispatch can have written this file: by its place, elsewhere by its time."""
        # The time of the last write can be set to any time, that of the last change cannot.
        if found.st_ctime_ns >= self.since_ns:
            return True
        return path not in self.inputs and any(map(path.is_relative_to, (self.scratch, *self.granted)))


@dataclass(frozen=True)
class _Patience:
    """Until when artifacts may be read."""

    until: float
    stop: threading.Event

    def is_over(self) -> bool:
        return self.stop.is_set() or time.monotonic() > self.until

    def refuse_late(self) -> None:
        """Raises NotMeasuredError when the time is over."""
        if self.is_over():
            raise NotMeasuredError(_LATE)


@dataclass(frozen=True)
class Verification:
    """The artifacts that are there, and a sentence for each that is not, or is not as it was claimed to be."""

    verified: list[VerifiedArtifact]
    said: list[str]


def verify(artifacts: Sequence[Artifact], grounds: Grounds, stop: threading.Event) -> Verification:
    """Check each artifact. Relative paths start at the specialist's scratch folder.

    Blocking, for at most ARTIFACT_SECONDS or until `stop` is set: call it in a thread.
    """
    patience = _Patience(time.monotonic() + limits.ARTIFACT_SECONDS, stop)
    verified: dict[str, VerifiedArtifact] = {}
    said: list[str] = []
    for artifact in artifacts[: limits.ARTIFACTS_CHECKED]:
        try:
            found, unmeasured = _verify_one(artifact, grounds, patience)
        except PathError as error:
            said.append(f"artifact {_named(artifact)}: {error.reason}")
            continue
        verified[found.path] = found
        said += _differences(artifact, found)
        said += _unmeasured(artifact, unmeasured)
    if len(artifacts) > limits.ARTIFACTS_CHECKED:
        said.append(
            f"{len(artifacts) - limits.ARTIFACTS_CHECKED} artifacts over {limits.ARTIFACTS_CHECKED} were not checked"
        )
    return Verification(list(verified.values()), said)


def _named(artifact: Artifact) -> str:
    """The path as it may be shown: a specialist chose it."""
    return shorten(inert(artifact.path.replace("\n", "\\n"), keep_newlines=False), _PATH_CHARS)


def _verify_one(artifact: Artifact, grounds: Grounds, patience: _Patience) -> tuple[VerifiedArtifact, str]:
    """The artifact as it is, and why its rows and columns are not known. Raises PathError."""
    if "\0" in artifact.path:
        raise PathError(artifact.path, "is not a path: it holds a NUL character")
    absolute = Path(os.path.normpath(grounds.scratch / artifact.path))
    if not absolute.is_relative_to(grounds.root):
        raise PathError(artifact.path, f"is outside the workspace {grounds.root}")
    relative = absolute.relative_to(grounds.root)
    if relative.parts[:1] == (HOME,) and not absolute.is_relative_to(grounds.scratch):
        raise PathError(artifact.path, "is one of Outcrop's own records")
    if patience.is_over():
        raise PathError(artifact.path, f"was not checked: {_LATE}")
    descriptor = open_beneath(grounds.workspace, relative)
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
        if not grounds.may_be_made(absolute, found):
            raise PathError(
                artifact.path,
                "was not written by this dispatch: it is in no results folder of it and is as it was before",
            )
        digest = _hash(descriptor, artifact.path, patience)
        rows, columns, unmeasured = _shape(descriptor, artifact, relative, found.st_size, patience)
        after = os.fstat(descriptor)
        if (after.st_size, after.st_mtime_ns) != (found.st_size, found.st_mtime_ns):
            raise PathError(artifact.path, "changed while it was being checked")
    finally:
        os.close(descriptor)
    verified = VerifiedArtifact(
        path=relative.as_posix(),
        kind=artifact.kind,
        title=artifact.title,
        bytes=found.st_size,
        sha256=digest,
        rows=rows,
        columns=columns,
    )
    return verified, unmeasured


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
    return [f"artifact {_named(claimed)} differs from its claim: {', '.join(wrong)}"] if wrong else []


def _unmeasured(claimed: Artifact, why: str) -> list[str]:
    """What is to be said of rows and columns that are not known."""
    if not why:
        return []
    pairs = ((name, getattr(claimed, name)) for name in ("rows", "columns"))
    claims = [f"{name} {claim}" for name, claim in pairs if claim is not None]
    if claims:
        return [f"artifact {_named(claimed)}: its claim of {', '.join(claims)} was not measured: {why}"]
    return [f"artifact {_named(claimed)}: its rows and columns were not measured: {why}"] if why == _LATE else []


def _shape(
    descriptor: int, artifact: Artifact, relative: Path, size: int, patience: _Patience
) -> tuple[int | None, int | None, str]:
    """Rows, columns, and why they are not known."""
    suffix = relative.suffix.lower()
    if artifact.kind not in ("table", "other"):
        return None, None, f"it is named a {artifact.kind}, not a table"
    try:
        rows, columns = measure(descriptor, relative.name, suffix, size, patience.refuse_late)
    except NotMeasuredError as error:
        return None, None, str(error)
    return rows, columns, ""


def open_beneath(workspace: int, relative: Path) -> int:
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
        raise PathError(relative, MISSING) from None
    except OSError as error:
        reason = (
            "leads through a symlink or a file" if error.errno in (20, 40) else f"cannot be opened: {error.strerror}"
        )
        raise PathError(relative, reason) from error
    finally:
        os.close(current)
