"""Correlation of every pair of columns, with the number of rows each coefficient stands on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics.correlations import Correlations, Method, correlations

if TYPE_CHECKING:
    import polars as pl

PAIRS_SHOWN = 10
COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall": "tau-b"}


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=2,
        description="Numeric columns to correlate; all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    method: Method = Field(
        default="pearson",
        description="pearson (linear), spearman (ranks, robust) or kendall (ranks, few rows or ties).",
    )
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)


@dataclass(frozen=True)
class Pair:
    """The correlation of two columns over the `n` rows that have both; None where it is not defined."""

    x: str
    y: str
    r: float | None
    p_value: float | None
    n: int


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where fewer than two columns vary."""
    table = read_table(context, arguments.path)
    chosen, notes = features.chosen_columns(table, arguments.columns)
    taken = features.take(table, chosen, "columns", arguments.transform)
    names, constant = _varying(taken)
    if len(names) < 2:
        raise ArgumentError("columns", f"{table.path.name}: fewer than two of {', '.join(chosen)} vary")
    if constant:
        notes.append(f"constant columns left out, they correlate with nothing: {', '.join(constant)}")
    values = taken.values[:, [taken.columns.index(name) for name in names]]
    found = correlations(values, arguments.method, context.report)
    made_of = features.parameters(arguments, columns=chosen)
    files = _publish(context, table, made_of, names, found, arguments.method)
    pairs = len(names) * (len(names) - 1) // 2
    strongest = _strongest(names, found)
    undefined = pairs - int(found.is_defined().sum())
    results = {
        "rows": table.frame.height,
        "columns": len(names),
        "pairs": pairs,
        "undefined_pairs": undefined,
        "strongest": [asdict(pair) for pair in strongest],
        "constant": constant,
        "method": arguments.method,
        "transform": arguments.transform,
        "rule": _rule(arguments),
    }
    best = (
        f": strongest {strongest[0].x} and {strongest[0].y}, {strongest[0].r:.4f} on {strongest[0].n} rows"
        if strongest
        else ""
    )
    text = (
        f"{pairs} pairs of {len(names)} columns correlated by {arguments.method}{best}{suspicions(table.frame, names)}"
    )
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes, *_left_out(taken)])


def _varying(taken: features.Features) -> tuple[list[str], list[str]]:
    import numpy

    varying: list[str] = []
    constant: list[str] = []
    for name, column in zip(taken.columns, taken.values.T, strict=True):
        found = column[numpy.isfinite(column)]
        (varying if len(found) and found.min() < found.max() else constant).append(name)
    return varying, constant


def _strongest(names: list[str], found: Correlations) -> list[Pair]:
    """The pairs with the greatest coefficients, equal ones in the order of the columns."""
    import numpy

    rows, columns = numpy.triu_indices(len(names), 1)
    sizes = numpy.abs(found.coefficients[rows, columns])
    order = numpy.argsort(-sizes, kind="stable")[: min(PAIRS_SHOWN, int(numpy.isfinite(sizes).sum()))]
    pairs = []
    for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        r, p_value = float(found.coefficients[i, j]), float(found.p_values[i, j])
        pairs.append(Pair(names[i], names[j], r, p_value, int(found.rows[i, j])))
    return pairs


def _publish(
    context: ToolContext, table: Table, made_of: dict[str, Any], names: list[str], found: Correlations, method: Method
) -> list[Published]:
    import numpy
    import polars as pl

    def put(part: str, title: str, frame: pl.DataFrame) -> Published:
        return publish(
            context,
            TOOL,
            [table.path],
            made_of,
            extension="csv",
            kind="table",
            title=f"{title} ({method}) of {table.path.name}",
            part=part,
            write=lambda path: write_csv(frame, path),
        )

    rows, columns = numpy.triu_indices(len(names), 1)
    labels = pl.Series(names)
    listed = pl.DataFrame(
        {
            "x": labels.gather(rows),
            "y": labels.gather(columns),
            "r": found.coefficients[rows, columns],
            "p_value": found.p_values[rows, columns],
            "n": found.rows[rows, columns],
        }
    )
    label = "column" if "column" not in names else features.free_name(pl.DataFrame(schema=names), "column_name")
    matrix = pl.DataFrame({label: names}).with_columns(
        pl.Series(name, column) for name, column in zip(names, found.coefficients.T, strict=True)
    )
    return [put("matrix", "Correlation matrix", matrix), put("pairs", "Correlated pairs", listed)]


def _rule(arguments: Arguments) -> str:
    return (
        f"{COEFFICIENTS[arguments.method]} of {arguments.method}, each pair on the n rows that have both values; "
        "two-sided p-value, not corrected for the number of pairs"
    )


def _left_out(taken: features.Features) -> list[str]:
    """Under a logarithm a pair only loses its own rows; under clr a row is whole or out."""
    if taken.transform == "clr":
        return taken.notes()
    lost = {name: int((column <= 0).sum()) for name, column in zip(taken.columns, taken.original.T, strict=True)}
    texts = [f"{name} {count}" for name, count in lost.items() if count]
    return (
        [f"values that are not positive have no logarithm and were left out: {', '.join(texts)}"]
        if (texts and taken.transform != "none")
        else []
    )


TOOL = Tool(
    name="correlate",
    version=1,
    description=(
        "Correlation coefficients (Pearson, Spearman or Kendall) between pairs of numeric columns, with n and p-value: "
        "the strongest pairs, and the full correlation matrix as a CSV."
    ),
    asked_for=(
        "correlate",
        "correlation",
        "correlation matrix",
        "relate",
        "how does one column depend on another",
        "relationship between",
        "association",
        "which elements follow",
        "pathfinder",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
)
