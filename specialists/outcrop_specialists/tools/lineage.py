"""Reads how a derived file was made, from the records that `publish.py` writes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outcrop_schemas import wire
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.publish import LINEAGE_FOLDER

# A chain of derived files longer than this is a loop or nobody's work.
GENERATIONS = 50


def parameters_of(context: ToolContext, path: Path, tool: str) -> dict[str, Any] | None:
    """The parameters with which `tool` made this file, or the file it was derived from through first inputs.

    None where no record says so. Raises PathError where a record leads out of the workspace.
    """
    for _ in range(GENERATIONS):
        record = _record(path)
        if record is None:
            return None
        if record.get("tool") == tool:
            parameters = record.get("parameters")
            return parameters if isinstance(parameters, dict) else None
        inputs = record.get("inputs")
        if not isinstance(inputs, list) or not inputs or not isinstance(inputs[0], dict):
            return None
        path = resolve_inside(context.workspace, str(inputs[0].get("path", "")))
    return None


def _record(path: Path) -> dict[str, Any] | None:
    try:
        record = wire.loads((path.parent / LINEAGE_FOLDER / f"{path.name}.json").read_bytes())
    except (OSError, ValueError):
        # A file that Outcrop did not make has no record: that is an answer, not a fault.
        return None
    return record if isinstance(record, dict) else None
