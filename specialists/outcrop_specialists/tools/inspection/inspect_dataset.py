"""Tool: describes a table column by column without showing a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from pydantic import Field

from outcrop_schemas import limits, wire
from outcrop_schemas.counts import many, named
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.profile import ColumnProfile, profile_table
from outcrop_specialists.columns.units import split_unit
from outcrop_specialists.reading.listing import tables_of
from outcrop_specialists.reading.report import short_report
from outcrop_specialists.reading.tables import read_table, width_of
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases

HEADER_FACTS, HEADER_CHARS = 20, 80
"""What a file says above its rows (a well's name, a client): so much of it is told."""
TABLES = 20
NAMES_CHARS = 900
"""Names of columns alone take so much of an answer."""


class Arguments(ToolArguments):
    path: str = Field(
        description="The data file; FILE#NAME is a sheet, section or block of a file with several tables."
    )
    columns: list[str] | None = Field(default=None, min_length=1, description="Columns to tell of; all if not given.")
    offset: int = Field(
        default=0, ge=0, description="Go on after so many columns: of a wide table only the first ones are told."
    )
    names_only: bool = Field(
        default=False, description="Only names by type and role, many to an answer; next_offset goes on."
    )
    named_in: str | None = Field(
        default=None, description="A text, such as a question: columns of a wide table that it names are told first."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A table of many columns is told more shortly, with roles by count; `shortening.py` keeps the first columns."""
    table = read_table(context, arguments.path)
    every = profile_table(table)
    is_wide = width_of(table) > limits.SMALL_TABLE_COLUMNS
    wanted = find_columns(table, arguments.columns) if arguments.columns else []
    profiles = [profile for profile in every if not wanted or profile.name in wanted]
    if is_wide and arguments.named_in:
        profiles.sort(key=lambda profile: not names(arguments.named_in or "", profile.name))
    results: dict[str, Any] = {"path": arguments.path, "rows": table.frame.height}
    if arguments.names_only:
        results |= {"column_count": len(every), **names_by_kind(profiles, arguments.offset)}
        return ToolResult(f"{table.path.name}: names of {len(every)} columns", results)
    if is_wide:
        results |= {
            "column_count": len(every),
            "columns": [each.as_json() if wanted else shortly(each) for each in profiles[arguments.offset :]],
            "roles": dict(Counter(profile.role for profile in every)),
        }
    else:
        results |= {"columns": [profile.as_json() for profile in profiles[arguments.offset :]], "more_columns": 0}
    results["reading"] = {key: value for key, value in short_report(table).items() if not is_wide or key != "read_as"}
    if table.header:
        results["header"] = dict(
            islice(((key, value[:HEADER_CHARS]) for key, value in table.header.items()), HEADER_FACTS)
        )
    if table.name:
        results["table"] = table.name
        results["tables"] = [found.as_json() for found in tables_of(table.path)[:TABLES]]
    summary = f"{table.path.name}: {many(table.frame.height, 'row')}, {many(len(every), 'column')}"
    if is_wide:
        summary += f", told from number {arguments.offset + 1}; offset goes on"
    beyond = [profile for profile in every if profile.censored]
    if beyond:
        cut = sum(each.censored for each in beyond)
        summary += f"; {many(cut, 'result')} in {many(len(beyond), 'column')} {named(cut, 'is', 'are')} beyond a limit"
    return ToolResult(summary=summary, results=results, notes=list(table.notes))


def names_by_kind(profiles: Sequence[ColumnProfile], offset: int) -> dict[str, Any]:
    """The names from `offset` on that fit into one answer, in file order within `type role`, and where to go on."""
    found: dict[str, list[str]] = {}
    next_offset = offset
    for profile in profiles[offset:]:
        of_kind = found.setdefault(f"{profile.type} {profile.role}", [])
        of_kind.append(profile.name)
        if len(wire.dumps(found)) > NAMES_CHARS and next_offset > offset:
            of_kind.pop()
            break
        next_offset += 1
    columns = {kind: names for kind, names in found.items() if names}
    return {"columns": columns, **({"next_offset": next_offset} if next_offset < len(profiles) else {})}


def shortly(profile: ColumnProfile) -> dict[str, Any]:
    """A column of a wide table: what it is, and what is missing or beyond a limit if anything is."""
    wanted = ("name", "type", "role", "unit", "missing", "censored")
    return {key: value for key, value in profile.as_json().items() if key in wanted and value not in (None, 0)}


def names(text: str, column: str) -> bool:
    """Whether the text has the column's name in it, with or without its unit; a single letter counts as written."""
    bare = split_unit(column)[0]
    return any(
        re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text, 0 if len(each) == 1 else re.IGNORECASE)
        for each in {column, bare}
        if each
    )


TOOL = Tool(
    name="inspect_dataset",
    version=1,
    description="Describes a table: number of rows, and for each column its type, role, unit, missing and distinct "
    "values, range and results beyond a detection limit.",
    asked_for=(
        "inspect data",
        "profile columns",
        "what columns are there",
        "data types",
        "overview",
        "look at a file",
        "list columns",
        "column names",
        "show the columns",
        "how many rows are there",
        "number of rows",
        "total number of samples",
    ),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        structure of the table; schema; which fields and their formats; first look at new data; what does this
        spreadsheet contain; data dictionary; meaning of the headers; what variables were recorded; dimensions,
        length and width of the table; summary of the whole file; size of the dataset; get familiar with the
        data; metadata of the columns; is this column text or numeric; what units are the elements in; which
        columns hold the elements, identifiers and coordinates; how big is it; orientation before the analysis;
        introduce me to the dataset; number of records and attributes; layout of the sheet; strings, integers or
        floats; explore an unknown csv; what kind of information is in it; what am I dealing with; what does the
        file carry; how were the quantities measured; brief me on the file; walk me through; before anything
        else look at the file; does it contain a depth; which elements were analysed; does the table have; what
        is recorded for each sample; period covered by the data; describe the file; what do we know about each
        sample; is there a column for; never seen it; which parameters are included; fields
        """
    ),
)
