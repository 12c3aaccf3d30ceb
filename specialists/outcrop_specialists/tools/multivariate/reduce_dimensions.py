"""Principal components of some columns (scores for every row, loadings for every column), or a t-SNE layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.multivariate.embedding import tsne
from outcrop_specialists.tools.multivariate.pca import Components, principal_components
from outcrop_specialists.tools.publish import Published
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl

LOADINGS_SHOWN = 5
LOADINGS_CHARS = 500
RULE = (
    "loadings are unit-length eigenvectors, the largest absolute one of each component positive; the loadings file has "
    "the correlations of columns with components too; "
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
    method: Literal["pca", "tsne"] = Field(
        default="pca",
        description="pca: principal component analysis; tsne: a layout in which similar rows lie side by side.",
    )
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    standardize: bool = Field(default=True, description="Scale every column to mean 0 and standard deviation 1 first.")
    perplexity: float = Field(default=30, ge=2, le=500, description="tsne: about how many neighbours a row has.")
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="tsne: seed.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where rows or varying columns are too few for the components wanted."""
    table = read_table(context, arguments.path)
    names, notes = features.chosen_columns(table, arguments.columns)
    taken = features.take(table, names, "columns", arguments.transform)
    _require_rows(table, taken)
    if arguments.method == "tsne":
        return _layout(context, table, taken, arguments, notes)
    context.report("computing principal components")
    found = principal_components(taken, arguments.n_components, standardize=arguments.standardize)
    if found.constant:
        notes.append(f"constant columns left out: {named(found.constant)}")
    labels = _labels(table, len(found.shares))
    spread = _spread(taken, found, standardize=arguments.standardize)
    made_of = features.parameters(arguments, columns=names)
    files = _publish(context, table, made_of, found, labels, spread)
    shares = dict(zip(labels, found.shares.tolist(), strict=True))
    results: dict[str, Any] = {
        "rows": table.height,
        "used": int(taken.is_complete.sum()),
        "left_out": sum(taken.left_out().values()),
        "left_out_reasons": taken.left_out(),
        "columns": len(found.columns),
        "explained_variance_ratio": shares,
        "top_loadings": fitting(
            {label: found.strongest(index, LOADINGS_SHOWN) for index, label in enumerate(labels)}, LOADINGS_CHARS
        )[0],
        "transform": arguments.transform,
        "standardized": arguments.standardize,
        "rule": RULE,
    }
    share = sum(shares.values())
    text = f"{len(labels)} principal components of {len(found.columns)} columns hold {share:.1%} of the variance"
    each = ", ".join(f"{label} {value:.1%}" for label, value in list(shares.items())[:5])
    text += f" ({each})" if len(shares) > 1 else ""
    text += suspicions(table, found.columns)
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes, *taken.notes()])


def _layout(
    context: ToolContext, table: Table, taken: features.Features, arguments: Arguments, notes: list[str]
) -> ToolResult:
    """Every row with its place in a t-SNE layout."""
    import polars as pl

    context.report(f"laying out {int(taken.is_complete.sum())} rows by t-SNE")
    found = tsne(taken, arguments.n_components, arguments.perplexity, arguments.seed, standardize=arguments.standardize)
    if found.perplexity < arguments.perplexity:
        notes.append(f"perplexity lowered to {found.perplexity:.4g}, a third of the rows")
    labels = [features.free_name(table.frame, f"tSNE{number + 1}") for number in range(found.scores.shape[1])]
    frame = table.frame.with_columns(
        pl.Series(label, column, pl.Float64).fill_nan(None)
        for label, column in zip(labels, found.scores.T, strict=True)
    )
    made_of = features.parameters(arguments, columns=taken.columns)
    file = put_figures(context, TOOL, table, made_of, frame, f"t-SNE layout of {table.path.name}", "layout")
    used = int(taken.is_complete.sum())
    results: dict[str, Any] = {
        "rows": table.height,
        "used": used,
        "left_out": sum(taken.left_out().values()),
        "left_out_reasons": taken.left_out(),
        "columns": len(taken.columns),
        "added_columns": labels,
        "kl_divergence": found.divergence,
        "transform": arguments.transform,
        "standardized": arguments.standardize,
        "rule": f"t-SNE (van der Maaten & Hinton 2008), perplexity {found.perplexity:.6g}, started from principal "
        f"components, seed {arguments.seed}; distances between far groups and their sizes mean nothing",
    }
    text = f"{used} rows laid out in {len(labels)} dimensions by t-SNE of {len(taken.columns)} columns"
    text += suspicions(table, taken.columns)
    return ToolResult(text, results, [file.artifact], [*table.notes, *notes, *taken.notes()])


def _spread(taken: features.Features, found: Components, *, standardize: bool) -> Any:
    """Standard deviations (n) of the columns as they went into the components."""
    import numpy

    if standardize:
        return numpy.ones(len(found.columns))
    places = [taken.columns.index(name) for name in found.columns]
    return taken.values[taken.is_complete][:, places].std(axis=0)


def _require_rows(table: Table, taken: features.Features) -> None:
    rows = int(taken.is_complete.sum())
    if rows < 2:
        why = "; ".join(taken.notes())
        raise ArgumentError("columns", f"{table.path.name} has {rows} rows with a value in every column: {why}")


def _labels(table: Table, count: int) -> list[str]:
    return [features.free_name(table.frame, f"PC{number}") for number in range(1, count + 1)]


def _publish(
    context: ToolContext, table: Table, made_of: dict[str, Any], found: Components, labels: list[str], spread: Any
) -> list[Published]:
    """Scores of every row; loadings and correlations (for a biplot) of every column; variance of every component."""
    import polars as pl

    scores = table.frame.with_columns(
        pl.Series(label, column, pl.Float64).fill_nan(None)
        for label, column in zip(labels, found.scores.T, strict=True)
    )
    loadings = pl.DataFrame({"column": found.columns}).with_columns(
        *(pl.Series(label, column, pl.Float64) for label, column in zip(labels, found.loadings, strict=True)),
        *(
            pl.Series(f"{label}_correlation", column, pl.Float64)
            for label, column in zip(labels, found.correlations(spread), strict=True)
        ),
    )
    shares = found.eigenvalues / found.eigenvalues.sum()
    variance = pl.DataFrame(
        {
            "component": list(range(1, len(shares) + 1)),
            "eigenvalue": found.eigenvalues,
            "explained_variance_ratio": shares,
            "cumulative": shares.cumsum(),
        }
    )

    def put(part: str, title: str, frame: pl.DataFrame) -> Published:
        return put_figures(context, TOOL, table, made_of, frame, f"{title} of {table.path.name}", part)

    return [
        put("scores", "Principal component scores", scores),
        put("loadings", "Loadings", loadings),
        put("variance", "Variance of the components", variance),
    ]


TOOL = Tool(
    name="reduce_dimensions",
    version=2,
    description=(
        "Principal component analysis (PCA) of numeric columns: explained variance, strongest loadings, CSVs of scores "
        "for every row, of loadings (ready for a biplot) and of the variance of each component; or a t-SNE layout."
    ),
    asked_for=(
        "reduce dimensions",
        "principal components",
        "pca",
        "principal component analysis",
        "loadings",
        "explained variance",
        "ordination",
        "t-sne",
        "fewer variables",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("explained_variance_ratio",),
    also_called=phrases(
        """
        pca; principal axes; factors; factor analysis; eigenvectors; scores and loadings; biplot; two
        dimensions; fewer variables; compress many elements; latent factors; processes behind the chemistry;
        summarise thirty elements in two axes; tsne; embedding; project to a plane; dimensionality reduction;
        main patterns of variation; main components; combine correlated variables; variance explained;
        eigenvalues; scree; underlying processes; feature extraction; squeeze variables; condense the variables;
        visualise high-dimensional data; element associations as components; dominant modes; synthetic
        variables; main hidden processes behind many elements; boil the chemistry down to a few factors; main
        factors; few factors; combine many variables into a few; what drives the variation; major patterns in
        the chemistry; hidden factors; summarise many variables; reduce the number of variables; main
        directions; independent components; many elements into few; underlying factors; overview of all elements
        in one plane; represent in two dimensions; simplify forty elements; condense; dominant sources
        """
    ),
)
