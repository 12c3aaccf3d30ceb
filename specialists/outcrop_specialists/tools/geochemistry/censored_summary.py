"""Tool: summary statistics of columns with results below a detection limit, by the method that their share asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import HARMLESS_SHARE, MOST_SHARE, censored_values
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.suspicions import suspected_negatives
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.geochemistry.ordering import Estimates, kaplan_meier, plain, ros_values
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics.bounded import fitting
from outcrop_specialists.tools.statistics.groups import ALL_ROWS, put_figures, rows_by_group

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

Picked = Literal["complete", "negatives as numbers", "dl/2", "ros", "percentiles only"]
FEW_DETECTED = 10
RULE = (
    "by share below a limit (Helsel 2012): none, plain; to 15 % DL/2; to 50 % ROS (log-normal regression on order "
    "statistics); above 50 % only Kaplan-Meier percentiles; sd with n - 1; quantiles linear, of Kaplan-Meier the "
    "smallest value reached; where a limit is not given, no mean, and Kaplan-Meier percentiles of all results with "
    "these lowest"
)


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns of results; all columns with results beyond a limit where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    by: str | None = Field(
        default=None,
        description="Column whose values make the groups; figures are then given per group.",
        json_schema_extra={"x-role": "by-column"},
    )
    percentiles: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=[25, 75, 95], max_length=20, description="Percentiles wanted, 0 to 100."
    )


@dataclass(frozen=True)
class _Summary:
    """One column in one group: counts, what each method gives, and which one the rule picks."""

    results: int
    missing: int
    below: int
    above: int
    no_limit: int
    negative: int
    limits: list[float]
    greatest: float | None
    picked: Picked
    half: Estimates
    ros: Estimates | None
    kaplan_meier: Estimates

    @property
    def share(self) -> float:
        return self.below / self.results if self.results else 0.0

    def best(self) -> Estimates:
        """What the picked method gives; above 50 % no mean and no sd."""
        if self.picked == "percentiles only":
            found = self.kaplan_meier
            return Estimates(None, None, found.median, found.quantiles)
        return self.ros if self.picked == "ros" and self.ros is not None else self.half


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric, and where no column holds results beyond a limit."""
    table = read_table(context, arguments.path)
    names = _columns(table, arguments.columns)
    by = None if arguments.by is None else find_column(table, arguments.by, "by")
    groups = rows_by_group(table, by)
    found: dict[str, dict[str, _Summary]] = {}
    for done, name in enumerate(names):
        context.report(f"summarising {name}", done, len(names))
        found[name] = _by_group(table, name, groups, arguments.percentiles)
    made_of = features.parameters(arguments, columns=names, by=by)
    frame = _frame(table, found, by, arguments.percentiles)
    title = f"Summary with results below a limit of {table.path.name}" + (f" by {by}" if by else "")
    file = put_figures(context, TOOL, table, made_of, frame, title)
    records = {
        name if by is None else f"{name}: {group}": _record(summary)
        for name, each in found.items()
        for group, summary in each.items()
    }
    shown, more = fitting(records)
    results: dict[str, Any] = {"rows": table.height, "columns": shown, "rule": RULE}
    if by is not None:
        results |= {"by": by, "groups": len(groups)}
    if more:
        results["not_shown"] = f"{more} further records are in {file.artifact.path}"
    told = "; ".join(_told(name, summary) for name, summary in list(_first(found, by))[:4])
    left = len(records) - 4
    text = f"{told}{f'; {left} more in the file' if left > 0 else ''}"
    return ToolResult(text, results, [file.artifact], [*table.notes, *_notes(found)])


def _columns(table: Table, wanted: list[str] | None) -> list[str]:
    if wanted is not None:
        return find_columns(table, wanted, "columns")
    names = [name for name in table.columns if name in table.qualifiers]
    if not names:
        coded = [name for name in table.columns if suspected_negatives(table, name) is not None]
        also = f" (negative numbers in {', '.join(coded[:6])} may be codes for such results)" if coded else ""
        raise ArgumentError(
            "columns", f"{table.path.name} has no column with results beyond a limit{also}; name columns"
        )
    return names


def _by_group(table: Table, name: str, groups: dict[str, Vector], percentiles: list[float]) -> dict[str, _Summary]:
    import numpy

    column = censored_values(table, name, "columns")
    values = column.values.to_numpy().astype(float)
    values[~numpy.isfinite(values)] = numpy.nan
    below, above = column.below.to_numpy(), column.above.to_numpy()
    suspected = suspected_negatives(table, name)
    negatives = [] if suspected is None else suspected.unique().to_list()
    return {
        group: _summary(values[rows], below[rows], above[rows], percentiles, negatives)
        for group, rows in groups.items()
    }


def _summary(
    values: Vector, below: Vector, above: Vector, percentiles: list[float], negatives: list[float]
) -> _Summary:
    """`negatives` are numbers that may be codes for results below a limit."""
    import numpy

    has_number = ~numpy.isnan(values)
    kept, censored = values[has_number], below[has_number]
    no_limit = int((below & ~has_number).sum())
    results = len(kept) + no_limit
    share = (int(censored.sum()) + no_limit) / results if results else 0.0
    negative = int(numpy.isin(kept[~censored], negatives).sum())
    modelled = None if no_limit else ros_values(kept, censored)
    picked: Picked = "complete" if share == 0 else "dl/2" if share <= HARMLESS_SHARE else "ros"
    if no_limit or share > MOST_SHARE or (picked == "ros" and modelled is None):
        picked = "percentiles only"
    if picked == "complete" and negative:
        picked = "negatives as numbers"
    if no_limit:
        # What is below a limit that nobody gave is lowest: it has a rank, and no value for a mean.
        lowest = numpy.full(no_limit, (float(kept.min()) if len(kept) else 0.0) - 1)
        ranked = kaplan_meier(
            numpy.append(kept, lowest), numpy.append(censored, numpy.ones(no_limit, bool)), percentiles
        )
        products = Estimates(None, None, ranked.median, ranked.quantiles)
    else:
        products = kaplan_meier(kept, censored, percentiles)
    return _Summary(
        results=results,
        missing=len(values) - results,
        below=int(below.sum()),
        above=int(above.sum()),
        no_limit=no_limit,
        negative=negative,
        limits=numpy.unique(kept[censored]).tolist(),
        greatest=float(kept[~censored].max()) if (~censored).any() else None,
        picked=picked,
        half=Estimates(None, None, None, dict.fromkeys(percentiles))
        if no_limit
        else plain(numpy.where(censored, kept / 2, kept), percentiles),
        ros=None if modelled is None else plain(modelled, percentiles),
        kaplan_meier=products,
    )


def _record(summary: _Summary) -> dict[str, Any]:
    best = summary.best()
    record: dict[str, Any] = {
        "n": summary.results,
        "below": summary.below,
        "below_limit_not_given": summary.no_limit or None,
        "negative_suspected_below": summary.negative or None,
        "share_below": summary.share,
        "limits": summary.limits[:3],
        "method": summary.picked,
        "mean": best.mean,
        "sd": best.sd,
        "median": best.median,
        **{f"p{percent:g}": value for percent, value in best.quantiles.items()},
        "max": summary.greatest,
    }
    if summary.picked in ("dl/2", "ros"):
        record["mean_by"] = {
            "dl/2": summary.half.mean,
            "ros": summary.ros.mean if summary.ros else None,
            "kaplan_meier": summary.kaplan_meier.mean,
        }
    return {name: value for name, value in record.items() if value is not None}


def _frame(
    table: Table, found: dict[str, dict[str, _Summary]], by: str | None, percentiles: list[float]
) -> pl.DataFrame:
    """One row for each column and group with all figures of all methods."""
    import polars as pl

    rows = []
    for name, each in found.items():
        for group, summary in each.items():
            row: dict[str, Any] = {"column": name, "unit": table.units.get(name)}
            if by is not None:
                row[f"group of {by}"] = group
            row |= {
                "n": summary.results,
                "missing": summary.missing,
                "below_limit": summary.below,
                "below_limit_not_given": summary.no_limit,
                "negative_suspected_below": summary.negative,
                "above_limit": summary.above,
                "share_below": summary.share,
                "limits": len(summary.limits),
                "least_limit": summary.limits[0] if summary.limits else None,
                "greatest_limit": summary.limits[-1] if summary.limits else None,
                "max": summary.greatest,
                "method": summary.picked,
            }
            methods = {"": summary.best(), "dl2_": summary.half, "ros_": summary.ros, "km_": summary.kaplan_meier}
            for prefix, estimates in methods.items():
                row |= _estimates(prefix, estimates, percentiles)
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _estimates(prefix: str, found: Estimates | None, percentiles: list[float]) -> dict[str, float | None]:
    row: dict[str, float | None] = {
        f"{prefix}mean": found.mean if found else None,
        f"{prefix}sd": found.sd if found else None,
        f"{prefix}median": found.median if found else None,
    }
    return row | {f"{prefix}p{percent:g}": found.quantiles[percent] if found else None for percent in percentiles}


def _first(found: dict[str, dict[str, _Summary]], by: str | None) -> list[tuple[str, _Summary]]:
    return [
        (name if group == ALL_ROWS and by is None else f"{name} in {group}", summary)
        for name, each in found.items()
        for group, summary in each.items()
    ]


def _told(name: str, summary: _Summary) -> str:
    best = summary.best()
    if not summary.results:
        return f"{name}: no results"
    limit = f"the limit {summary.limits[0]:.6g}" if len(summary.limits) == 1 else f"{len(summary.limits)} limits"
    if summary.no_limit:
        others = f"{limit} or " if summary.limits else ""
        limit = f"{others}a limit that is not given"
    beyond = f"{summary.below} of {summary.results} below {limit} ({100 * summary.share:.4g} %)"
    figures = [f"mean {best.mean:.6g}"] if best.mean is not None else []
    figures += [f"median {best.median:.6g}" if best.median is not None else "median below the limits"]
    figures += [f"max {summary.greatest:.6g}"] if summary.greatest is not None else []
    none = (
        f"{summary.results} results, none marked as below a limit"
        if summary.negative
        else (f"{summary.results} results, none below a limit")
    )
    counted = beyond if summary.below else none
    if summary.negative:
        counted += f", CAUTION: {summary.negative} negative numbers, suspected results below a limit, taken as numbers"
    return f"{name}: {counted}, {summary.picked}: {', '.join(figures)}"


def _notes(found: dict[str, dict[str, _Summary]]) -> list[str]:
    notes = []
    for word, count in (
        ("above a limit, taken as the limit", lambda summary: summary.above),
        (
            "below a limit that is not given: no mean or sd, percentiles by Kaplan-Meier over all results with these "
            "lowest",
            lambda summary: summary.no_limit,
        ),
        ("without any result", lambda summary: summary.missing),
    ):
        totals = {name: sum(map(count, each.values())) for name, each in found.items()}
        some = [f"{name} {total}" for name, total in totals.items() if total]
        if some:
            notes.append(f"{word}: {', '.join(some[:6])}{f' and {len(some) - 6} more' if len(some) > 6 else ''}")
    few = [
        name
        for name, each in found.items()
        if any(summary.picked == "ros" and summary.results - summary.below < FEW_DETECTED for summary in each.values())
    ]
    if few:
        notes.append(f"ROS stands on fewer than {FEW_DETECTED} detected results: {', '.join(few[:6])}")
    return notes


TOOL = Tool(
    name="censored_summary",
    version=1,
    description=(
        "Summary of assay columns with results below a detection limit: count and share below, limits, and mean, sd, "
        "median and percentiles by DL/2, regression on order statistics (ROS) or Kaplan-Meier, the one that the share "
        "asks for picked; several limits, per group."
    ),
    asked_for=(
        "summarise censored data",
        "below detection statistics",
        "below detection",
        "summarise censored",
        "how many below detection",
        "share below the detection limit",
        "regression on order statistics",
        "ROS",
        "kaplan-meier",
        "non-detects",
        "statistics with detection limits",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        mean with values under the detection limit; statistics with less-thans; much of the data is below
        detection; unbiased mean with non-detects; Kaplan Meier; ROS; Helsel; nondetects; NADA; left-censored
        statistics; proportion below the reporting limit; how reliable is the mean; half the samples were not
        detected; median when most are below the limit; percent censored; summary of trace elements; statistics
        without substituting half; multiple reporting limits; reporting threshold; robust mean of censored
        assays; what average can I quote when many are not detected; share of non-detects; detection rate;
        detection frequency; limit of quantification; trace metals in water mostly undetectable; average
        concentration although many results are less than; survival analysis; most results are non-detect, what
        is an honest mean; how frequently was it detected; averages that respect the reporting limits; fair
        average; detected in how many samples; share of results under the limit; mean despite many non-detects;
        most of the values are less than; how often detected; rarely detected; mainly below the limit; proper
        statistics for results under the limit; statistics that take limits into account; reliable average with
        many low values; percentage of undetected; seldom measurable; unquantified; frequency of detection;
        correct mean when assays are under the limit; what fraction is not detected
        """
    ),
)
