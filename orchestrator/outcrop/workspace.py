"""The workspace: the folder with the user's data. One run at a time; nothing of the user's is touched outside it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from outcrop_schemas.errors import PathError, WorkspaceBusyError, WorkspaceError
from outcrop_specialists.guard.confine import open_standard_streams
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.reading.address import MARK, addressed, folder_of

HOME = ".outcrop"


class Workspace:
    """A checked workspace. `hold()` takes it for one process; reading needs no hold."""

    def __init__(self, folder: str | Path = ".") -> None:
        given = Path(folder)
        try:
            self.folder = given.resolve(strict=True)
        except OSError as error:
            raise WorkspaceError(
                f"{given}: the workspace does not exist; make the folder or choose another --workspace"
            ) from error
        if not self.folder.is_dir():
            raise WorkspaceError(f"{given}: the workspace is not a folder")
        self.home = self.folder / HOME
        self.runs = self.home / "runs"
        self._lock: int | None = None
        self._descriptor = -1

    @property
    def descriptor(self) -> int:
        """The workspace folder, open since it was taken."""
        return self._descriptor

    def hold(self) -> None:
        """Make the workspace's own folders and take it. Raises WorkspaceError, WorkspaceBusyError."""
        # Where an application has closed them, the lock or the journal would get their numbers, and what is printed.
        open_standard_streams()
        try:
            for place in (self.home, self.runs, self.home / "cache", self.home / "lock"):
                if place.is_symlink():
                    raise WorkspaceError(f"{place} is a link; remove it, Outcrop keeps its records in the workspace")
            self.home.mkdir(mode=0o700, exist_ok=True)
            self.runs.mkdir(mode=0o700, exist_ok=True)
            (self.home / "cache").mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise WorkspaceError(
                f"{self.folder}: the workspace cannot be written to ({error.strerror}); "
                "Outcrop keeps its records and results in it: copy the data to a folder you may write to"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise WorkspaceBusyError(
                f"{self.folder}: another run is under way in this workspace ({holder or 'unknown process'}); "
                "wait for it, end it, or use another workspace"
            ) from None
        # What artifacts are opened beneath: taken before anything is launched, so that the folder cannot be swapped.
        self._descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
        self._lock = descriptor

    def release(self) -> None:
        """Give the workspace back."""
        if self._lock is not None:
            # Unlocked, not only closed: a process that the application forked meanwhile has the descriptor too.
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            os.close(self._lock)
            os.close(self._descriptor)
            self._lock = None

    def data(self, path: str | Path) -> str:
        """A data file as it is named in briefs: relative to the workspace; `path#name` stays the table of a file.

        A relative path is taken from the workspace first, then from the current folder. Raises PathError.
        """
        given = Path(path)
        try:
            str(given).encode()
            if not given.is_absolute() and not (self.folder / given).exists() and given.exists():
                given = given.absolute()
        except (OSError, ValueError) as error:
            raise PathError(repr(str(path))[:200], f"is not a path: {error}") from error
        found, table = addressed(self.folder, given)
        return found.relative_to(self.folder).as_posix() + (f"{MARK}{table}" if table else "")

    def resolve(self, path: str | Path) -> Path:
        """An absolute, link-free path inside the workspace. Raises PathError."""
        return resolve_inside(self.folder, path)

    def results_of(self, data: Sequence[str]) -> list[Path]:
        """The folders in which results of these files lie."""
        beside = dict.fromkeys(folder_of(self.folder, path) for path in data)
        return [folder if folder.name == "results" else folder / "results" for folder in beside]

    def grant_results(self, data: Sequence[str]) -> Path:
        """Make the `results/` folders beside the data before a launch; returns the one for work without an input."""
        general = self.folder / "results"
        for folder in [*self.results_of(data), general]:
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise WorkspaceError(f"{folder}: the results folder cannot be made: {error.strerror}") from error
            if not folder.resolve().is_relative_to(self.folder):
                raise PathError(folder, "the results folder leads out of the workspace; remove the link")
        return general
