"""The call by which the chat looks at a workspace: its three data tools, and the screening of what others say.

It runs in a confined process of its own, where the tables are; what leaves it are names, types, counts and screened
texts. Of every answer only fields that are known are given, so that nothing new can slip in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from outcrop_specialists.unseen.allowance import Allowance, allowed_by, columns_shown, names_allowed
from outcrop_specialists.unseen.made import described_artifact
from outcrop_specialists.unseen.names import hides_names, telling_names
from outcrop_specialists.unseen.origins import is_named_by_code, is_of_a_run
from outcrop_specialists.unseen.screen import Tables, screened, screened_value

LOOK = "look_unseen"
"""The call."""
NOT_A_TABLE = "is not read as a table; why may quote what stands in it, so it is not told here"
HEADLESS = "the names seem to be cells of a row, so none is shown: columns are numbered as they stand"
UNKNOWN_FIGURES = "names of columns with a figure that the run chose are not shown: these are numbered"
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
    asked: list[str] = []
    """What the user said: names and figures in it are known."""


class SummariseArguments(BaseModel):
    """The artifacts to be told of, as the records name them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    artifacts: list[dict[str, Any]] = Field(max_length=limits.CHAT_ARTIFACTS)


class ScreenArguments(BaseModel):
    """The texts to be compared; with `allow` they are a run's, and only such figures are shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: list[str]
    allow: Allowance | None = None


def look(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    """The answer, without rows. Raises OutcropError without quoting a cell."""
    return _LOOKS[asked.tool](context, asked)


def _list_files(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    from outcrop_specialists.tools.inspection.list_files import TOOL

    given = checked(ListArguments, asked.arguments)
    found = TOOL.run(context, given).results
    files = [{name: each[name] for name in ("path", "kind", "bytes")} for each in found["files"]]
    gone = telling_names(context, [each["path"] for each in files], asked.before)
    users = [each["path"] for each in files if not is_of_a_run(each["path"])]
    odd = [each["path"] for each in files if is_of_a_run(each["path"]) and not is_named_by_code(each["path"], users)]
    allowed = names_allowed(context, odd, [*asked.asked, *users]) if odd else None
    unknown = {path for path in odd if allowed and not allowed.says(path)}
    files = [each for each in files if each["path"] not in gone and each["path"] not in unknown]
    shown: dict[str, Any] = {"folder": found["folder"], "count": found["count"], "files": files}
    if given.tables:
        shown["tables"] = [_table(context, each, asked) for each in found["tables"]]
    return shown


def _table(context: ToolContext, told: Mapping[str, Any], asked: LookArguments) -> dict[str, Any]:
    """One described table: names and types of its columns, of several tables their names and sizes."""
    several = [
        {name: each[name] for name in ("name", "rows", "columns") if name in each}
        for each in told.get("tables", ())
        if len(str(each.get("name", ""))) <= _NAME_CHARS and not is_row(str(each.get("name", "")))
    ]
    if several and is_of_a_run(told["path"]):
        allowed = names_allowed(context, [told["path"]], asked.asked)
        several = [each for each in several if allowed.says(str(each.get("name", "")))]
    also: dict[str, Any] = {"tables": several} if several else {}
    if "error" in told:
        return {"path": told["path"], **(also or {"error": NOT_A_TABLE})}
    shown: dict[str, Any] = {"path": told["path"], "rows": told["rows"], **also}
    if "more_columns" in told:
        shown["more_columns"] = told["more_columns"]
    columns = [{name: each[name] for name in ("name", "type", "role")} for each in told["columns"]]
    names, note = _names(context, told["path"], _read(context, told["path"]), asked)
    columns = [{**each, "name": names.get(each["name"], each["name"])} for each in columns]
    shown |= note
    return {**shown, "columns": columns}


def _check_missing(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    from outcrop_specialists.tools.inspection.check_missing import TOOL

    given = checked(CheckArguments, asked.arguments)
    table = _read(context, given.path)
    found = TOOL.run(context, given).results
    names, note = _names(context, given.path, table, asked)
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
    return {**shown, **note}


def _names(
    context: ToolContext, path: str, table: Table, asked: LookArguments
) -> tuple[dict[str, str], dict[str, str]]:
    """What is shown for the names of columns, and why, where it is something else."""
    if hides_names(context, path, table, asked.before):
        return {name: f"column_{number}" for number, name in enumerate(table.columns, 1)}, {"note": HEADLESS}
    if not is_of_a_run(path):
        return {}, {}
    shown = columns_shown(table.columns, names_allowed(context, [path], asked.asked))
    names = {name: now for name, now in zip(table.columns, shown, strict=True) if name != now}
    return names, {"note": UNKNOWN_FIGURES} if names else {}


def _read(context: ToolContext, path: str) -> Table:
    try:
        return read_table(context, path)
    except PathError:
        raise
    except (DataError, WorkspaceError):
        raise DataError(f"{path} {NOT_A_TABLE}") from None


def _summarise_artifacts(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    given = checked(SummariseArguments, asked.arguments)
    paths = [str(each.get("path", "")) for each in given.artifacts]
    allowed = names_allowed(context, paths, asked.asked)
    told = [described_artifact(context, each, allowed) for each in given.artifacts]
    tables = Tables.of(context, [*asked.tables, *(path for each in told for path in each.tables)])
    # A file that is gone, or is no table any more, has no row that could be told.
    tables.unread.clear()
    return {"artifacts": screened_value([each.shown for each in told], tables, asked.before)}


def _screen(context: ToolContext, asked: LookArguments) -> dict[str, Any]:
    given = checked(ScreenArguments, asked.arguments)
    tables = Tables.of(context, asked.tables)
    tables.add_others(context, but=asked.but)
    allowed = allowed_by(context, given.allow, asked.tables, tables.frames, given.texts) if given.allow else None
    found: dict[str, Any] = {"texts": screened(given.texts, tables, asked.before, allowed), "unread": tables.unread}
    if allowed is None:
        return found
    held = {"figures": allowed.held.figures, "words": allowed.held.words}
    return {**found, "held": held, "vouched": sorted(allowed.vouched)}


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
