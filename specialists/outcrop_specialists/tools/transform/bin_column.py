"""Tool: puts the values of a column into classes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

Method = Literal["quantile", "equal", "breaks"]
MOST_BINS = 200
RULES: dict[Method, str] = {
    "quantile": "as many values in each class as ties allow; edges are quantiles interpolated linearly (type 7)",
    "equal": "classes of equal width from the least to the greatest value",
    "breaks": "classes between the breaks, open at both ends",
}


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str = Field(description="Numeric column to bin.", json_schema_extra={"x-role": "column"})
    method: Method = Field(
        default="quantile", description="quantile: equal counts; equal: equal widths; breaks: at the breaks given."
    )
    bins: int = Field(default=4, ge=2, le=MOST_BINS, description="quantile, equal: number of classes.")
    breaks: list[float] | None = Field(
        default=None, min_length=1, max_length=MOST_BINS - 1, description="breaks: values between classes, ascending."
    )
    labels: list[str] | None = Field(
        default=None, min_length=2, description="Names of the classes, lowest first; the intervals if not given."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `<column>_bin`, text. A class holds its upper edge and not its lower one, the lowest class both.

    Raises ArgumentError where breaks are lacking or not ascending, where labels do not fit, and for a column without
    spread.
    """
    if (arguments.breaks is None) == (arguments.method == "breaks"):
        raise ArgumentError("breaks", "are needed by method breaks, and by no other")
    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column)
    values = made.numbers(table, name, "column")
    inner, low, high = _edges(name, values, arguments)
    labels = _labels(inner, low, high, arguments)
    binned = _binned(values, inner, labels).alias(made.Names(table.frame).free(f"{name}_bin"))
    frame = table.frame.with_columns(binned)
    title = f"{table.path.name} with {name} in {many(len(labels), 'class', 'classes')}"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    counts = dict(binned.drop_nulls().value_counts().iter_rows())
    sizes = {label: int(counts.get(label, 0)) for label in labels}
    told, more = bounded.fitting(sizes, made.SHOWN_CHARS)
    results: dict[str, Any] = {
        "rows": frame.height, "added": bounded.named([binned.name]), "classes": len(labels), "sizes": told,
        "missing": values.null_count(), "rule": f"{RULES[arguments.method]}; upper edges belong to their class",
        "path": published.artifact.path,
    }  # fmt: skip
    if more:
        results["more"] = f"{more} more classes in the file"
    notes = list(table.notes)
    if len(labels) < (len(arguments.breaks) + 1 if arguments.breaks else arguments.bins):
        notes.append(f"{arguments.bins} classes were asked for; equal values leave {len(labels)}")
    if values.null_count():
        notes.append(f"{values.null_count()} rows without a value are in no class")
    largest = max(sizes, key=lambda label: sizes[label])
    return ToolResult(
        f"{bounded.named([name])} in {len(labels)} classes; the largest, {bounded.named([largest])}, has "
        f"{sizes[largest]} of {frame.height} rows",
        results,
        [published.artifact],
        notes,
    )


def _edges(name: str, values: pl.Series, arguments: Arguments) -> tuple[list[float], float, float]:
    """The edges between classes, ascending, and the least and greatest value."""
    low, high = values.min(), values.max()
    if not isinstance(low, float) or not isinstance(high, float):
        raise ArgumentError("column", f"{name!r} holds no value")
    if arguments.breaks is not None:
        if any(b <= a for a, b in pairwise(arguments.breaks)):
            raise ArgumentError("breaks", "are not ascending")
        return list(arguments.breaks), low, high
    if low == high:
        raise ArgumentError("column", f"all values of {name!r} are equal; there is nothing to bin")
    shares = [number / arguments.bins for number in range(1, arguments.bins)]
    if arguments.method == "equal":
        return [low + share * (high - low) for share in shares], low, high
    cuts = {float(str(values.quantile(share, "linear"))) for share in shares}
    return sorted(cut for cut in cuts if low <= cut < high), low, high


def _labels(inner: list[float], low: float, high: float, arguments: Arguments) -> list[str]:
    if arguments.labels is not None:
        if len(arguments.labels) != len(inner) + 1 or len(set(arguments.labels)) != len(arguments.labels):
            raise ArgumentError("labels", f"{len(inner) + 1} different names are needed, lowest class first")
        return arguments.labels
    if arguments.method == "breaks":
        middle = [f"({a!r}, {b!r}]" for a, b in pairwise(inner)]
        return [f"<= {inner[0]!r}", *middle, f"> {inner[-1]!r}"]
    ends = [low, *inner, high]
    return [f"{'(' if place else '['}{a!r}, {b!r}]" for place, (a, b) in enumerate(pairwise(ends))]


def _binned(values: pl.Series, inner: list[float], labels: list[str]) -> pl.Series:
    """The class of each value: the number of edges that lie below it."""
    import polars as pl

    place = pl.Series(inner, dtype=pl.Float64).search_sorted(values.fill_null(0.0), side="left")
    names = pl.Series(labels).gather(place)
    return names.set(values.is_null(), None)


TOOL = Tool(
    name="bin_column",
    version=1,
    description="Puts the values of a numeric column into classes (quantiles, equal widths or given breaks) and writes "
    "the table with the class of each row.",
    asked_for=(
        "bin the column",
        "bin values",
        "bin equal width",
        "bin at breaks",
        "put into bins",
        "bin into quartiles",
        "bin into quantiles",
        "bin into classes",
        "divide into classes",
        "split into quartiles",
        "split into quantiles",
        "categorise values",
        "discretize",
        "class breaks",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        classes; categories from numbers; intervals of values; low, medium and high; quartile classes; grade
        bands; depth ranges; age classes; discretise; turn a number into a category; group by ranges; histogram
        classes as a column; percentile classes; cut into bands; tertiles; quintiles; deciles; equal-sized
        groups by value; depth slices; ranges of 50 m; stratify by depth; colour classes; grade shells; ordinal
        scale; chop a continuous variable; brackets; ranges of concentration; assign a level; slabs; split a
        variable at breakpoints; chop the section into slices; weak, medium, strong; equally populated groups;
        grade class; divide values into ranges; steps of 25 m; four groups by value; split into equal parts;
        levels; rating from numbers; low and high; every 10 metres a class; bands of concentration; ordinal
        classes; class limits; convert numbers into groups; put values into ranges
        """
    ),
)
