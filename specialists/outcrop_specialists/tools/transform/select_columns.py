"""Tool: keeps, drops, orders and renames columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns to keep, in this order, or to drop; all if not given (to rename only).",
        json_schema_extra={"x-role": "columns"},
    )
    keep: Literal["listed", "others"] = Field(
        default="listed", description="listed keeps these columns, others drops them and keeps all the rest."
    )
    rename: dict[str, str] | None = Field(default=None, description="New names, by the names that columns have now.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A column with results beyond a limit keeps the column of its qualifiers beside it. Raises ArgumentError."""
    table = read_table(context, arguments.path)
    if arguments.columns is None and not arguments.rename:
        raise ArgumentError("columns", "name the columns to keep, or give rename")
    listed = find_columns(table, arguments.columns) if arguments.columns else table.frame.columns
    wanted = set(listed)
    kept = [name for name in table.frame.columns if name not in wanted] if arguments.keep == "others" else list(listed)
    if not kept:
        raise ArgumentError("columns", "no column would be left")
    kept, carried = _with_qualifiers(table, kept)
    renamed = _renamed(table, arguments.rename or {}, kept)
    made = _as(table, kept, renamed)
    title = f"{len(kept)} of {many(table.frame.width, 'column')} of {table.path.name}"
    published = publish_table(context, TOOL, made, arguments, made.frame, title)
    notes = list(table.notes)
    if carried:
        notes.append(f"kept with their columns, for they say what is beyond a limit: {bounded.named(carried)}")
    return ToolResult(
        f"{len(kept)} of {table.frame.width} columns kept, {len(renamed)} renamed, all {table.frame.height} rows",
        {
            "rows": table.frame.height,
            "columns_before": table.frame.width,
            "columns_after": len(kept),
            "kept": bounded.named(made.frame.columns),
            "renamed": len(renamed),
            "path": published.artifact.path,
        },
        [published.artifact],
        notes,
    )


def _with_qualifiers(table: Table, kept: list[str]) -> tuple[list[str], list[str]]:
    known, carried, found = set(kept), [], []
    for name in kept:
        found.append(name)
        qualifier = table.qualifiers.get(name)
        if qualifier is not None and qualifier not in known:
            found.append(qualifier)
            carried.append(qualifier)
            known.add(qualifier)
    return found, carried


def _renamed(table: Table, rename: dict[str, str], kept: list[str]) -> dict[str, str]:
    """Present name → new name of the columns kept. Raises ArgumentError for names that are unknown or would clash."""
    renamed = {find_column(table, name, "rename"): new for name, new in rename.items()}
    gone = [name for name in renamed if name not in kept]
    if gone:
        raise ArgumentError("rename", f"{gone[0]!r} is not among the columns kept")
    names = [renamed.get(name, name) for name in kept]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None) if renamed else None
    if twice is not None:
        raise ArgumentError("rename", f"two columns would be called {twice!r}")
    if any(not new.strip() for new in renamed.values()):
        raise ArgumentError("rename", "a new name is empty")
    return renamed


def _as(table: Table, kept: list[str], renamed: dict[str, str]) -> Table:
    def new(name: str) -> str:
        return renamed.get(name, name)

    known = set(kept)
    return replace(
        table,
        frame=table.frame.select(kept).rename(renamed),
        # A unit that stood in the old name is not lost, nor is one that the new name says made of it.
        units={
            new(name): unit
            for name in kept
            if (unit := unit_of(name, table.units) if new(name) != name else table.units.get(name))
        },
        qualifiers={new(name): new(q) for name, q in table.qualifiers.items() if {name, q} <= known},
        substituted={new(name): method for name, method in table.substituted.items() if name in known},
    )


TOOL = Tool(
    name="select_columns",
    version=2,
    description="Keeps or drops columns, puts them in another order, renames them, and writes the table.",
    asked_for=(
        "select columns",
        "keep columns",
        "keep only the columns",
        "drop columns",
        "remove columns",
        "rename columns",
        "rename",
        "reorder columns",
        "subset of columns",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        fewer fields; rename headers; better column titles; drop unneeded fields; order of the columns; take
        only certain variables; pick variables; hide columns; trim the width of the table; headings; delete a
        field; keep identifiers and gold only; change the name of a field; attributes subset; rearrange fields;
        narrow the sheet; get rid of some variables; cryptic headers; titles; strip the columns that are not
        needed; move a column to the front; only the fields I care about; column names should be; slim table;
        call the field something else; throw away comment fields; slimmer sheet with just some columns; change
        headers; only coordinates and one element; new header names; strip everything but a few columns; omit
        columns; columns not needed; put the identifier first; instead of the old name; rename the field; call
        it; drop the fields; leave just these variables; cleaner headings; without the comments; send me only
        the columns; relabel the header; take away fields; swap columns; fewer variables in the file
        """
    ),
)
