"""Tool: replaces values such as fill values (-9, -999) by nothing or by another value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import censoring
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl

MOST_VALUES = 200
EXACT_FLOAT = 2**53
VALUES_CHARS = 400
"""What the values of one column may take of an answer."""


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    values: list[bool | int | float | str] = Field(
        min_length=1,
        max_length=MOST_VALUES,
        description="Values to replace, such as -9, -999 or 'n/a'. Numbers are found in numeric columns, texts in text "
        "columns as they stand, outer blanks apart.",
    )
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns to look in; if not given all, but for numeric ones where the value lies among the others "
        "and may be real.",
        json_schema_extra={"x-role": "columns"},
    )
    replacement: bool | int | float | str | None = Field(
        default=None, description="What to write instead; nothing (missing) if not given."
    )


@dataclass(frozen=True)
class Replaced:
    column: pl.Series
    counts: dict[str, int]


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Numbers are compared exactly. Raises ArgumentError for a replacement that a column cannot hold, and where no
    value is found in any column asked for."""
    table = read_table(context, arguments.path)
    named = find_columns(table, arguments.columns) if arguments.columns else None
    replaced: dict[str, Replaced] = {}
    doubtful: dict[str, int] = {}
    qualifiers = censoring.qualifier_columns(table)
    for name in named or [name for name in table.frame.columns if name not in qualifiers]:
        column = table.frame.get_column(name)
        hits = _hits(column, arguments.values)
        if named is None and column.dtype.is_numeric():
            hits = {text: mask for text, mask in hits.items() if not _is_among(column, mask, hits, doubtful)}
        if hits:
            replaced[name] = _replace(column, hits, arguments.replacement)
    notes = list(table.notes)
    if doubtful:
        notes.append(
            "SUSPECTED to be real values, as they lie among the others, and kept; name these columns to replace there "
            f"too: {bounded.counted(doubtful)}"
        )
    if not replaced:
        raise ArgumentError("values", f"none is found in the columns looked at{_hint(doubtful)}")
    frame = table.frame.with_columns(each.column for each in replaced.values())
    frame = _without_qualifiers(table, frame, replaced)
    fate = "missing" if arguments.replacement is None else repr(arguments.replacement)
    published = publish_table(
        context, TOOL, table, arguments, frame, f"{table.path.name} with {bounded.named(_said(arguments))} made {fate}"
    )
    counts = {name: each.counts for name, each in replaced.items()}
    total = sum(sum(each.values()) for each in counts.values())
    first = {name: bounded.fitting(each, VALUES_CHARS) for name, each in counts.items()}
    told, more = bounded.fitting({name: values for name, (values, _) in first.items()}, 450)
    results: dict[str, Any] = {
        "rows": frame.height, "replaced": total, "columns_changed": len(counts), "by_column": told,
        "by": fate, "path": published.artifact.path,
    }  # fmt: skip
    if more:
        results["more_columns"] = more
    if rest := sum(left for _, left in first.values()):
        results["more_values"] = rest
    absent = [text for text in _said(arguments) if not any(text in each for each in counts.values())]
    if absent:
        notes.append(f"not found: {bounded.named(absent)}")
    return ToolResult(f"{total} values in {len(counts)} columns became {fate}", results, [published.artifact], notes)


def _said(arguments: Arguments) -> list[str]:
    return list(dict.fromkeys(str(value) for value in arguments.values))


def _hits(column: pl.Series, values: list[bool | int | float | str]) -> dict[str, pl.Series]:
    """For each value that the column holds, as text, the mask of its rows."""
    import polars as pl

    found: dict[str, pl.Series] = {}
    for value in values:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if column.dtype.is_numeric() and is_number:
            mask = column.cast(pl.Float64) == float(value)
        elif column.dtype == pl.Boolean and isinstance(value, bool):
            mask = column == value
        elif column.dtype == pl.String and not isinstance(value, bool):
            mask = column.str.strip_chars() == (value.strip() if isinstance(value, str) else str(value))
        else:
            continue
        mask = mask.fill_null(False)
        if mask.any():
            found[str(value)] = mask
    return found


def _is_among(column: pl.Series, mask: pl.Series, hits: dict[str, pl.Series], doubtful: dict[str, int]) -> bool:
    """Whether a value lies between the least and the greatest of those that are not to be replaced."""
    others = column
    for each in hits.values():
        others = others.set(each, None)
    least, most, value = others.min(), others.max(), column.filter(mask)[0]
    if least is None or most is None or not least <= value <= most:
        return False
    doubtful[column.name] = doubtful.get(column.name, 0) + int(mask.sum())
    return True


def _replace(column: pl.Series, hits: dict[str, pl.Series], replacement: Any) -> Replaced:
    import polars as pl

    if replacement is not None:
        is_number = isinstance(replacement, int | float) and not isinstance(replacement, bool)
        fits = {pl.String: isinstance(replacement, str), pl.Boolean: isinstance(replacement, bool)}
        if not (is_number if column.dtype.is_numeric() else fits.get(type(column.dtype), False)):
            raise ArgumentError("replacement", f"{replacement!r} does not fit {column.name!r} of {column.dtype} values")
        if column.dtype.is_integer() and isinstance(replacement, float):
            column = column.cast(pl.Float64)
    counts = {}
    for text, mask in hits.items():
        column = column.set(mask, replacement)
        counts[text] = int(mask.sum())
    return Replaced(column, counts)


def _without_qualifiers(table: Table, frame: pl.DataFrame, replaced: dict[str, Replaced]) -> pl.DataFrame:
    """What was replaced is not beyond a limit any more."""
    for name in replaced:
        qualifier = table.qualifiers.get(name)
        if qualifier is not None:
            changed = (frame.get_column(name) != table.frame.get_column(name)).fill_null(True)
            changed &= table.frame.get_column(name).is_not_null()
            frame = frame.with_columns(frame.get_column(qualifier).set(changed, ""))
    return frame


def _hint(doubtful: dict[str, int]) -> str:
    return (
        f", but for {bounded.counted(doubtful)}, where they may be real; name columns to replace there"
        if doubtful
        else ""
    )


TOOL = Tool(
    name="replace_values",
    version=1,
    description="Replaces values, such as the fill values -9, -999 or -9999, by nothing (missing) or by another value, "
    "in some columns or in all; counts them by column.",
    asked_for=(
        "replace values",
        "replace by nothing",
        "replace with missing",
        "replace fill values",
        "replace sentinels",
        "set -999 to missing",
        "treat -9 as missing",
        "remove fill values",
        "null values such as -9999",
        "recode values",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        fill values; dummy codes; placeholder numbers; sentinel; -999; -9999; -99; nodata codes; magic number
        for no measurement; zero means not analysed; set to null; set to blank; turn codes into empty cells;
        find and replace; substitute one value by another; swap a value; N/A strings; recode; missing is coded
        as a number; error codes of the instrument; treat zero as missing; overwrite entries; null codes;
        unrealistic negative constants; NULL flags; blank out the codes; put zero in place of empty; fill the
        empty cells; the logger puts -999.25; 99999 entries; zeros mean nobody assayed it; numbers that stand
        for nothing; zeros are really empty; fake numbers; special numbers for no data; code for not available;
        impossible constants; wipe out a value; turn all zeros into blanks; minus nine; stand-in values; swap;
        change every; instrument puts; default value of the instrument; exchange one code for another; dashes
        and question marks instead of data; unknown is written as
        """
    ),
)
