"""Principal components of some columns: scores for every row, loadings for every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.multivariate.pca import Components, principal_components
from outcrop_specialists.tools.publish import Published, publish

if TYPE_CHECKING:
    import polars as pl

LOADINGS_SHOWN = 5
RULE = (
    "loadings are unit-length eigenvectors, the largest absolute one of each component positive; "
    "explained variance is the share of the total variance of the columns used"
)


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=2,
        description="Numeric columns to reduce; all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    n_components: int = Field(default=2, ge=1, le=20, description="Number of principal components wanted.")
    method: Literal["pca"] = Field(default="pca", description="pca: principal component analysis.")
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    standardize: bool = Field(default=True, description="Scale every column to mean 0 and standard deviation 1 first.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where rows or varying columns are too few for the components wanted."""
    table = read_table(context, arguments.path)
    names, notes = features.chosen_columns(table, arguments.columns)
    taken = features.take(table, names, "columns", arguments.transform)
    _require_rows(table, taken)
    context.report("computing principal components")
    found = principal_components(taken, arguments.n_components, standardize=arguments.standardize)
    if found.constant:
        notes.append(f"constant columns left out: {', '.join(found.constant)}")
    labels = _labels(table, len(found.shares))
    files = _publish(context, table, features.parameters(arguments, columns=names), found, labels)
    shares = dict(zip(labels, found.shares.tolist(), strict=True))
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "used": int(taken.is_complete.sum()),
        "left_out": sum(taken.left_out().values()),
        "left_out_reasons": taken.left_out(),
        "columns": len(found.columns),
        "explained_variance_ratio": shares,
        "top_loadings": {label: found.strongest(index, LOADINGS_SHOWN) for index, label in enumerate(labels)},
        "transform": arguments.transform,
        "standardized": arguments.standardize,
        "rule": RULE,
    }
    share = sum(shares.values())
    text = f"{len(labels)} principal components of {len(found.columns)} columns hold {share:.1%} of the variance"
    text += suspicions(table.frame, found.columns)
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes, *taken.notes()])


def _require_rows(table: Table, taken: features.Features) -> None:
    rows = int(taken.is_complete.sum())
    if rows < 2:
        why = "; ".join(taken.notes())
        raise ArgumentError("columns", f"{table.path.name} has {rows} rows with a value in every column: {why}")


def _labels(table: Table, count: int) -> list[str]:
    return [features.free_name(table.frame, f"PC{number}") for number in range(1, count + 1)]


def _publish(
    context: ToolContext, table: Table, made_of: dict[str, Any], found: Components, labels: list[str]
) -> list[Published]:
    import polars as pl

    scores = table.frame.with_columns(
        pl.Series(label, column, pl.Float64).fill_nan(None)
        for label, column in zip(labels, found.scores.T, strict=True)
    )
    loadings = pl.DataFrame({"column": found.columns}).with_columns(
        pl.Series(label, column, pl.Float64) for label, column in zip(labels, found.loadings, strict=True)
    )

    def put(part: str, title: str, frame: pl.DataFrame) -> Published:
        return publish(
            context,
            TOOL,
            [table.path],
            made_of,
            extension="csv",
            kind="table",
            title=f"{title} of {table.path.name}",
            part=part,
            write=lambda path: write_csv(frame, path),
            columns=written_columns(frame, table.units),
        )

    return [put("scores", "Principal component scores", scores), put("loadings", "Loadings", loadings)]


TOOL = Tool(
    name="reduce_dimensions",
    version=1,
    description=(
        "Principal component analysis (PCA) of numeric columns: explained variance, strongest loadings, a CSV of "
        "scores for every row and a CSV of loadings."
    ),
    asked_for=(
        "reduce dimensions",
        "principal components",
        "pca",
        "principal component analysis",
        "loadings",
        "explained variance",
        "ordination",
        "fewer variables",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
)
