"""Correlation of every pair of columns, with the number of rows each coefficient stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools import features
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.reading import Table, read_table, write_csv

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

Method = Literal["pearson", "spearman", "kendall"]

PAIRS_SHOWN = 10
FEWEST_ROWS = 3
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
    pairs = _correlate(context, taken, names, arguments.method)
    made_of = features.parameters(arguments, columns=chosen)
    files = _publish(context, table, made_of, names, pairs, arguments.method)
    strongest = sorted((pair for pair in pairs if pair.r is not None), key=lambda pair: -abs(pair.r or 0.0))
    results = {
        "rows": table.frame.height,
        "columns": len(names),
        "pairs": len(pairs),
        "undefined_pairs": len(pairs) - len(strongest),
        "strongest": [asdict(pair) for pair in strongest[:PAIRS_SHOWN]],
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
    text = f"{len(pairs)} pairs of {len(names)} columns correlated by {arguments.method}{best}"
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes, *_left_out(taken)])


def correlation(x: Vector, y: Vector, method: Method) -> tuple[float | None, float | None]:
    """Coefficient and two-sided p-value of two vectors without gaps (scipy.stats: pearsonr, spearmanr, kendalltau b).

    None for fewer than three rows and where one vector is constant.
    """
    from scipy import stats

    if len(x) < FEWEST_ROWS or x.min() == x.max() or y.min() == y.max():
        return None, None
    functions: dict[str, Callable[[Vector, Vector], Any]]
    functions = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    found = functions[method](x, y)
    return float(found.statistic), float(found.pvalue)


def _varying(taken: features.Features) -> tuple[list[str], list[str]]:
    import numpy

    varying: list[str] = []
    constant: list[str] = []
    for name, column in zip(taken.columns, taken.values.T, strict=True):
        found = column[numpy.isfinite(column)]
        (varying if len(found) and found.min() < found.max() else constant).append(name)
    return varying, constant


def _correlate(context: ToolContext, taken: features.Features, names: list[str], method: Method) -> list[Pair]:
    import numpy

    values = {name: taken.values[:, taken.columns.index(name)] for name in names}
    total = len(names) * (len(names) - 1) // 2
    pairs = []
    for done, (x, y) in enumerate(combinations(names, 2)):
        if done % 100 == 0:
            context.report("correlating pairs of columns", done, total)
        has_both = numpy.isfinite(values[x]) & numpy.isfinite(values[y])
        r, p_value = correlation(values[x][has_both], values[y][has_both], method)
        pairs.append(Pair(x, y, r, p_value, int(has_both.sum())))
    return pairs


def _publish(
    context: ToolContext, table: Table, made_of: dict[str, Any], names: list[str], pairs: list[Pair], method: Method
) -> list[Published]:
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

    listed = pl.DataFrame([asdict(pair) for pair in pairs], infer_schema_length=None)
    return [put("matrix", "Correlation matrix", _matrix(names, pairs)), put("pairs", "Correlated pairs", listed)]


def _matrix(names: list[str], pairs: list[Pair]) -> pl.DataFrame:
    import polars as pl

    found = {(pair.x, pair.y): pair.r for pair in pairs} | {(pair.y, pair.x): pair.r for pair in pairs}
    label = "column" if "column" not in names else "column_name"
    columns = {name: [1.0 if row == name else found[row, name] for row in names] for name in names}
    return pl.DataFrame({label: names}).with_columns(
        pl.Series(name, column, pl.Float64) for name, column in columns.items()
    )


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
