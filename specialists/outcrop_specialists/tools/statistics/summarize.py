"""Summary figures of columns, for all rows or for each group."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outcrop_schemas.claims import Figure
from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric, numeric_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.plain import ahead
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.statistics.bounded import fitting
from outcrop_specialists.tools.statistics.groups import alike_notes
from outcrop_specialists.tools.statistics.ordered import MANY_VALUES, masks_by_value, rows_by_value
from outcrop_specialists.tools.statistics.univariate import Extra, further, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]
    Groups = dict[str, Rows | slice | pl.Series]

RULE = (
    "missing values left out and counted; sd with n - 1; percentiles interpolated linearly (type 7); p50 is the median"
)
EXTRA_RULE = (
    "weighted mean over rows with value and weight, weight is their sum; geometric mean of positive values only; "
    "mad not scaled; skewness of the population"
)
MISSING_GROUP = "(missing)"
ALL_ROWS = "(all rows)"
# What the sentence about a summary names; the file has all of it.
TOLD_COLUMNS = 4
SAID = ("mean", "sd", "p50", "min", "max", "count")
EXTRAS = ("weighted_mean", "geometric_mean", "mad", "skewness", "cv", "variance")
RECORDS_CHARS = 900
BRIEF = ("count", "mean", "sd", "p50", "max", "weighted_mean", "geometric_mean", "mad", "skewness")
TOLD_GROUPS = 6
# Records whose figures can be checked when they are cited.
CLAIMED = 60


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
    weights: str | None = Field(
        default=None,
        description="Numeric column of weights (interval length, say): adds the weighted mean.",
        json_schema_extra={"x-role": "weight-column"},
    )
    also: list[Extra] = Field(
        default=[],
        max_length=5,
        description="Further figures: geometric_mean, mad (median absolute deviation, not scaled), skewness (of the "
        "population), cv (sd / mean), variance (n - 1).",
    )
    percentiles: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=[5, 25, 50, 75, 95], max_length=20, description="Percentiles wanted, 0 to 100."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for unknown or non-numeric columns."""
    table = read_table(context, arguments.path)
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    names = _columns(table, arguments.columns, by)
    with ThreadPoolExecutor(1) as beside:
        # What is grouped by is read here, and the rows of the groups are found while the first column is read.
        grouped = beside.submit(_groups, by, None if by is None else table.column(by), _is_plain(table, arguments))
        records = _records(context, table, names, grouped, arguments)
    groups, group_notes = grouped.result()
    if by is not None:
        group_notes += alike_notes(groups, by)
    published = publish(
        context,
        TOOL,
        [table.path],
        features.parameters(arguments, columns=names, by=by),
        extension="csv",
        kind="table",
        title=f"Summary of {many(len(names), 'column')} of {table.path.name}" + (f" by {by}" if by else ""),
        write=lambda path: _write(path, table, by, records),
    )
    shown, omitted = _shown(records, is_grouped=by is not None)
    rule = RULE + (f"; {EXTRA_RULE}" if arguments.also or arguments.weights else "")
    results: dict[str, Any] = {"rows": table.height, "columns": shown, "rule": rule}
    if by is not None:
        results |= {"by": by, "groups": len(groups)}
    if omitted:
        results["not_shown"] = f"{omitted} further records are in {published.artifact.path}"
    told = _told(records, table.height, by) + suspicions(table, names)
    claims = [claiming.rows(arguments.path, table.height)]
    for name, group in [(name, group) for name, found in records.items() for group in found][:CLAIMED]:
        of_group: dict[str, Figure] = {by: None if group.startswith(MISSING_GROUP) else group} if by else {}
        claims += claiming.summary(arguments.path, name, records[name][group], of_group, arguments.weights)
    return ToolResult(told, results, [published.artifact], [*table.notes, *group_notes], claims)


def _records(
    context: ToolContext,
    table: Table,
    names: list[str],
    grouped: Future[tuple[Groups, list[str]]],
    arguments: Arguments,
) -> dict[str, dict[str, dict[str, Any]]]:
    """The figures by column and group; of long columns several at a time."""
    import numpy
    import polars as pl

    weights = _weights(table, arguments.weights)
    is_long, is_plain = table.height >= MANY_VALUES, _is_plain(table, arguments)

    def parts() -> Iterator[tuple[str, str, Rows | pl.Series, Rows | slice | pl.Series]]:
        for done, name in enumerate(names):
            context.report(f"summarising {name}", done, len(names))
            # Only sorted, a series need not become an array, which takes as long.
            column: Rows | pl.Series = (numeric if is_plain else features.values_of)(table, name, "columns")
            for group, rows in grouped.result()[0].items():
                if isinstance(rows, numpy.ndarray) and isinstance(column, pl.Series):
                    column = features.values_of(table, name, "columns")
                yield name, group, column, rows

    def figures(
        part: tuple[str, str, Rows | pl.Series, Rows | slice | pl.Series],
    ) -> tuple[str, str, dict[str, Any]]:
        name, group, column, rows = part
        if isinstance(column, pl.Series):
            values = column.filter(rows) if isinstance(rows, pl.Series) else column
            return name, group, summary(values, arguments.percentiles)
        own = column[rows]
        more = further(own, arguments.also, None if weights is None else weights[rows])
        return name, group, summary(_as_series(own) if is_long else own, arguments.percentiles) | more

    records: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in names}
    found = ahead(figures, parts()) if is_long else map(figures, parts())
    for name, group, record in found:
        records[name][group] = record
    return records


def _is_plain(table: Table, arguments: Arguments) -> bool:
    """Whether long columns need only be sorted."""
    return table.height >= MANY_VALUES and not arguments.also and arguments.weights is None


def _as_series(values: Rows) -> Rows | pl.Series:
    """Many values as a series, which is sorted sooner."""
    import polars as pl

    return pl.Series(values) if len(values) >= MANY_VALUES else values


def _columns(table: Table, wanted: list[str] | None, by: str | None) -> list[str]:
    if wanted is not None:
        return find_columns(table, wanted, "columns")
    names = [name for name in numeric_columns(table) if name != by]
    if not names:
        raise ArgumentError("columns", f"{table.path.name} has no numeric column to summarise")
    return names


def _weights(table: Table, name: str | None) -> Rows | None:
    if name is None:
        return None
    weights = features.values_of(table, find_column(table, name, "weights"), "weights")
    negative = int((weights < 0).sum())
    if negative:
        raise ArgumentError("weights", f"{negative} weights in {name!r} are negative")
    return weights


def _groups(by: str | None, column: pl.Series | None, is_plain: bool) -> tuple[Groups, list[str]]:
    """The rows of each group, in the order of the values; rows without a group form the last one. They are given by
    masks where the groups are few and nothing but sorting is to be done with them."""
    if column is None:
        return {ALL_ROWS: slice(None)}, []
    found: tuple[list[Any], Sequence[Rows | pl.Series]] | None = masks_by_value(column) if is_plain else None
    values, rows = found or rows_by_value(column)
    groups: Groups = {str(value): each for value, each in zip(values, rows, strict=True) if value is not None}
    missing = column.null_count()
    if not missing:
        return groups, []
    name = MISSING_GROUP
    while name in groups:
        name = f"{name}*"
    groups[name] = rows[-1]
    return groups, [f"{missing} rows have no value in {by}; they form the group {name}"]


def _told(records: dict[str, dict[str, dict[str, Any]]], rows: int, by: str | None) -> str:
    """The summary in a sentence: of the first columns what a reader asks for first, six significant digits."""
    said = []
    for name, groups in list(records.items())[:TOLD_COLUMNS]:
        if by is None:
            said.append(f"{name}: {_figures(groups[ALL_ROWS], (*SAID, *EXTRAS))}")
        else:
            first = list(groups.items())[:TOLD_GROUPS]
            more = f", {len(groups) - TOLD_GROUPS} more groups" if len(groups) > TOLD_GROUPS else ""
            each = (f"{group} {_figures(record, ('mean', 'p50', 'count', *EXTRAS))}" for group, record in first)
            said.append(f"{name} by {by}: {', '.join(each)}{more}")
    left = len(records) - TOLD_COLUMNS
    rest = f"; {left} more columns in the file" if left > 0 else ""
    columns = "1 column" if len(records) == 1 else f"{len(records)} columns"
    return f"{columns} of {rows} rows summarised. {'; '.join(said)}{rest}"


def _figures(record: dict[str, Any], names: tuple[str, ...]) -> str:
    words = {"p50": "median", "count": "n", "weighted_mean": "weighted mean", "geometric_mean": "geometric mean"}
    told = [f"{words.get(name, name)} {record[name]:.6g}" for name in names if record.get(name) is not None]
    return " ".join(told) or "no values"


def _shown(records: dict[str, dict[str, dict[str, Any]]], *, is_grouped: bool) -> tuple[dict[str, Any], int]:
    """As many records as may be shown, keyed by column (and group), and the number of the others.

    In full where all of them fit, else only with what is asked for most, so that more of them do.
    """
    shown: dict[str, Any] = {}
    flat = {(name, group): record for name, groups in records.items() for group, record in groups.items()}
    _, omitted = fitting({f"{name}: {group}": record for (name, group), record in flat.items()}, RECORDS_CHARS)
    if omitted:
        flat = {key: {name: record[name] for name in BRIEF if name in record} for key, record in flat.items()}
    fit, omitted = fitting({f"{name}: {group}": record for (name, group), record in flat.items()}, RECORDS_CHARS)
    for (name, group), record in list(flat.items())[: len(fit)]:
        if is_grouped:
            shown.setdefault(name, {})[group] = record
        else:
            shown[name] = record
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
    version=3,
    description=(
        "Summary statistics of numeric columns, overall or per group: count, missing, mean, standard deviation, "
        "minimum, maximum, sum, median and percentiles; on request geometric mean, skewness, MAD and a mean by "
        "weights. The full table goes to a CSV."
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
        "typical",
        "geometric mean",
        "skewness",
        "compare groups",
        "compare between groups",
        "statistics per group",
        "compare between clusters",
        "compare clusters",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        descriptive statistics; basic stats; average; typical level; mean and spread; variability; range; centre
        and spread; quartiles; quantiles; five-number summary; highest and lowest; how much does it vary;
        variance; dispersion; standard error; average by rock type; mean grade of each unit; statistics by
        lithology; overall grade; expected value; midpoint; statistics table; how high is it on average; usual
        concentration; by group statistics; interquartile range; P90; P10; 95th percentile; total amount; grand
        mean; numbers that describe the distribution; weighted average; background level; norm; normal content;
        central tendency; how do rock types compare on average; extremes; skewed; coefficient of variation; what
        does it usually come out at; tenth and ninetieth percentile; centre and scatter of each formation; usual
        value; mean value; figures for each element; average of; how much is there typically; average in the
        different aquifers; what level is normal; key figures; basic numbers; numbers by rock type; what is the
        mean; how variable; mean and variation by; middle value; lowest and highest; range of values; how are
        levels across units; average concentration by; overview of the values; statistical overview; parameter
        statistics; compare averages; mean for each formation; how strongly does it fluctuate; median
        """
    ),
)
