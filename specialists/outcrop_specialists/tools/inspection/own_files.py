"""Which files of a workspace an agent may read word for word: not what Outcrop itself keeps there."""

from __future__ import annotations

from pathlib import Path

from outcrop_schemas.errors import PathError
from outcrop_specialists.guard.places import PRIVATE
from outcrop_specialists.paths import data_file
from outcrop_specialists.reading.address import addressed
from outcrop_specialists.tools.base import ToolContext


def readable_file(context: ToolContext, path: str) -> tuple[Path, str]:
    """The file, and what is named in it behind `#`. Raises PathError for one outside the workspace, for records and
    settings of Outcrop, and for what is no file. The scratch folder is the agent's own, wherever it lies."""
    own = _in_scratch(context, path)
    if own is not None:
        return own, ""
    resolved, inside = addressed(context.workspace, path)
    private = PRIVATE.intersection(resolved.relative_to(context.workspace).parts)
    if private:
        raise PathError(path, f"is Outcrop's own ({', '.join(sorted(private))}): its records and settings are not read")
    return resolved, inside


def _in_scratch(context: ToolContext, path: str) -> Path | None:
    try:
        absolute, scratch = (context.workspace / path).resolve(), context.scratch.resolve()
    except (OSError, ValueError, RuntimeError):
        return None  # what is wrong with it is said as of any other path
    return data_file(scratch, absolute) if absolute.is_relative_to(scratch) else None
