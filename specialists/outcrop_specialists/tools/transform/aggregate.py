"""Tool: figures of columns for each group or each cell of a grid, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.coordinates import naming_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

Statistic = Literal["count", "mean", "median", "min", "max", "sum", "sd"]
GROUPS_TOLD = 6


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Numeric columns to aggregate; all measured ones if not given.",
        json_schema_extra={"x-role": "columns"},
    )
    by: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns whose values make the groups.",
        json_schema_extra={"x-role": "by-column"},
    )
    cell_size: float | None = Field(
        default=None, gt=0, description="Side of square grid cells, in the unit of x and y, instead of or beside by."
    )
    x: str | None = Field(default=None, description="Easting, for cells.", json_schema_extra={"x-role": "x-column"})
    y: str | None = Field(default=None, description="Northing, for cells.", json_schema_extra={"x-role": "y-column"})
    statistics: list[Statistic] = Field(
        default=["count", "mean", "median", "min", "max"], min_length=1, description="Figures wanted."
    )
    percentiles: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=[], max_length=20, description="Percentiles wanted too, 0 to 100."
    )
    weight: str | None = Field(
        default=None, description="Column of weights, such as the length: adds weighted means and sums of weights."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """A row for each group, in the order of the values (a missing value makes a group of its own, the last).

    A cell holds the places with floor(x / size) and floor(y / size) in common; `cell_x`, `cell_y` are its centre.
    Weighted mean = sum(w·v) / sum(w) over rows with a value and a positive weight; `<column>_weight` is that sum(w).
    Raises ArgumentError for negative weights, and where neither groups nor cells are asked for.
    """
    import polars as pl

    table = read_table(context, arguments.path)
    by = find_columns(table, arguments.by, "by") if arguments.by else []
    if not by and arguments.cell_size is None:
        raise ArgumentError("by", "name the columns that make groups, or give cell_size with x and y")
    weight = None if arguments.weight is None else find_column(table, arguments.weight, "weight")
    keys, cells, notes = _keys(table, by, arguments)
    names = _columns(table, arguments, [*by, *cells, *([weight] if weight else [])])
    frame = keys.with_columns(made.numbers(table, name).alias(f"v{number}") for number, name in enumerate(names))
    if weight is not None:
        frame = frame.with_columns(_weights(table, weight, notes).alias("w"))
    inside = frame.filter(pl.col("is_placed")) if cells else frame
    if cells and inside.height < frame.height:
        notes.append(f"{frame.height - inside.height} rows without coordinates are in no cell and left out")
    if inside.is_empty():
        raise ArgumentError("x", "no row has coordinates")
    inner = [name for name in keys.columns if name != "is_placed"]
    context.report(f"aggregating {len(names)} columns", 0, None)
    figures = [figure for number, name in enumerate(names) for figure in _figures(number, name, arguments)]
    grouped = inside.group_by(inner).agg(pl.len().alias("rows"), *figures).sort(inner, nulls_last=True)
    outer = [*by, *(["cell_x", "cell_y"] if cells else [])]
    grouped = _named(grouped, inner, outer, names, arguments)
    title = f"{table.path.name} by {', '.join(by) or 'grid cells'}"
    written = replace(table, units=_units(table, names, grouped.columns))
    published = publish_table(context, TOOL, written, arguments, grouped, title)
    for name in by:
        missing = table.frame.get_column(name).null_count()
        if missing:
            notes.append(f"{missing} rows without {bounded.named([name])} make a group of their own")
    count = grouped.columns[len(outer)]
    sizes = grouped.sort(count, descending=True, maintain_order=True)
    largest = {
        " / ".join(made.label(value) for value in row[: len(outer)])[:80]: row[len(outer)]
        for row in sizes.head(GROUPS_TOLD).iter_rows()
    }
    smallest, greatest = sizes[count][-1], sizes[count][0]
    kind = "cells" if cells and not by else "groups"
    return ToolResult(
        f"{len(names)} columns over {grouped.height} {kind}, of {smallest} to {greatest} rows",
        {
            "rows_in": table.frame.height,
            "rows_used": inside.height,
            "groups": grouped.height,
            "largest": bounded.fitting(largest, 300)[0],
            "columns": bounded.named(names),
            "rule": _rule(arguments),
            "path": published.artifact.path,
        },
        [published.artifact],
        [*table.notes, *notes],
    )


def _keys(table: Table, by: list[str], arguments: Arguments) -> tuple[pl.DataFrame, list[str], list[str]]:
    """The keys of each row under names of our own (`k0`…, `cell_x`, `cell_y`), and the coordinates used."""
    import polars as pl

    keys = pl.DataFrame({"row": pl.int_range(table.frame.height, eager=True)})
    keys = keys.with_columns(table.frame.get_column(name).alias(f"k{number}") for number, name in enumerate(by))
    keys = keys.drop("row") if by else keys
    if arguments.cell_size is None:
        if arguments.x or arguments.y:
            raise ArgumentError("cell_size", "is needed with x and y")
        return keys, [], []
    if arguments.x is None or arguments.y is None:
        raise ArgumentError("x" if arguments.x is None else "y", "is needed with cell_size")
    cells = [find_column(table, arguments.x, "x"), find_column(table, arguments.y, "y")]
    size = arguments.cell_size
    for axis, name in zip(("cell_x", "cell_y"), cells, strict=True):
        place = made.numbers(table, name, axis[-1])
        keys = keys.with_columns((((place / size).floor() + 0.5) * size).alias(axis))
    keys = keys.with_columns((pl.col("cell_x").is_not_null() & pl.col("cell_y").is_not_null()).alias("is_placed"))
    return (keys if by else keys.drop("row")), cells, []


def _columns(table: Table, arguments: Arguments, used: list[str]) -> list[str]:
    if arguments.columns is not None:
        return made.numeric_names(table, arguments.columns)
    passed_over = {*naming_columns(table), *used}
    names = [name for name, kind in table.frame.schema.items() if kind.is_numeric() and name not in passed_over]
    if not names:
        raise ArgumentError("columns", f"{table.path.name} has no column of measured numbers; name the columns wanted")
    return names


def _weights(table: Table, name: str, notes: list[str]) -> pl.Series:
    """Weights, missing where they are not positive."""
    weights = made.numbers(table, name, "weight")
    negative = int((weights < 0).sum())
    if negative:
        raise ArgumentError("weight", f"{name!r} holds {negative} negative values")
    unweighted = int((weights == 0).sum()) + weights.null_count()
    if unweighted:
        notes.append(f"{unweighted} rows without a positive {bounded.named([name])} are left out of weighted means")
    return weights.set(weights == 0, None)


def _figures(number: int, name: str, arguments: Arguments) -> list[pl.Expr]:
    """The figures of one column, in order; how they are called follows in `_named`."""
    import polars as pl

    value = pl.col(f"v{number}")
    some = value.count() > 0
    made_by: dict[Statistic, pl.Expr] = {
        "count": value.count().cast(pl.Int64),
        "mean": value.mean(),
        "median": value.median(),
        "min": value.min(),
        "max": value.max(),
        "sum": pl.when(some).then(value.sum()),
        "sd": value.std(ddof=1),
    }
    figures = [made_by[each].alias(f"{number} {each}") for each in dict.fromkeys(arguments.statistics)]
    figures += [
        value.quantile(share / 100, "linear").alias(f"{number} p{share:g}")
        for share in dict.fromkeys(arguments.percentiles)
    ]
    if arguments.weight is not None:
        weight = pl.when(value.is_not_null()).then(pl.col("w"))
        mean = pl.when(weight.count() > 0).then((value * pl.col("w")).sum() / weight.sum())
        figures += [mean.alias(f"{number} weighted_mean"), weight.sum().alias(f"{number} weight")]
    return figures


def _named(
    grouped: pl.DataFrame, inner: list[str], outer: list[str], names: list[str], arguments: Arguments
) -> pl.DataFrame:
    """The columns under the names that a person reads: keys, rows, `Cu_mean` …, each of them once."""
    taken: set[str] = set()

    def free(wanted: str) -> str:
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name)
        return name

    called = []
    for column in grouped.columns:
        if column in inner:
            called.append(free(outer[inner.index(column)]))
        elif column == "rows":
            called.append(free("rows"))
        else:
            number, _, figure = column.partition(" ")
            called.append(free(f"{names[int(number)]}_{figure}"))
    grouped.columns = called
    return grouped


def _units(table: Table, names: list[str], columns: list[str]) -> dict[str, str]:
    """The units of the keys, and of all figures but counts and weights those of their columns."""
    units = {name: unit for name, unit in table.units.items() if name in columns}
    for name in names:
        if name in table.units:
            figures = (column for column in columns if column.startswith(f"{name}_"))
            units |= {each: table.units[name] for each in figures if not each.endswith(("_count", "_weight"))}
    return units


def _rule(arguments: Arguments) -> str:
    rule = "missing values left out; sd with n - 1; percentiles interpolated linearly (type 7)"
    if arguments.cell_size is not None:
        rule += f"; cell = floor(x / {arguments.cell_size:g}), lower edges belong to the cell, centres given"
    if arguments.weight is not None:
        rule += "; weighted mean = sum(w v) / sum(w)"
    return rule


TOOL = Tool(
    name="aggregate",
    version=1,
    description="Aggregates numeric columns for each group or each cell of a square grid (count, mean, median, min, "
    "max, sum, sd, percentiles, weighted mean) and writes a table with a row per group.",
    asked_for=(
        "aggregate",
        "one row per hole",
        "average per cell",
        "grid cells",
        "block means",
        "weighted mean per hole",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        group by; roll up; total per hole; average for each station; monthly mean; yearly average; sum by
        lithology; one line per site; mean of each well; condense to one record per group; per borehole; cell
        average; block average; summarise into a table by group; subtotals; collapse repeated measurements;
        average the replicates; count per category as a table; daily to monthly; combine many rows into one;
        statistics by group as a new table; tonnage-weighted average; mean by formation; average duplicates into
        one; consolidate by station; for every well a single row; yearly totals; reduce to group level; regrid
        to coarse squares; one figure per borehole and year; collapse repeat readings into averages; yearly sums
        by gauge; per well one number; averages for each month; per station and date; sums per; total by; by
        year; by unit as a table; each site once; merge repeated measurements; reduce to one value per site;
        mean per; average of each sample's replicates; by block; condense; one value for each; seasonal means;
        sum up; quarterly averages; combine readings of one day
        """
    ),
)
