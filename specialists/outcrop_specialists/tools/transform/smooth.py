"""Tool: smooths columns along depth, time or the order of the file, within each hole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.profile import column_type
from outcrop_specialists.columns.roles import ColumnFacts, roles_of
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Method = Literal["mean", "median", "savgol"]
EVEN_SPACING = 0.01
"""Relative difference of steps from their median beyond which spacing is called uneven."""


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to smooth.", json_schema_extra={"x-role": "columns"}
    )
    window: int = Field(default=5, ge=3, le=10_001, description="Rows in a window, an odd number; it is centred.")
    method: Method = Field(
        default="mean",
        description="mean or median of the window, or savgol (Savitzky-Golay: a polynomial fitted in the window).",
    )
    degree: int = Field(default=2, ge=0, le=6, description="savgol: degree of the polynomial, below window.")
    by: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns that make groups, such as the hole; no window crosses from one to another.",
        json_schema_extra={"x-role": "by-column"},
    )
    order_by: str | None = Field(
        default=None, description="Column to order rows by, such as depth; the order of the file if not given."
    )
    edges: Literal["shrink", "missing"] = Field(
        default="shrink",
        description="mean, median: at the ends of a group windows shrink to the rows there are, or the result is "
        "missing.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `<column>_<method><window>` for each column; rows keep the order of the file.

    A missing value stays missing and is left out of the windows of its neighbours. Savitzky-Golay after Savitzky &
    Golay (1964) by scipy: missing where its window holds a missing value; at the ends of a group the polynomial of
    the last full window is used. Raises ArgumentError for an even window and a degree not below it.
    """
    _check(arguments)
    table = read_table(context, arguments.path)
    names = made.numeric_names(table, arguments.columns)
    by = find_columns(table, arguments.by, "by") if arguments.by else []
    order = None if arguments.order_by is None else find_column(table, arguments.order_by, "order_by")
    ordered = _ordered(table.frame, by, order)
    notes = [*table.notes, *_order_notes(table, ordered, by, order)]
    taken, new = made.Names(table.frame), []
    records: dict[str, dict[str, Any]] = {}
    for done, name in enumerate(names):
        context.report(f"smoothing {name}", done, len(names))
        values = made.numbers(table, name)
        smoothed = _smoothed(values, ordered, arguments)
        new.append(smoothed.alias(taken.free(f"{name}_{arguments.method}{arguments.window}")))
        records[name] = {"added": new[-1].name, "missing": values.null_count()}
        records[name]["not_smoothed"] = smoothed.null_count() - values.null_count()
    units = {**table.units, **{c.name: table.units[n] for c, n in zip(new, names, strict=True) if n in table.units}}
    frame = table.frame.with_columns(new)
    written = replace(table, frame=frame, units=units)
    title = f"{table.path.name} smoothed by {arguments.method} over {many(arguments.window, 'row')}"
    published = publish_table(context, TOOL, written, arguments, frame, title)
    told, more = made.shown(context, TOOL, table, arguments, records)
    groups = ordered.get_column("group").n_unique()
    within = f" within {groups} groups of {', '.join(by)}" if by else ""
    return ToolResult(
        f"{len(new)} columns smoothed by {arguments.method} over {arguments.window} rows{within}",
        {
            "rows": frame.height,
            "groups": groups,
            **told,
            "rule": _rule(arguments, order),
            "path": published.artifact.path,
        },
        [published.artifact, *(each.artifact for each in more)],
        notes,
    )


def _check(arguments: Arguments) -> None:
    if arguments.window % 2 == 0:
        raise ArgumentError("window", f"{arguments.window} is even; only an odd window has a row at its centre")
    if arguments.method == "savgol" and arguments.degree >= arguments.window:
        raise ArgumentError("degree", f"{arguments.degree} is not below the window of {arguments.window}")


def _ordered(frame: pl.DataFrame, by: list[str], order: str | None) -> pl.DataFrame:
    """`row` and `group` of every row, in the order in which windows pass; rows without a place in it are left out.

    `is_tied` says whether a neighbour has the same place.
    """
    import polars as pl

    plan = pl.DataFrame({"row": pl.int_range(frame.height, eager=True)}).with_columns(_group(frame, by))
    if order is not None:
        plan = plan.with_columns(frame.get_column(order).alias("order")).drop_nulls("order")
    plan = plan.sort(["group", *(["order"] if order is not None else []), "row"])
    tied = pl.lit(False)
    if order is not None:
        same = (pl.col("order") == pl.col("order").shift()) & (pl.col("group") == pl.col("group").shift())
        tied = (same | same.shift(-1)).fill_null(False)
    return plan.with_columns(tied.alias("is_tied")).select("row", "group", "is_tied")


def _group(frame: pl.DataFrame, by: list[str]) -> pl.Series:
    """A number for each group: sorting by it is some ten times quicker than by text."""
    import polars as pl

    if not by:
        return pl.repeat(0, frame.height, dtype=pl.UInt32, eager=True).alias("group")
    numbered = frame.select(by).unique(maintain_order=True).with_row_index("\0group")
    joined = frame.select(by).join(numbered, on=by, how="left", nulls_equal=True, maintain_order="left")
    return joined.get_column("\0group").alias("group")


def _smoothed(values: pl.Series, ordered: pl.DataFrame, arguments: Arguments) -> pl.Series:
    """The smoothed values in the order of the file."""
    import polars as pl

    frame = ordered.select("row", "group").with_columns(values.gather(ordered.get_column("row")).alias("v"))
    if arguments.method == "savgol":
        smoothed = frame.select("row", _savgol(frame, arguments).alias("s"))
    else:
        least = 1 if arguments.edges == "shrink" else None
        column = pl.col("v")
        rolled = (
            column.rolling_mean(arguments.window, min_samples=1, center=True)
            if arguments.method == "mean"
            else column.rolling_median(arguments.window, min_samples=1, center=True)
        )
        if least is None:
            half = arguments.window // 2
            place = pl.int_range(pl.len())
            rolled = pl.when((place >= half) & (place < pl.len() - half)).then(rolled)
        smoothed = frame.select("row", pl.when(column.is_not_null()).then(rolled.over("group")).alias("s"))
    back = pl.repeat(None, len(values), dtype=pl.Float64, eager=True)
    return back.scatter(smoothed.get_column("row"), smoothed.get_column("s"))


def _savgol(frame: pl.DataFrame, arguments: Arguments) -> pl.Series:
    import numpy
    import polars as pl

    values = frame.get_column("v").to_numpy().astype(float)
    lengths = frame.group_by("group", maintain_order=True).len().get_column("len").to_list()
    found = numpy.full(len(values), numpy.nan)
    start = 0
    for length in lengths:
        part = values[start : start + length]
        found[start : start + length] = _savgol_of(part, arguments.window, arguments.degree)
        start += length
    return pl.Series(found).fill_nan(None)


def _savgol_of(values: NDArray[Any], window: int, degree: int) -> NDArray[Any]:
    """One group: each stretch without a missing value by itself; stretches shorter than the window stay missing."""
    import numpy
    from scipy.signal import savgol_filter

    found = numpy.full(len(values), numpy.nan)
    known = numpy.concatenate(([False], ~numpy.isnan(values), [False]))
    edges = numpy.flatnonzero(known[1:] != known[:-1])
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if end - start >= window:
            found[start:end] = savgol_filter(values[start:end], window, degree, mode="interp")
    return found


def _order_notes(table: Table, ordered: pl.DataFrame, by: list[str], order: str | None) -> list[str]:
    import polars as pl

    notes = []
    hole = next((name for name in table.frame.columns if _is_hole(table, name)), None) if not by else None
    if hole and table.frame.get_column(hole).n_unique() > 1:
        notes.append(f"SUSPECTED: {hole!r} names several holes and windows cross from one to another; give by")
    if order is None:
        return notes
    column = table.frame.get_column(order)
    if column.null_count():
        notes.append(f"{column.null_count()} rows without {order!r} have no place in the order and are not smoothed")
    equal = int(ordered.get_column("is_tied").sum())
    if equal:
        notes.append(f"{equal} rows share their {order!r} with another; these keep the order of the file")
    if column.dtype.is_numeric() and not by and len(column) > 2:
        steps = column.drop_nulls().sort().cast(pl.Float64).diff().drop_nulls()
        usual = steps.median()
        if isinstance(usual, float) and usual > 0 and ((steps - usual).abs() > EVEN_SPACING * usual).any():
            notes.append(f"rows are unevenly spaced in {order!r}; the window counts rows, not distance")
    return notes


def _is_hole(table: Table, name: str) -> bool:
    column = table.frame.get_column(name)
    kind = column_type(column)
    if kind not in ("integer", "text"):
        return False
    facts = ColumnFacts(name, kind, None, len(column), 0, 2)
    return roles_of([facts]) == ["hole_id"]


def _rule(arguments: Arguments, order: str | None) -> str:
    ends = "windows shrink at the ends" if arguments.edges == "shrink" else "missing at the ends"
    if arguments.method == "savgol":
        ends = f"degree {arguments.degree}, at the ends the polynomial of the last full window"
    along = bounded.named([order or "the order of the file"])
    return f"centred {arguments.method} of {arguments.window} rows by {along}, {ends}"


TOOL = Tool(
    name="smooth",
    version=1,
    description="Smooths numeric columns by a centred rolling mean or median or by Savitzky-Golay, ordered by depth or "
    "time and never across holes, and writes the table with the smoothed columns.",
    asked_for=(
        "smooth",
        "smooth the curve",
        "moving average",
        "rolling mean",
        "running mean",
        "rolling median",
        "median filter",
        "savitzky-golay filter",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        noisy curve; remove spikes; despike; noise reduction; running average; rolling window; filter the log;
        low-pass filter; denoise; trend of a series; wiggly; jagged; median of neighbours; sliding window;
        smoothen the time series; average along the hole; savgol; reduce the scatter down the hole; calm down;
        jitter; high-frequency fluctuations; flatten the noise; boxcar; seven-point average; moving mean of
        monthly readings; suppress short-wavelength variation; erratic signal; iron out the wiggles; five-point
        running mean; get rid of electronic noise; less jumpy; irregular signal; even out; damp the
        fluctuations; running; rolling; clean the curve of spikes; remove short peaks; blur the log; average
        over a window; take out the noise; filter the series; smoother line; reveal the trend beneath the noise;
        jumpy readings
        """
    ),
)
