"""What is told of one artifact: how it was made, by its lineage, and the names and types of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError, PathError, WorkspaceError
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.lineage import record_of
from outcrop_specialists.unseen.allowance import columns_shown
from outcrop_specialists.unseen.allowed import Allowed
from outcrop_specialists.unseen.headless import is_headless
from outcrop_specialists.unseen.letters import plain
from outcrop_specialists.unseen.origins import chosen, is_of_a_run

NO_NAME = "(its name is withheld)"
_TEXT_CHARS = 300
_DEPTH = 4
_ENTRIES = 20


@dataclass(frozen=True)
class Described:
    """What may be shown once it is screened, and the tables that it is compared with."""

    shown: dict[str, Any]
    tables: tuple[str, ...]


def described_artifact(context: ToolContext, artifact: Mapping[str, Any], allowed: Allowed) -> Described:
    """The artifact at `path`: what its record says, with its lineage; of a table its shape and columns. Of what a run
    worded only figures that are `allowed`."""
    path = str(artifact.get("path", ""))
    shown: dict[str, Any] = {"path": _name(path, allowed), "kind": str(artifact.get("kind", "other"))}
    if artifact.get("title"):
        shown["title"] = allowed.shown(plain(str(artifact["title"])[:_TEXT_CHARS]))[0]
    if artifact.get("run_id"):
        shown["run_id"] = str(artifact["run_id"])
    try:
        place = resolve_inside(context.workspace, path)
    except PathError:
        return Described({**shown, "note": "is not in the workspace any more"}, ())
    if not place.is_file():
        return Described({**shown, "note": "is not there any more"}, ())
    inputs: list[str] = []
    record = record_of(place)
    if record is not None:
        inputs = [str(each["path"]) for each in record.get("inputs") or () if isinstance(each, dict) and "path" in each]
        parameters = record.get("parameters")
        shown |= {
            "tool": str(record.get("tool", ""))[:_TEXT_CHARS],
            "inputs": [_name(each, allowed) for each in inputs[:_ENTRIES]],
        }
        if isinstance(parameters, dict):
            free = chosen(record)
            shown["parameters"] = _within(
                {name: _allowed(value, allowed) if name in free else value for name, value in parameters.items()}
            )
    tables = tuple(inputs)
    if shown["kind"] == "table":
        shown |= _columns(context, path, allowed)
        tables = (*tables, path)
    return Described(shown, tables)


def _name(path: str, allowed: Allowed) -> str:
    return path if not is_of_a_run(path) or allowed.says(path) else NO_NAME


def _allowed(value: Any, allowed: Allowed) -> Any:
    """Parameters that were chosen, with figures that are allowed."""
    if isinstance(value, dict):
        return {allowed.shown(plain(str(k)))[0]: _allowed(v, allowed) for k, v in value.items()}
    if isinstance(value, list):
        return [_allowed(each, allowed) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if allowed.says(str(value)):
        return value
    return allowed.shown(plain(str(value)))[0]


def _columns(context: ToolContext, path: str, allowed: Allowed) -> dict[str, Any]:
    from outcrop_specialists.columns.profile import type_name

    try:
        table = read_table(context, path)
    except (DataError, WorkspaceError, PathError):
        return {"note": "is not read as a table"}
    names = None if is_headless(table) else columns_shown(table.columns, allowed)
    columns = [
        {"name": names[number] if names else f"column_{number + 1}", "type": type_name(kind)}
        for number, kind in enumerate(table.schema.values())
    ]
    found: dict[str, Any] = {"rows": table.height, "columns": columns[: limits.CHAT_ARTIFACT_COLUMNS]}
    more = len(columns) - limits.CHAT_ARTIFACT_COLUMNS
    return {**found, "more_columns": more} if more > 0 else found


def _within(value: Any, depth: int = 0) -> Any:
    """Parameters within bounds: a long list may be the values of a column."""
    if depth > _DEPTH:
        return "…"
    if isinstance(value, dict):
        return {str(k)[:_TEXT_CHARS]: _within(v, depth + 1) for k, v in list(value.items())[:_ENTRIES]}
    if isinstance(value, list):
        if len(value) > _ENTRIES or any(isinstance(each, list) for each in value):
            return f"({len(value)} entries)"
        return [_within(each, depth + 1) for each in value]
    return value[:_TEXT_CHARS] if isinstance(value, str) else value
