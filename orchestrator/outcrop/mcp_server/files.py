"""The files of the workspace as a client may see them: listed without links and records, opened without being led out.

Blocking: for a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path

from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_specialists.guard.places import PRIVATE

UNKNOWN = "application/octet-stream"
_PICTURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
}
_KNOWN = {".parquet": "application/vnd.apache.parquet", ".las": "text/plain", ".geojson": "application/geo+json"}


@dataclass(frozen=True)
class Found:
    """One file, by its path in the workspace."""

    path: str
    bytes: int
    kind: str


def kind_of(path: str) -> str:
    """The media type that its name says."""
    return _KNOWN.get(Path(path).suffix.lower()) or guess_type(path)[0] or UNKNOWN


def page(folder: Path, after: str, most: int = limits.LIST_FILES_ENTRIES) -> tuple[list[Found], bool]:
    """The files behind the path `after`, in order, and whether there are more."""
    found: list[Found] = []
    for path, size in _walked(folder, (), tuple(after.split("/")) if after else ()):
        if len(found) == most:
            return found, True
        found.append(Found(path, size, kind_of(path)))
    return found, False


def _walked(folder: Path, above: tuple[str, ...], after: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Files beneath `folder` in the order of the parts of their paths, those up to `after` left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # a folder that may not be read, or that went away
    for entry in entries:
        if entry.name.startswith(".") or entry.name in PRIVATE or entry.is_symlink() or not _is_text(entry.name):
            continue
        if after and entry.name < after[0]:
            continue
        rest = after[1:] if after and entry.name == after[0] else ()
        if entry.is_dir(follow_symlinks=False):
            yield from _walked(folder / entry.name, (*above, entry.name), rest)
        elif entry.is_file(follow_symlinks=False) and not (after and entry.name == after[0]):
            yield "/".join((*above, entry.name)), entry.stat(follow_symlinks=False).st_size


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False  # it cannot be named in an address
    return True


def is_picture(root: Path, path: str) -> bool:
    """Whether it is an image by its name and by how it begins: under a name alone a table would come as a whole."""
    begins = _PICTURES.get(kind_of(path))
    if begins is None:
        return False
    with os.fdopen(_opened(root, path), "rb") as file:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(8).startswith(begins)


def whole(root: Path, path: str, most: int = limits.MCP_BLOB_BYTES) -> bytes:
    """All of a file, opened component by component and through no link. Raises PathError, also for a larger one."""
    descriptor = _opened(root, path)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise PathError(path, "is not a regular file")
        if about.st_size > most:
            raise PathError(path, f"has {about.st_size} bytes, {most} are given; open it where it is: {root / path}")
        return file.read(most)


def _opened(root: Path, path: str) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parts = path.split("/")
    if not all(parts) or {".", ".."}.intersection(parts) or "\0" in path:
        raise PathError(path[:200], "is not a path of the workspace")
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for number, part in enumerate(parts, 1):
            following = os.open(part, flags | (os.O_DIRECTORY if number < len(parts) else 0), dir_fd=place)
            os.close(place)
            place = following
    except (OSError, ValueError) as error:
        os.close(place)
        reason = error.strerror if isinstance(error, OSError) else error
        raise PathError(path[:200], f"cannot be opened: {reason}") from error
    return place
