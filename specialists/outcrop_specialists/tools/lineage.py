"""Reads how a derived file was made, from the records that `publish.py` writes beside it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from outcrop_schemas import wire
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.tools.base import ToolContext

LINEAGE_FOLDER = ".lineage"
# A chain of derived files longer than this is a loop or nobody's work.
GENERATIONS = 50


@dataclass(frozen=True)
class WrittenColumn:
    """A column of a table as it was written: `type` is a type of polars as text, `unit` None where it is not known.

    `qualifier` names the column that tells which of its values are beyond a limit, `substituted` the method by which
    these were replaced already.
    """

    name: str
    type: str
    unit: str | None = None
    qualifier: str | None = None
    substituted: str | None = None


def parameters_of(context: ToolContext, path: Path, tool: str) -> dict[str, Any] | None:
    """The parameters with which `tool` made this file, or the file it was derived from through first inputs.

    None where no record says so. Raises PathError where a record leads out of the workspace.
    """
    for _ in range(GENERATIONS):
        record = record_of(path)
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


def record_of(path: Path) -> dict[str, Any] | None:
    """The lineage record of a derived file; None for a file that Outcrop did not make."""
    try:
        record = wire.loads(record_path(path).read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def record_path(path: Path) -> Path:
    """Where the lineage record of a file lies."""
    return path.parent / LINEAGE_FOLDER / f"{path.name}.json"
