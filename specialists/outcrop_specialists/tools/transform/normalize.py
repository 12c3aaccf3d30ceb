"""Tool: brings columns to a common range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.transform import made
from outcrop_specialists.tools.transform.scaling import Scaling, scale

if TYPE_CHECKING:
    import polars as pl

Method = Literal["minmax", "robust", "max"]


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to normalize.", json_schema_extra={"x-role": "columns"}
    )
    method: Method = Field(
        default="minmax",
        description="minmax: 0 to 1; robust: (value - median) / interquartile range; max: divided by the greatest "
        "absolute value.",
    )
    by: str | None = Field(
        default=None,
        description="Column whose values make groups, each normalized by itself.",
        json_schema_extra={"x-role": "by-column"},
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `<column>_minmax` (or `_robust`, `_max`) for each column. Raises ArgumentError where none has a spread."""
    table = read_table(context, arguments.path)
    names = made.numeric_names(table, arguments.columns)
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    return scale(context, TOOL, table, arguments, names, _scaling(arguments.method), by)


def _scaling(method: Method) -> Scaling:
    def quartile(column: pl.Expr, share: float) -> pl.Expr:
        return column.quantile(share, "linear")

    match method:
        case "minmax":
            rule = "(value - min) / (max - min)"
            return Scaling("minmax", rule, lambda c: c.min(), lambda c: c.max() - c.min())
        case "robust":
            rule = "(value - median) / (q3 - q1), quartiles interpolated linearly (type 7)"
            return Scaling("robust", rule, lambda c: c.median(), lambda c: quartile(c, 0.75) - quartile(c, 0.25))
        case "max":
            return Scaling("max", "value / greatest absolute value", lambda c: c.max() * 0, lambda c: c.abs().max())


TOOL = Tool(
    name="normalize",
    version=1,
    description="Normalizes numeric columns to a common range (0 to 1, by median and interquartile range, or by the "
    "maximum), over all rows or within groups, and writes the table with the new columns.",
    asked_for=(
        "normalize columns",
        "normalise columns",
        "scale to 0 to 1",
        "rescale columns",
        "min-max scaling",
        "robust scaling",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        between zero and one; 0-1 range; common scale; feature scaling; same range for all variables; bring to
        comparable magnitude; divide by the maximum; rescale by quartiles; squeeze into the unit interval; scale
        invariant of outliers; percent of maximum; min and max; make variables of unlike size comparable;
        equalise the ranges; robust scaler; normalised gamma; unit range; fraction of the largest value; fit
        onto the interval; stretch so that it runs from 0 to 1; scale by the highest reading; put on a scale
        from zero to one; compress to a unit scale; relative to the maximum; rescale; same scale; lowest becomes
        0 and highest becomes 1; range scaling; as a fraction of the peak; divide by the peak; adjust to a
        common range; scaled
        """
    ),
)
