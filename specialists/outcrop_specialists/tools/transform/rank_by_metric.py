"""Tool: the rows with the greatest or least values of a column or of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.expressions.computing import ALLOWED, compute
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl


FATES = {"cut": "the first in the file win", "keep": "all that tie with the last are kept"}


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str | None = Field(
        default=None, description="Numeric column to rank by.", json_schema_extra={"x-role": "column"}
    )
    expression: str | None = Field(
        default=None, description=f"What to rank by instead of a column, such as Cu * length. {ALLOWED}"
    )
    n: int = Field(default=10, ge=1, le=10_000_000, description="Rows wanted, of each group where by is given.")
    order: Literal["top", "bottom"] = Field(default="top", description="top: the greatest values; bottom: the least.")
    within: str | None = Field(
        default=None, description="Column whose values make groups; n rows of each are then kept."
    )
    ties: Literal["cut", "keep"] = Field(
        default="cut",
        description="Rows that equal the last one kept: cut leaves them out (the first in the file win).",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Writes whole rows, best first, with `rank` (equal values have the same, the least of theirs).

    Rows without a value are not ranked and counted. Raises ArgumentError where neither or both of column and
    expression are given.
    """
    table = read_table(context, arguments.path)
    label, metric, notes = _metric(table, arguments)
    by = None if arguments.within is None else find_column(table, arguments.within, "within")
    ranked, tied = _ranked(table.frame, metric, by, arguments)
    if ranked.is_empty():
        raise ArgumentError("column" if arguments.column else "expression", f"{label} has no value in any row")
    taken = made.Names(table.frame)
    rows = table.frame[ranked.get_column("row")]
    added = [ranked.get_column("rank").alias(taken.free("rank"))]
    if arguments.expression is not None:
        added.append(ranked.get_column("metric").alias(taken.free("metric")))
    frame = rows.insert_column(0, added[0])
    frame = frame.insert_column(1, added[1]) if len(added) > 1 else frame
    direction = "greatest" if arguments.order == "top" else "least"
    title = f"{many(frame.height, 'row')} of {table.path.name} with the {direction} {label}"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    values = ranked.get_column("metric")
    results: dict[str, Any] = {
        "metric": label,
        "rows_before": table.frame.height,
        "rows_after": frame.height,
        "without_value": metric.null_count(),
        "first": values[0],
        "last": values[-1],
        "ties_left_out": tied,
        "rule": f"{direction} first; equal values share the rank, {FATES[arguments.ties]}",
        "path": published.artifact.path,
    }
    if by is not None:
        results["groups"] = ranked.get_column("group").n_unique()
    if metric.null_count():
        notes.append(f"{metric.null_count()} rows without a value are not ranked")
    if tied:
        notes.append(f"{tied} rows equal the last one kept and are left out; ties='keep' keeps them")
    within = f" of each {bounded.named([by])}" if by else ""
    told = f"{frame.height} rows with the {direction} {label}{within}, from {values[0]:.6g} to {values[-1]:.6g}"
    return ToolResult(told, results, [published.artifact], [*table.notes, *notes])


def _metric(table: Table, arguments: Arguments) -> tuple[str, pl.Series, list[str]]:
    """What is ranked by: its name, and its values as floats."""
    import polars as pl

    if (arguments.column is None) == (arguments.expression is None):
        raise ArgumentError("column", "give a column or an expression to rank by, one of them")
    if arguments.column is not None:
        name = find_column(table, arguments.column)
        return bounded.named([name]), made.numbers(table, name, "column"), []
    assert arguments.expression is not None
    found = compute(table, arguments.expression)
    if found.kind not in ("integer", "number"):
        raise ArgumentError("expression", f"{arguments.expression!r} gives no numbers to rank by")
    return bounded.named([arguments.expression]), found.values.cast(pl.Float64), found.notes


def _ranked(frame: pl.DataFrame, metric: pl.Series, by: str | None, arguments: Arguments) -> tuple[pl.DataFrame, int]:
    """`row`, `rank`, `metric` and `group` of the rows kept, best first within groups, and how many ties were cut."""
    import polars as pl

    group = frame.get_column(by) if by else pl.repeat(0, frame.height, eager=True)
    is_top = arguments.order == "top"
    plan = pl.DataFrame({"row": pl.int_range(frame.height, eager=True), "metric": metric, "group": group})
    plan = plan.drop_nulls("metric")
    plan = plan.with_columns(pl.col("metric").rank("min", descending=is_top).over("group").cast(pl.Int64).alias("rank"))
    plan = plan.filter(pl.col("rank") <= arguments.n)
    keys = ["group", "rank", "row"]
    plan = plan.sort(keys, nulls_last=True)
    if arguments.ties == "keep":
        return plan, 0
    cut = plan.filter(pl.int_range(pl.len()).over("group") < arguments.n)
    return cut, plan.height - cut.height


TOOL = Tool(
    name="rank_by_metric",
    version=1,
    description="Ranks rows by a numeric column or an expression and writes the top or bottom n, of all rows or of "
    "each group; says what ties with the last one.",
    asked_for=(
        "rank the rows",
        "sort by",
        "lowest samples",
        "highest samples",
        "rank samples",
        "top ten samples",
        "highest ten",
        "top samples by",
        "bottom samples by",
        "rank by column",
        "best intervals",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        the best samples; the richest; highest values; lowest values; order by; sort descending; largest first;
        top five; maximum of each hole; worst; league table; leaderboard; most contaminated; strongest; biggest;
        greatest; ranking of wells; ascending; most enriched; the ten poorest; prioritise targets; shortlist;
        which come first; order the table; peak values; most promising; the deepest, the oldest, the latest; top
        n of each group; bonanza grades; hot list; arrange from largest to smallest; winner; most extreme
        assays; highest concentration; name the five most polluted; who has the maximum; order of priority;
        single strongest assay in each hole; five richest; ten highest; where is it greatest; which is the most;
        which has the least; the largest first; first places; top of the list; which sample has most; peak assay
        of each hole; which station is worst; list from best to worst; sorted by grade; which one is the
        cleanest; put in order; max of each; which holes come out on top; biggest to smallest; record holder;
        highest reading; the lowest five
        """
    ),
)
