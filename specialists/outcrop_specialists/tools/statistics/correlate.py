"""Correlation of pairs of columns, all of them or all with one, with the number of rows each stands on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics.bounded import fitting_list, named
from outcrop_specialists.tools.statistics.correlations import Correlations, Method, correlations, correlations_with

if TYPE_CHECKING:
    import polars as pl

PAIRS_SHOWN = 10
FOLLOWERS_TOLD = 6
CONSTANT_SHOWN = 10
COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall": "tau-b"}


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=2,
        description="Numeric columns to correlate (with a target, it among them); all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    target: str | None = Field(
        default=None,
        description="One column: only its correlations with the others are wanted, ranked (what follows gold?).",
        json_schema_extra={"x-role": "target-column"},
    )
    composition: list[str] | None = Field(
        default=None,
        min_length=2,
        description="clr only: the parts over which the mean logarithm is taken; the columns where not given.",
        json_schema_extra={"x-role": "composition-columns"},
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
    chosen, target, notes = _chosen(table, arguments)
    taken = _taken(table, chosen, arguments)
    names, constant = _varying(taken)
    if target is not None and target not in names:
        raise ArgumentError("target", f"{table.path.name}: {target!r} does not vary and correlates with nothing")
    if len(names) < 2:
        raise ArgumentError("columns", f"{table.path.name}: fewer than two of {named(chosen)} vary")
    if constant:
        notes.append(f"constant columns left out, they correlate with nothing: {named(constant)}")
    values = taken.values[:, [taken.columns.index(name) for name in names]]
    if target is None:
        found = correlations(values, arguments.method, context.report)
    else:
        found = correlations_with(names.index(target), values, arguments.method, context.report)
    best, defined = _strongest(names, found, target)
    made_of = features.parameters(arguments, columns=chosen, target=target)
    files = _publish(context, table, made_of, names, found, arguments.method, target)
    pairs = len(names) - 1 if target else len(names) * (len(names) - 1) // 2
    results = {
        "rows": table.height,
        "columns": len(names),
        "pairs": pairs,
        "undefined_pairs": pairs - defined,
        **({"target": target} if target else {}),
        "strongest": fitting_list([asdict(pair) for pair in best]),
        "constant": constant[:CONSTANT_SHOWN],
        "method": arguments.method,
        "transform": arguments.transform,
        "rule": _rule(arguments),
    }
    text = (
        f"{many(pairs, 'pair')} of {many(len(names), 'column')} correlated by {arguments.method}{_told(best, target)}"
    )
    text += suspicions(table, names)
    claims = [claiming.rows(arguments.path, table.height)]
    if arguments.transform == "none":
        for pair in best:
            claims += claiming.correlation(arguments.path, arguments.method, pair.x, pair.y, pair.r)
    artifacts = [file.artifact for file in files]
    return ToolResult(text, results, artifacts, [*table.notes, *notes, *_left_out(taken)], claims)


def _chosen(table: Table, arguments: Arguments) -> tuple[list[str], str | None, list[str]]:
    """The columns to correlate, the target among them, and notes."""
    chosen, notes = features.chosen_columns(table, arguments.columns)
    if arguments.target is None:
        return chosen, None, notes
    target = find_column(table, arguments.target, "target")
    return [target, *(name for name in chosen if name != target)], target, notes


def _taken(table: Table, chosen: list[str], arguments: Arguments) -> features.Features:
    """The columns transformed; under clr over the whole composition, of which only the chosen ones are kept."""
    if arguments.composition is None:
        return features.take(table, chosen, "columns", arguments.transform)
    if arguments.transform != "clr":
        raise ArgumentError("composition", f"is for transform clr, which is {arguments.transform!r} here")
    parts = find_columns(table, arguments.composition, "composition")
    outside = [name for name in chosen if name not in parts]
    if outside:
        raise ArgumentError("composition", f"{outside[0]!r} is to be correlated but is no part of it")
    return features.take(table, parts, "composition", "clr").only(chosen)


def _varying(taken: features.Features) -> tuple[list[str], list[str]]:
    import numpy

    varying: list[str] = []
    constant: list[str] = []
    for name, column in zip(taken.columns, taken.values.T, strict=True):
        found = column[numpy.isfinite(column)]
        (varying if len(found) and found.min() < found.max() else constant).append(name)
    return varying, constant


def _strongest(names: list[str], found: Correlations, target: str | None) -> tuple[list[Pair], int]:
    """The pairs with the greatest coefficients, equal ones in column order, and how many pairs have one."""
    import numpy

    rows, columns = _pairs(names, target)
    sizes = numpy.abs(found.coefficients[rows, columns])
    defined = int(numpy.isfinite(sizes).sum())
    order = numpy.argsort(-sizes, kind="stable")[: min(PAIRS_SHOWN, defined)]
    pairs = []
    for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        r, p_value = float(found.coefficients[i, j]), float(found.p_values[i, j])
        pairs.append(Pair(names[i], names[j], r, p_value, int(found.rows[i, j])))
    return pairs, defined


def _pairs(names: list[str], target: str | None) -> tuple[Any, Any]:
    """Places of the pairs wanted in the matrix: those above the diagonal, or those of the target's row."""
    import numpy

    if target is None:
        return numpy.triu_indices(len(names), 1)
    at = names.index(target)
    others = numpy.array([index for index in range(len(names)) if index != at])
    return numpy.full(len(others), at), others


def _told(best: list[Pair], target: str | None) -> str:
    if not best:
        return ""
    if target is None:
        return f": strongest {best[0].x} and {best[0].y}, {best[0].r:.4f} on {best[0].n} rows"
    each = ", ".join(f"{pair.y} {pair.r:.4f}" for pair in best[:FOLLOWERS_TOLD])
    return f": strongest with {target}: {each} (on {best[0].n} rows)"


def _publish(
    context: ToolContext,
    table: Table,
    made_of: dict[str, Any],
    names: list[str],
    found: Correlations,
    method: Method,
    target: str | None,
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

    rows, columns = _pairs(names, target)
    if target is not None:
        order = numpy.argsort(-numpy.abs(found.coefficients[rows, columns]), kind="stable")  # NaN last
        rows, columns = rows[order], columns[order]
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
    if target is not None:
        return [put("pairs", f"Correlations with {target}", listed)]
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
        [f"values that are not positive have no logarithm and were left out: {named(texts)}"]
        if (texts and taken.transform != "none")
        else []
    )


TOOL = Tool(
    name="correlate",
    version=2,
    description=(
        "Correlation coefficients (Pearson, Spearman or Kendall) between pairs of numeric columns, or of all columns "
        "with one target, ranked; with n and p-value. The full correlation matrix or ranking goes to a CSV."
    ),
    asked_for=(
        "correlate",
        "correlation",
        "correlation matrix",
        "correlate everything with",
        "relate",
        "how does one column depend on another",
        "relationship between",
        "association",
        "which elements follow",
        "pathfinder",
        "go together",
        "related to each other",
        "are related",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("strongest",),
    also_called=phrases(
        """
        go together; move together; vary together; associated elements; co-vary; pathfinders of gold; dependence
        between variables; linked; Pearson's r; Spearman's rho; Kendall's tau; strength of the relationship;
        what controls; connected with; related to; accompany; predictors of; rise and fall together; rank
        correlation; inverse relationship; mutual dependence; companions; tracks; sympathetic; antipathetic;
        covariance; similarity between elements; geochemical affinity; which elements behave alike; is there a
        link between; collinear variables; goes up when another goes up; proxies for; elements that travel with;
        strongest partner of; what does gold travel with; when one climbs does another climb as well; best
        indicator element for; does it increase together; relation of elements; are they related; which elements
        follow each other; goes along with; depends on; go hand in hand; parallel behaviour; tied to; common
        occurrence; indicator element; which variables are linked; partners; strongest link; does one follow the
        other; interplay; relations among the elements; similar behaviour; associated with; joint behaviour; in
        step with; redundancy among variables; when one falls the other rises; best pathfinder
        """
    ),
)
