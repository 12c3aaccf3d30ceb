"""Tool: z-scores of columns."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.transform import made
from outcrop_specialists.tools.transform.scaling import Scaling, scale


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to standardize.", json_schema_extra={"x-role": "columns"}
    )
    ddof: Literal[0, 1] = Field(default=1, description="1: standard deviation with n - 1; 0: with n.")
    by: str | None = Field(
        default=None,
        description="Column whose values make groups, each standardized by itself.",
        json_schema_extra={"x-role": "by-column"},
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `<column>_z` for each column. Raises ArgumentError where none has a spread."""
    table = read_table(context, arguments.path)
    names = made.numeric_names(table, arguments.columns)
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    divisor = "n - 1" if arguments.ddof else "n"
    rule = f"(value - mean) / sd, sd with {divisor}"
    scaling = Scaling("z", rule, lambda c: c.mean(), lambda c: c.std(ddof=arguments.ddof))
    return scale(context, TOOL, table, arguments, names, scaling, by)


TOOL = Tool(
    name="standardize",
    version=1,
    description="Standardizes numeric columns to z-scores (mean 0, standard deviation 1), over all rows or within "
    "groups, and writes the table with the new columns.",
    asked_for=(
        "standardize columns",
        "standardise columns",
        "z-scores of columns",
        "z-score",
        "z-scores of",
        "z-score standardise",
        "z-score columns",
        "zero mean and unit variance",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        mean zero and unit standard deviation; centre and scale; centring; autoscaling; standard score; number
        of standard deviations from the mean; how many sigmas; comparable variables before PCA; subtract the
        mean and divide by the standard deviation; whitening; equal variance; studentise; put elements on the
        same footing; level the batches against each other; remove level differences between groups; sigma
        units; centred with equal spread; so that no element dominates by its magnitude; dimensionless; express
        as deviations in sigma; same variance; centre the variables; how many deviations from the average;
        subtract the average; remove the mean; unit spread; zero average; scale by the spread; deviations from
        the mean; equal weight to all elements; z transform; centred values; relative to mean and spread
        """
    ),
)
