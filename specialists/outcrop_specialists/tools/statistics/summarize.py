"""Summary figures of columns, for all rows or for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.publish import publish

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Rows = NDArray[Any]

RULE = (
    "missing values left out and counted; sd with n - 1; percentiles interpolated linearly (type 7); p50 is the median"
)
MISSING_GROUP = "(missing)"
ALL_ROWS = "(all rows)"
# What the sentence about a summary names; the file has all of it.
TOLD_COLUMNS = 4
TOLD_GROUPS = 6


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Numeric columns to summarise; all numeric columns where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    by: str | None = Field(
        default=None,
        description="Column whose values make the groups; figures are then given per group.",
        json_schema_extra={"x-role": "by-column"},
    )
    percentiles: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=[5, 25, 50, 75, 95], max_length=20, description="Percentiles wanted, 0 to 100."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for unknown or non-numeric columns."""
    table = read_table(context, arguments.path)
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    names = _columns(table, arguments.columns, by)
    groups, group_notes = _groups(table, by)
    values = features.take(table, names, "columns").original
    records: dict[str, dict[str, dict[str, Any]]] = {}
    for done, (name, column) in enumerate(zip(names, values.T, strict=True)):
        context.report(f"summarising {name}", done, len(names))
        records[name] = {group: summary(column[rows], arguments.percentiles) for group, rows in groups.items()}
    published = publish(
        context,
        TOOL,
        [table.path],
        features.parameters(arguments, columns=names, by=by),
        extension="csv",
        kind="table",
        title=f"Summary of {len(names)} columns of {table.path.name}" + (f" by {by}" if by else ""),
        write=lambda path: _write(path, table, by, records),
    )
    shown, omitted = _shown(records, is_grouped=by is not None)
    results: dict[str, Any] = {"rows": table.frame.height, "columns": shown, "rule": RULE}
    if by is not None:
        results |= {"by": by, "groups": len(groups)}
    if omitted:
        results["not_shown"] = f"{omitted} further records are in {published.artifact.path}"
    told = _told(records, table.frame.height, by) + suspicions(table.frame, names)
    return ToolResult(told, results, [published.artifact], [*table.notes, *group_notes])


def _columns(table: Table, wanted: list[str] | None, by: str | None) -> list[str]:
    if wanted is not None:
        return find_columns(table, wanted, "columns")
    names = [name for name in numeric_columns(table) if name != by]
    if not names:
        raise ArgumentError("columns", f"{table.path.name} has no numeric column to summarise")
    return names


def summary(values: Rows, percentiles: list[float]) -> dict[str, Any]:
    """Count, missing, mean, sd (n - 1), min, max, sum and percentiles (Hyndman & Fan 1996, type 7) of one column.

    A figure that is not defined (the sd of one value, the mean of none) is None.
    """
    import numpy

    found = values[~numpy.isnan(values)]
    count = len(found)
    record: dict[str, Any] = {"count": count, "missing": len(values) - count}
    record["mean"] = float(numpy.mean(found)) if count else None
    record["sd"] = float(numpy.std(found, ddof=1)) if count > 1 else None
    record["min"] = float(found.min()) if count else None
    at = numpy.percentile(found, percentiles, method="linear") if count and percentiles else [None] * len(percentiles)
    record |= {
        f"p{wanted:g}": None if value is None else float(value) for wanted, value in zip(percentiles, at, strict=True)
    }
    record["max"] = float(found.max()) if count else None
    record["sum"] = float(numpy.sum(found)) if count else None
    return record


def _groups(table: Table, by: str | None) -> tuple[dict[str, Rows], list[str]]:
    """Row numbers of each group, in the order of the values; rows without a group form the last one."""
    import numpy
    import polars as pl

    if by is None:
        return {ALL_ROWS: numpy.arange(table.frame.height)}, []
    rows_of = pl.DataFrame({"value": table.frame.get_column(by)}).with_row_index("row").group_by("value").agg("row")
    groups: dict[str, Rows] = {}
    without: Rows | None = None
    for value, rows in rows_of.sort("value", nulls_last=True).iter_rows():
        if value is None:
            without = numpy.array(rows)
        else:
            groups[str(value)] = numpy.sort(rows)
    if without is None:
        return groups, []
    name = MISSING_GROUP
    while name in groups:
        name = f"{name}*"
    groups[name] = without
    return groups, [f"{len(without)} rows have no value in {by}; they form the group {name}"]


def _told(records: dict[str, dict[str, dict[str, Any]]], rows: int, by: str | None) -> str:
    """The summary in a sentence: of the first columns what a reader asks for first, six significant digits."""
    said = []
    for name, groups in list(records.items())[:TOLD_COLUMNS]:
        if by is None:
            said.append(f"{name}: {_figures(groups[ALL_ROWS], ('mean', 'sd', 'p50', 'min', 'max', 'count'))}")
        else:
            first = list(groups.items())[:TOLD_GROUPS]
            more = f", {len(groups) - TOLD_GROUPS} more groups" if len(groups) > TOLD_GROUPS else ""
            each = (f"{group} {_figures(record, ('mean', 'p50', 'count'))}" for group, record in first)
            said.append(f"{name} by {by}: {', '.join(each)}{more}")
    left = len(records) - TOLD_COLUMNS
    rest = f"; {left} more columns in the file" if left > 0 else ""
    columns = "1 column" if len(records) == 1 else f"{len(records)} columns"
    return f"{columns} of {rows} rows summarised. {'; '.join(said)}{rest}"


def _figures(record: dict[str, Any], names: tuple[str, ...]) -> str:
    words = {"p50": "median", "count": "n"}
    told = [f"{words.get(name, name)} {record[name]:.6g}" for name in names if record.get(name) is not None]
    return " ".join(told) or "no values"


def _shown(records: dict[str, dict[str, dict[str, Any]]], *, is_grouped: bool) -> tuple[dict[str, Any], int]:
    """As many records as may be shown, keyed by column (and group), and the number of the others."""
    shown: dict[str, Any] = {}
    left, omitted = limits.COMPLETE_LIST_RECORDS, 0
    for name, groups in records.items():
        taken = dict(list(groups.items())[:left])
        left, omitted = left - len(taken), omitted + len(groups) - len(taken)
        if taken:
            shown[name] = taken if is_grouped else taken[ALL_ROWS]
    return shown, omitted


def _write(path: Path, table: Table, by: str | None, records: dict[str, dict[str, dict[str, Any]]]) -> None:
    import polars as pl

    rows = []
    for name, groups in records.items():
        for group, record in groups.items():
            labels = {"column": name, **({"unit": table.units.get(name)} if table.units else {})}
            if by:
                labels[f"{by}_group" if by in labels or by in record else by] = group
            rows.append({**labels, **record})
    write_csv(pl.DataFrame(rows, infer_schema_length=None), path)


TOOL = Tool(
    name="summarize",
    version=1,
    description=(
        "Summary statistics of numeric columns, overall or per group: count, missing, mean, standard deviation, "
        "minimum, maximum, sum, median and percentiles. The full table goes to a CSV."
    ),
    asked_for=(
        "summarise",
        "summarize",
        "describe",
        "summary statistics",
        "mean",
        "average",
        "median",
        "standard deviation",
        "percentile",
        "quartile",
        "minimum and maximum",
        "total",
        "sum of",
        "typical value",
        "compare groups",
        "compare between groups",
        "statistics per group",
        "compare between clusters",
        "compare clusters",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
)
