"""The workspace: the folder with the user's data. One run at a time; nothing of the user's is touched outside it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from outcrop_schemas.errors import PathError, WorkspaceBusyError, WorkspaceError
from outcrop_specialists.guard.confine import open_standard_streams
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.reading.address import MARK, addressed, folder_of

HOME = ".outcrop"
# The device and the number of a folder.
Identity = tuple[int, int]


class Workspace:
    """A checked workspace. `hold()` takes it for one process; reading needs no hold."""

    def __init__(self, folder: str | Path = ".") -> None:
        given = Path(folder)
        try:
            self.folder = given.resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise WorkspaceError(
                f"{given}: the workspace does not exist; make the folder or choose another workspace"
            ) from error
        if not self.folder.is_dir():
            raise WorkspaceError(f"{given}: the workspace is not a folder")
        try:
            str(self.folder).encode()
        except UnicodeEncodeError:
            shown = os.fsencode(self.folder).decode("utf-8", "backslashreplace")
            raise WorkspaceError(
                f"{shown}: the name of the workspace, or of a folder above it, is not UTF-8 and cannot be written into "
                "a request; rename it or choose another workspace"
            ) from None
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
        with self.granted(data):
            return self.folder / "results"

    @contextlib.contextmanager
    def granted(self, data: Sequence[str]) -> Iterator[dict[Path, Identity]]:
        """The `results/` folders beside the data and the general one, made where missing, each with what it is.

        They are opened beneath the workspace, component by component and through no link, and held open meanwhile: so
        long no other folder can have their numbers, and what is in their place is what was looked at, or is told from
        it. Raises WorkspaceError, PathError.
        """
        with contextlib.ExitStack() as held:
            found = {}
            for folder in dict.fromkeys([*self.results_of(data), self.folder / "results"]):
                descriptor = self._open_results(folder)
                held.callback(os.close, descriptor)
                about = os.fstat(descriptor)
                found[folder] = (about.st_dev, about.st_ino)
            yield found

    def _open_results(self, folder: Path) -> int:
        # Of links in the path of the data the user's own are followed here, once.
        inside = self.resolve(folder.parent).relative_to(self.folder) / folder.name
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        place = os.open(self.folder, flags) if self._lock is None else os.dup(self._descriptor)
        try:
            for name in inside.parts:
                if name == folder.name:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=place)
                following = os.open(name, flags, dir_fd=place)
                os.close(place)
                place = following
        except OSError as error:
            os.close(place)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise PathError(folder, "the results folder is a link, or no folder; remove it") from error
            raise WorkspaceError(f"{folder}: the results folder cannot be made: {error.strerror}") from error
        return place
