"""The call by which the chat looks at a workspace: its three data tools, and the screening of what others say.

It runs in a confined process of its own, where the tables are; what leaves it are names, types, counts and screened
texts. Of every answer only fields that are known are given, so that nothing new can slip in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError, OutcropError, PathError, WorkspaceError
from outcrop_specialists.completion import checked
from outcrop_specialists.reading.row_lines import is_row
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.check_missing import Arguments as CheckArguments
from outcrop_specialists.tools.inspection.list_files import Arguments as ListArguments
from outcrop_specialists.unseen.made import described_artifact
from outcrop_specialists.unseen.names import hides_names, telling_names
from outcrop_specialists.unseen.screen import Tables, screened, screened_value

LOOK = "look_unseen"
"""The call."""
NOT_A_TABLE = "is not read as a table; why may quote what stands in it, so it is not told here"
HEADLESS = "the names seem to be cells of a row, so none is shown: columns are numbered as they stand"
_NAME_CHARS = 120


class LookArguments(BaseModel):
    """What is looked at. `tables` are those that texts are compared with, and all others of the workspace `but` these;
    `before` is what was told already."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: Literal["list_files", "check_missing", "summarise_artifacts", "screen"]
    arguments: dict[str, Any] = {}
    tables: list[str] = []
    but: list[str] = []
    before: list[str] = []


class SummariseArguments(BaseModel):
    """The artifacts to be told of, as the records name them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    artifacts: list[dict[str, Any]] = Field(max_length=limits.CHAT_ARTIFACTS)


def look(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    """The answer, without rows. Raises OutcropError without quoting a cell."""
    return _LOOKS[asked.tool](context, asked)


def _list_files(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    from outcrop_specialists.tools.inspection.list_files import TOOL

    given = checked(ListArguments, asked.arguments)
    found = TOOL.run(context, given).results
    files = [{name: each[name] for name in ("path", "kind", "bytes")} for each in found["files"]]
    gone = telling_names(context, [each["path"] for each in files], asked.before)
    files = [each for each in files if each["path"] not in gone]
    shown: dict[str, Any] = {"folder": found["folder"], "count": found["count"], "files": files}
    if given.tables:
        shown["tables"] = [_table(context, each, asked.before) for each in found["tables"]]
    return shown


def _table(context: ToolContext, told: Mapping[str, Any], before: Sequence[str]) -> dict[str, Any]:
    """One described table: names and types of its columns, of several tables their names and sizes."""
    several = [
        {name: each[name] for name in ("name", "rows", "columns") if name in each}
        for each in told.get("tables", ())
        if len(str(each.get("name", ""))) <= _NAME_CHARS and not is_row(str(each.get("name", "")))
    ]
    also: dict[str, Any] = {"tables": several} if several else {}
    if "error" in told:
        return {"path": told["path"], **(also or {"error": NOT_A_TABLE})}
    shown: dict[str, Any] = {"path": told["path"], "rows": told["rows"], **also}
    if "more_columns" in told:
        shown["more_columns"] = told["more_columns"]
    columns = [{name: each[name] for name in ("name", "type", "role")} for each in told["columns"]]
    if hides_names(context, told["path"], _read(context, told["path"]), before):
        columns = [{**each, "name": f"column_{number}"} for number, each in enumerate(columns, 1)]
        shown["note"] = HEADLESS
    return {**shown, "columns": columns}


def _check_missing(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    from outcrop_specialists.tools.inspection.check_missing import TOOL

    given = checked(CheckArguments, asked.arguments)
    table = _read(context, given.path)
    found = TOOL.run(context, given).results
    is_hidden = hides_names(context, given.path, table, asked.before)
    names = {name: f"column_{number}" for number, name in enumerate(table.columns, 1)} if is_hidden else {}
    counted = ("path", "rows", "missing_cells", "complete_columns", "more_columns")
    shown: dict[str, Any] = {name: found[name] for name in counted if name in found}
    shown["columns"] = [
        {"name": names.get(each["name"], each["name"]), **{k: each[k] for k in ("type", "missing", "missing_percent")}}
        for each in found["columns"]
    ]
    beyond = found.get("beyond_a_limit", {})
    if beyond:
        shown["beyond_a_limit"] = {
            names.get(name, name): {"below": each["below"], "above": each["above"]} for name, each in beyond.items()
        }
    return {**shown, "note": HEADLESS} if names else shown


def _read(context: ToolContext, path: str) -> Table:
    try:
        return read_table(context, path)
    except PathError:
        raise
    except (DataError, WorkspaceError):
        raise DataError(f"{path} {NOT_A_TABLE}") from None


def _summarise_artifacts(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    given = checked(SummariseArguments, asked.arguments)
    told = [described_artifact(context, each) for each in given.artifacts]
    tables = Tables.of(context, [*asked.tables, *(path for each in told for path in each.tables)])
    # A file that is gone, or is no table any more, has no row that could be told.
    tables.unread.clear()
    return {"artifacts": screened_value([each.shown for each in told], tables, asked.before)}


def _screen(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    texts: Sequence[str] = asked.arguments.get("texts", [])
    tables = Tables.of(context, asked.tables)
    tables.add_others(context, but=asked.but)
    return {"texts": screened(texts, tables, asked.before), "unread": tables.unread}


_LOOKS: dict[str, Callable[[ToolContext, LookArguments], dict[str, Any]]] = {
    "list_files": _list_files,
    "check_missing": _check_missing,
    "summarise_artifacts": _summarise_artifacts,
    "screen": _screen,
}


def look_safely(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    """`look`, whatever a library raises: its words could quote a cell."""
    try:
        return look(context, asked)
    except OutcropError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary to the libraries that read; its words are left out
        raise DataError(f"{asked.tool} failed: {type(error).__name__}") from None
