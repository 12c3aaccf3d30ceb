"""What the tools that make columns and tables share: names that are free, finite numbers, publishing what was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas.counts import named
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import choice
from outcrop_specialists.reading.tables import Table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl

SHOWN_CHARS = 420
"""What the records of columns may take of an answer."""
LABEL_CHARS = 40


def publish_made(
    context: ToolContext, tool: Tool, inputs: Sequence[Path], arguments: ToolArguments, made: Table, title: str
) -> Published:
    """Write a table that was made of one or several files, with its units and qualifiers, as CSV with its lineage."""
    return publish(
        context,
        tool,
        inputs,
        arguments.model_dump(mode="json", exclude={"path"}),
        extension="csv",
        kind="table",
        title=title,
        write=lambda path: write_csv(made.frame, path),
        columns=written_columns(made.frame, made),
    )


class Names:
    """Names for new columns: as wished, or with a number behind where a column has the name already."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._taken = set(frame.columns)

    def free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


def numbers(table: Table, name: str, field: str = "columns") -> pl.Series:
    """A column as Float64, null where missing or not finite. Raises ArgumentError where it is not numeric."""
    values = choice.numeric(table, name, field)
    return values.set(~values.is_finite().fill_null(True), None)


def numeric_names(table: Table, wanted: Sequence[str], field: str = "columns") -> list[str]:
    """The columns of these names, each of them numeric. Raises ArgumentError."""
    names = choice.find_columns(table, wanted, field)
    for name in names:
        if not table.frame.schema[name].is_numeric():
            choice.numeric(table, name, field)  # raises, saying what the column holds
    return names


def refuse_taken(frame: pl.DataFrame, name: str, field: str) -> None:
    """Refuse a name for a new column that a column has. Raises ArgumentError."""
    if name in frame.columns:
        raise ArgumentError(field, f"{name!r} is a column already; give another name")


def label(value: Any) -> str:
    """A value of a column as a short name in a result."""
    text = "(missing)" if value is None else str(value)
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"


def shown(
    context: ToolContext,
    tool: Tool,
    table: Table,
    arguments: ToolArguments,
    records: Mapping[str, Mapping[str, Any]],
    key: str = "column",
) -> tuple[dict[str, Any], list[Published]]:
    """As many records as an answer may hold, and where there are more a CSV that has them all."""
    import polars as pl

    short = {bounded.named([name]): record for name, record in records.items()}
    told, more = bounded.fitting(short if len(short) == len(records) else records, SHOWN_CHARS)
    if not more:
        return {"columns": told}, []
    rows = [{key: name, **record} for name, record in records.items()]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    parameters = arguments.model_dump(mode="json", exclude={"path"})
    title = f"Figures of the {len(records)} {named(len(records), 'column')} of {table.path.name}"
    published = put_figures(context, tool, table, parameters, frame, title, part="figures")
    return {"columns": told, "more": f"{more} more in {published.artifact.path}"}, [published]
