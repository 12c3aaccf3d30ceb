"""Tool: decimal commas and separators of thousands in text columns, written as plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.reading.types import LEADING_ZERO, is_number
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.cleaning.decimals import Convention, Repaired, is_mostly_numbers, repair
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Text columns to repair; all that hold mostly numbers if not given.",
        json_schema_extra={"x-role": "columns"},
    )
    convention: Convention | None = Field(
        default=None,
        description="How numbers that can be read in two ways (1,234 or 1.234) are meant: decimal_comma or "
        "decimal_point. Not given: they are left as they are and counted.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A column of which all values are numbers then becomes numeric. Nothing is written where nothing changes.

    Raises ArgumentError for a named column that is not text.
    """
    table = read_table(context, arguments.path)
    names = _columns(table, arguments.columns)
    frame, notes = table.frame, list(table.notes)
    records: dict[str, dict[str, Any]] = {}
    for done, name in enumerate(names):
        context.report(f"repairing {name}", done, len(names))
        repaired = repair(table.frame.get_column(name), arguments.convention)
        column = _typed(repaired)
        if repaired.changed.any() or repaired.ambiguous.any():
            records[name] = _record(repaired, column)
        if repaired.changed.any():
            frame = frame.with_columns(column)
    changed = sum(record["repaired"] for record in records.values())
    ambiguous = {name: record["ambiguous"] for name, record in records.items() if record["ambiguous"]}
    left = {name: record["left"] for name, record in records.items() if record["left"]}
    if ambiguous:
        notes.append(
            f"can be read in two ways and left as they are: {bounded.counted(ambiguous)}; say convention to repair them"
        )
    if left:
        notes.append(f"no numbers by the convention, left as they are: {bounded.counted(left)}")
    told, more = bounded.fitting(records, 450)
    results: dict[str, Any] = {
        "rows": frame.height, "repaired": changed, "ambiguous": sum(ambiguous.values()), "columns": told,
        "convention": arguments.convention or "only what can be read in one way",
    }  # fmt: skip
    if more:
        results["more_columns"] = more
    if not changed:
        return ToolResult(
            f"nothing to repair in {len(names)} text columns; {sum(ambiguous.values())} values can be read in two ways",
            {**results, "path": arguments.path},
            notes=[*notes, "no file was written: nothing would have changed"],
        )
    title = f"{table.path.name} with decimals repaired"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    numeric = sum(record["is_numeric"] for record in records.values())
    return ToolResult(
        f"{changed} numbers repaired in {len(records)} columns, {numeric} of which are numeric now; "
        f"{sum(ambiguous.values())} can be read in two ways and are left",
        {**results, "path": published.artifact.path},
        [published.artifact],
        notes,
    )


def _columns(table: Table, wanted: list[str] | None) -> list[str]:
    import polars as pl

    texts = [name for name, kind in table.frame.schema.items() if kind == pl.String]
    if wanted is None:
        return [name for name in texts if is_mostly_numbers(table.frame.get_column(name))]
    names = find_columns(table, wanted)
    other = next((name for name in names if name not in texts), None)
    if other is not None:
        raise ArgumentError("columns", f"{other!r} holds {table.frame.schema[other]} values, no text to repair")
    return names


def _typed(repaired: Repaired) -> pl.Series:
    """Numeric where every value is a number and none looks like a code, else text."""
    import polars as pl

    values = repaired.text.str.strip_chars().drop_nulls()
    if repaired.ambiguous.any() or not is_number(values).all() or values.str.contains(LEADING_ZERO).any():
        return repaired.text
    plain = repaired.text.str.strip_chars().str.strip_prefix("+")
    for kind in (pl.Int64, pl.Float64):
        found = plain.cast(kind, strict=False)
        if found.null_count() == plain.null_count():
            return found
    return repaired.text


def _record(repaired: Repaired, column: pl.Series) -> dict[str, Any]:
    record: dict[str, Any] = {
        "repaired": int(repaired.changed.sum()),
        "ambiguous": int(repaired.ambiguous.sum()),
        "left": int(repaired.other.sum()),
        "is_numeric": column.dtype.is_numeric(),
    }
    if record["ambiguous"]:
        record["first_ambiguous_row"] = int(repaired.ambiguous.arg_true()[0]) + 1
    return record


TOOL = Tool(
    name="fix_decimals",
    version=1,
    description="Repairs decimal commas and separators of thousands in text columns (1,5; 1.234,56; 1 234.5), so that "
    "they become numbers; what can be read in two ways is only counted unless a convention is given.",
    asked_for=(
        "fix decimals",
        "fix decimal commas",
        "repair decimal commas",
        "convert commas to points",
        "decimal comma to decimal point",
        "remove thousands separators",
        "fix number formats",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        comma instead of a point; European numbers; German, French or Spanish number notation; continental
        format; thousands separators; dots and commas mixed up; numbers such as 1.234,56; commas inside numbers;
        locale of the numbers; comma-separated decimals; decimal mark; digit grouping; figures with spaces in
        them; wrong decimal sign; numerals written the foreign way; regional settings of the lab; apostrophes or
        blanks between digits; 0,35 should read 0.35; wrong separators; typed with commas; comma where there
        should be a point; decimal separator; point instead of comma; 3,14; 12,5 should be 12.5; commas as
        decimals; numerals in foreign format; repair number formatting; number punctuation; thousand marks;
        spaces inside of numbers
        """
    ),
)
