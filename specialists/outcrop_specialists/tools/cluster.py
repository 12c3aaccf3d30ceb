"""Groups rows by similarity: k-means, hierarchical (Ward) or density-based, with a label for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools import features
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.columns import find_columns
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.reading import Table, read_table, write_csv

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

STARTS = 20
SILHOUETTE_ROWS = 5_000
# Ward's method keeps every pairwise distance: 20,000 rows are 1.6 GB.
HIERARCHICAL_ROWS = 20_000
CENTRES_SHOWN = 120
NOISE = -1
NOISE_REASON = "noise: in no dense group"


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to group by.", json_schema_extra={"x-role": "columns"}
    )
    n_clusters: int = Field(default=3, ge=2, le=100, description="Number of groups (not used by dbscan).")
    method: Literal["kmeans", "hierarchical", "dbscan"] = Field(
        default="kmeans",
        description="kmeans, hierarchical (Ward) or dbscan (density; finds the number of groups itself).",
    )
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    standardize: bool = Field(default=True, description="Scale every column to mean 0 and standard deviation 1 first.")
    eps: float = Field(default=0.5, gt=0, description="dbscan: reach of a neighbourhood, in standardised units.")
    min_samples: int = Field(default=5, ge=1, description="dbscan: rows that make a neighbourhood dense.")
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="Seed of the random starts.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where there are fewer complete rows than groups, and for columns that are not numeric."""
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns, "columns")
    taken = features.take(table, names, "columns", arguments.transform)
    complete = taken.is_complete
    _require_rows(table, taken, arguments)
    scaled, notes = _scaled(taken, arguments)
    context.report(f"grouping {len(scaled)} rows by {arguments.method}", 0, len(scaled))
    found, inertia = _fit(scaled, arguments)
    labels = _by_size(found, taken.original[complete])
    frame, label_column = _labelled(table.frame, taken, labels)
    made_of = features.parameters(arguments, columns=names, label_column=label_column)
    published = publish(
        context,
        TOOL,
        [table.path],
        made_of,
        extension="csv",
        kind="table",
        title=f"Groups of {table.path.name} on {', '.join(names)}",
        write=lambda path: write_csv(frame, path),
    )
    context.report("measuring the separation of the groups", None, None)
    results = _results(taken, scaled, labels, arguments) | {"label_column": label_column}
    if inertia is not None:
        results["inertia"] = inertia
    if len(results["centres"]) * len(names) > CENTRES_SHOWN:
        notes.append(
            f"{len(results['centres'])} centres of {len(names)} columns are too many to list; summarize gives them"
        )
        del results["centres"]
    sizes = ", ".join(str(count) for count in results["counts"].values())
    text = f"{results['clustered']} of {results['rows']} rows in {results['n_clusters']} groups of {sizes}"
    return ToolResult(text, results, [published.artifact], [*table.notes, *taken.notes(), *notes])


def _require_rows(table: Table, taken: features.Features, arguments: Arguments) -> None:
    rows = int(taken.is_complete.sum())
    fewest = arguments.min_samples if arguments.method == "dbscan" else arguments.n_clusters
    if rows < fewest:
        why = "; ".join(taken.notes())
        raise ArgumentError(
            "columns",
            f"{table.path.name} has {rows} usable rows, {fewest} are needed at least" + (f" ({why})" if why else ""),
        )
    if arguments.method == "hierarchical" and rows > HIERARCHICAL_ROWS:
        raise ArgumentError(
            "method", f"hierarchical takes at most {HIERARCHICAL_ROWS:,} rows, there are {rows:,}; use kmeans"
        )


def _scaled(taken: features.Features, arguments: Arguments) -> tuple[Matrix, list[str]]:
    """The complete rows, standardised (sd with n, as in scikit-learn's StandardScaler) where asked for."""
    values: Matrix = taken.values[taken.is_complete]
    constant = [name for name, column in zip(taken.columns, values.T, strict=True) if column.min() == column.max()]
    notes = [f"constant columns cannot separate groups: {', '.join(constant)}"] if constant else []
    if arguments.standardize:
        from sklearn.preprocessing import StandardScaler

        values = StandardScaler().fit_transform(values)
    return values, notes


def _fit(scaled: Matrix, arguments: Arguments) -> tuple[Matrix, float | None]:
    """A label for each row (-1 is noise), and the inertia where the method has one.

    k-means after Lloyd (1982) with k-means++ starts; hierarchical after Ward (1963); dbscan after Ester et al. (1996).
    """
    from sklearn import cluster

    if arguments.method == "kmeans":
        model = cluster.KMeans(arguments.n_clusters, n_init=STARTS, random_state=arguments.seed).fit(scaled)
        return model.labels_, float(model.inertia_)
    if arguments.method == "hierarchical":
        return cluster.AgglomerativeClustering(arguments.n_clusters, linkage="ward").fit_predict(scaled), None
    found: Matrix = cluster.DBSCAN(eps=arguments.eps, min_samples=arguments.min_samples).fit_predict(scaled)
    if (found == NOISE).all():
        raise ArgumentError("eps", f"no group found: {_reach(scaled, arguments)}")
    return found, None


def _reach(scaled: Matrix, arguments: Arguments) -> str:
    """What to try where dbscan found no dense neighbourhood."""
    import numpy
    from sklearn.neighbors import NearestNeighbors

    distances, _ = NearestNeighbors(n_neighbors=min(arguments.min_samples, len(scaled))).fit(scaled).kneighbors(scaled)
    typical = float(numpy.median(distances[:, -1]))
    reach = f"{arguments.min_samples} rows lie within {typical:.4g} of a typical row"
    return f"{reach}, eps is {arguments.eps:g}; give a larger one"


def _by_size(found: Matrix, original: Matrix) -> Matrix:
    """Labels 1 to k by decreasing size, ties by centre; 0 for noise."""
    import numpy

    kept = [label for label in numpy.unique(found) if label != NOISE]
    order = sorted(kept, key=lambda label: (-(found == label).sum(), tuple(original[found == label].mean(axis=0))))
    labels = numpy.zeros(len(found), dtype=int)
    for number, label in enumerate(order, start=1):
        labels[found == label] = number
    return labels


def _labelled(frame: pl.DataFrame, taken: features.Features, labels: Matrix) -> tuple[pl.DataFrame, str]:
    """Every row and column of the table with its label, and a reason where a row has none."""
    import numpy
    import polars as pl

    name = features.free_name(frame, "cluster")
    label_of_row = numpy.zeros(frame.height, dtype=int)
    label_of_row[taken.is_complete] = labels
    column = pl.Series(name, label_of_row, pl.Int64)
    labelled = frame.with_columns(column.set(column == 0, None))
    if (label_of_row > 0).all():
        return labelled, name
    reasons = [
        None if label else reason or NOISE_REASON for label, reason in zip(label_of_row, taken.reasons(), strict=True)
    ]
    return labelled.with_columns(pl.Series(features.free_name(frame, f"{name}_reason"), reasons, pl.String)), name


def _results(taken: features.Features, scaled: Matrix, labels: Matrix, arguments: Arguments) -> dict[str, Any]:
    original = taken.original[taken.is_complete]
    numbers = range(1, int(labels.max()) + 1)
    silhouette, silhouette_rows = _silhouette(scaled, labels, arguments.seed)
    results: dict[str, Any] = {
        "rows": len(taken.values),
        "clustered": int((labels > 0).sum()),
        "left_out": taken.left_out(),
        "n_clusters": len(numbers),
        "counts": {str(number): int((labels == number).sum()) for number in numbers},
        "silhouette": silhouette,
        "centres": {
            str(number): dict(zip(taken.columns, original[labels == number].mean(axis=0).tolist(), strict=True))
            for number in numbers
        },
        "columns": taken.columns,
        "method": arguments.method,
        "transform": arguments.transform,
        "rule": _rule(arguments, silhouette_rows),
    }
    if arguments.method == "dbscan":
        results["noise"] = int((labels == 0).sum())
    return results


def _silhouette(scaled: Matrix, labels: Matrix, seed: int) -> tuple[float | None, int]:
    """Mean silhouette (Rousseeuw 1987) of the labelled rows, or of a sample of them, and the rows it stands on."""
    import numpy
    from sklearn.metrics import silhouette_score

    rows = numpy.flatnonzero(labels)
    if len(rows) > SILHOUETTE_ROWS:
        rows = numpy.sort(numpy.random.default_rng(seed).choice(rows, SILHOUETTE_ROWS, replace=False))
    if not 2 <= len(numpy.unique(labels[rows])) < len(rows):
        return None, len(rows)
    return float(silhouette_score(scaled[rows], labels[rows])), len(rows)


def _rule(arguments: Arguments, silhouette_rows: int) -> str:
    how = {
        "kmeans": f"k-means, {STARTS} starts, seed {arguments.seed}",
        "hierarchical": "Ward's method",
        "dbscan": f"dbscan, eps {arguments.eps:g}, min_samples {arguments.min_samples}",
    }[arguments.method]
    scale = "columns standardised to mean 0, sd 1" if arguments.standardize else "columns not standardised"
    return (
        f"{how}; {scale}; groups numbered by decreasing size; centres are means of the untransformed values; "
        f"silhouette on {silhouette_rows} rows"
        + (f" drawn with seed {arguments.seed}" if silhouette_rows == SILHOUETTE_ROWS else "")
    )


TOOL = Tool(
    name="cluster",
    version=1,
    description=(
        "Cluster the rows of a table into groups of similar samples on numeric columns (k-means, hierarchical, dbscan). "
        "Writes a CSV with every row and its group label; gives group sizes, centres and the silhouette."
    ),
    asked_for=(
        "cluster",
        "group samples",
        "divide into groups",
        "split into groups",
        "partition",
        "segment",
        "k-means",
        "classify without labels",
        "find groups",
        "density clusters and noise",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
)
