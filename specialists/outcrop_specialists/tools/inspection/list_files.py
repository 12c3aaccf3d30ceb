"""Tool: lists the data files and results of the workspace, and on request the columns of some tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError, PathError, WorkspaceError
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.paths import leads_out, resolve_inside
from outcrop_specialists.reading.listing import tables_of
from outcrop_specialists.reading.several import SeveralTablesError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases

KINDS = {
    "table": "csv tsv txt dat json jsonl ndjson geojson parquet xlsx xls xlsm xlsb ods las rdb",
    "plot": "png svg pdf jpg jpeg",
    "report": "html md",
}
KIND_OF = {f".{extension}": kind for kind, extensions in KINDS.items() for extension in extensions.split()}
PACKED = frozenset({".gz", ".bz2", ".xz"})
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
TABLES = 20
ALL_COLUMNS = 600
"""So many columns are described in one answer, shared by the tables asked for."""
ENTRIES_VISITED = 200_000
"""Then the walk ends with a note: the workspace may be a home folder."""


class Arguments(ToolArguments):
    folder: str = Field(default=".", description="The folder to list with all below it.")
    tables: list[str] = Field(default=[], max_length=TABLES, description="Tables whose columns are to be described.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Sorted by path; hidden files and folders are left out, links out of the workspace too. No row is ever shown."""
    folder = _folder(context, arguments.folder)
    notes: list[str] = []
    entries = sorted(entries_of(context.workspace, folder, notes), key=lambda entry: str(entry["path"]))
    shown = entries[: limits.LIST_FILES_ENTRIES]
    if len(entries) > len(shown):
        notes.append(f"{len(entries) - len(shown)} more files are not listed; name a folder")
    results: dict[str, Any] = {"folder": arguments.folder, "files": shown, "count": len(entries)}
    if arguments.tables:
        most = min(limits.PROFILE_COLUMNS, ALL_COLUMNS // len(arguments.tables))
        results["tables"] = []
        for done, path in enumerate(arguments.tables):
            context.report(f"describing {path}", done, len(arguments.tables))
            table = described(context, path, most)
            results["tables"].append(table)
            if table.get("more_columns"):
                notes.append(f"{path}: {table['more_columns']} more columns are not described; inspect_dataset does")
    return ToolResult(
        summary=f"{len(entries)} data files and results in {arguments.folder}", results=results, notes=notes
    )


def _folder(context: ToolContext, given: str) -> Path:
    folder = resolve_inside(context.workspace, given)
    if not folder.is_dir():
        raise PathError(given, "is a file; name a folder" if folder.exists() else "does not exist")
    return folder


def entries_of(workspace: Path, folder: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    """The files below a folder that are listed, with path, kind and size; `notes` is told what is left out."""
    denied: list[OSError] = []
    visited = others = unnamed = 0
    for at, folders, files in os.walk(folder, onerror=denied.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        visited += len(folders) + len(files)
        unnamed += sum(not _is_text(name) for name in (*folders, *files))
        folders[:] = filter(_is_text, folders)
        for name in filter(_is_text, files):
            path = Path(at, name)
            kind = KIND_OF.get(_ending(path))
            if name.startswith("."):
                continue
            if kind is None or leads_out(workspace, path) or not path.is_file():
                others += 1
                continue
            if kind == "table" and path.suffix.lower() == ".json" and path.parent.name == "results":
                kind = "report"
            yield {"path": path.relative_to(workspace).as_posix(), "kind": kind, "bytes": path.stat().st_size}
        if visited > ENTRIES_VISITED:
            notes.append(f"stopped after {visited} entries, the last in {at}; name a folder")
            break
    if others:
        notes.append(f"{others} files of other kinds are not listed")
    if unnamed:
        notes.append(f"{unnamed} files or folders have names that are not UTF-8 and cannot be listed; rename them")
    if denied:
        notes.append(f"{len(denied)} folders could not be read, such as {denied[0].filename}")


def _ending(path: Path) -> str:
    """The ending that tells the kind of a file, of a compressed one that before .gz."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending in PACKED else ending


def described(context: ToolContext, path: str, most: int) -> dict[str, Any]:
    """Rows and columns of a table by name, type and role, the first `most` of them; no value of it."""
    try:
        table = read_table(context, path)
    except SeveralTablesError as error:
        return {"path": path, "error": str(error), "tables": [found.as_json() for found in error.tables[:TABLES]]}
    except (DataError, WorkspaceError) as error:
        return {"path": path, "error": str(error)}
    profiles = profile_table(table)
    found: dict[str, Any] = {
        "path": path,
        "rows": table.frame.height,
        "columns": [{"name": each.name, "type": each.type, "role": each.role} for each in profiles[:most]],
    }
    if table.name:
        found |= {"table": table.name, "tables": [each.as_json() for each in tables_of(table.path)[:TABLES]]}
    return {**found, "more_columns": len(profiles) - most} if len(profiles) > most else found


def _is_text(name: str) -> bool:
    """Whether a file name can be written in JSON; one in bytes of another encoding cannot be named to anybody."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


TOOL = Tool(
    name="list_files",
    version=1,
    description="Lists the data files and results of the workspace, and describes the columns of tables named.",
    asked_for=("list files", "what data is there", "find files", "show the folder", "which tables"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    told_whole=True,
    also_called=phrases(
        """
        what is in the workspace; which data sets exist; contents of the directory; inventory of the data;
        available inputs; what did we receive; which documents are on disk; where is the file with; what results
        were written so far; browse the project; look around; catalogue of sheets; is there a file about; new
        deliveries from the client; starting point, what do I have; names of the csv and excel workbooks;
        outputs already produced; find the table that holds the assays; everything stored here; ls, dir; which
        archives came in; file sizes and kinds; where did somebody put the deliverables; is the sheet somewhere
        around; remind me what was produced; what can I work with; what is available here; which spreadsheets
        did they send; where are the results saved; folder overview; name of the file; anything about magnetics
        in here; where do I find; all sources of information; what have we got; open the project
        """
    ),
)
