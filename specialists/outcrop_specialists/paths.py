"""Keeps a specialist's paths inside the workspace, also through symbolic links."""

from __future__ import annotations

import stat
from pathlib import Path

from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

_SHOWN_CHARS = 200


def resolve_inside(workspace: Path, path: str | Path) -> Path:
    """The absolute, link-free form of `path` (relative ones start at the workspace). Raises PathError if outside."""
    given = Path(path)
    try:
        str(given).encode()
        absolute = (given if given.is_absolute() else workspace / given).resolve()
        _looked_at(absolute)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise PathError(repr(str(path)[:_SHOWN_CHARS]), f"is not a path: {reason}") from error
    if not absolute.is_relative_to(workspace):
        raise PathError(path, f"is outside the workspace {workspace}; copy it there or choose another workspace")
    return absolute


def leads_out(workspace: Path, path: Path) -> bool:
    """Whether `path` is outside the workspace (which is given without links), or a link that leads nowhere."""
    try:
        return not path.resolve(strict=path.is_symlink()).is_relative_to(workspace)
    except (OSError, RuntimeError):
        return True


def _looked_at(absolute: Path) -> None:
    """Raises OSError for what no file can be called, and for links that go round in a circle."""
    try:
        absolute.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # it could be a path


def data_file(workspace: Path, path: str | Path) -> Path:
    """A regular, non-empty file inside the workspace. Raises PathError with what to do."""
    resolved = resolve_inside(workspace, path)
    try:
        found = resolved.stat()
    except FileNotFoundError:
        raise PathError(path, _missing(workspace, resolved)) from None
    except OSError as error:
        raise PathError(path, f"cannot be read: {error.strerror}") from error
    if stat.S_ISDIR(found.st_mode):
        raise PathError(path, "is a folder; name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise PathError(path, "is not a regular file")
    if found.st_size == 0:
        raise PathError(path, "is empty (0 bytes)")
    return resolved


def _missing(workspace: Path, resolved: Path) -> str:
    from difflib import get_close_matches
    from itertools import islice

    entries = resolved.parent.iterdir() if resolved.parent.is_dir() else iter(())
    beside = [entry.name for entry in islice(entries, limits.NEIGHBOURS_COMPARED)]
    close = get_close_matches(resolved.name, beside, n=3)
    return "does not exist" + (f"; did you mean {', '.join(close)}?" if close else f" in {workspace}")
