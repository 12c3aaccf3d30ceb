"""Groups rows by similarity: k-means, hierarchical (Ward) or density-based, with a label for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import features, grouping
from outcrop_specialists.tools.publish import publish

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

# Ward's method keeps every pairwise distance: 20,000 rows are 1.6 GB.
HIERARCHICAL_ROWS = 20_000
CENTRES_SHOWN = 120
NOISE_REASON = "noise: in no dense group"


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to group by.", json_schema_extra={"x-role": "columns"}
    )
    n_clusters: int = Field(default=3, ge=2, le=100, description="Number of groups (not used by dbscan).")
    method: grouping.Method = Field(
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
    _require_rows(table, taken, arguments)
    scaled, notes = _scaled(taken, arguments)
    context.report(f"grouping {len(scaled)} rows by {arguments.method}", 0, len(scaled))
    found, inertia = _fit(scaled, arguments)
    labels = grouping.number_by_size(found, taken.original[taken.is_complete])
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
        columns=written_columns(frame, table.units),
    )
    context.report("measuring the separation of the groups")
    results = _results(taken, scaled, labels, arguments) | {"label_column": label_column}
    if inertia is not None:
        results["inertia"] = inertia
    if arguments.method != "dbscan" and results["n_clusters"] < arguments.n_clusters:
        notes.append(f"{arguments.n_clusters} groups are wanted, the rows differ enough for {results['n_clusters']}")
    if len(results["centres"]) * len(names) > CENTRES_SHOWN:
        del results["centres"]
        notes.append(f"centres of {len(names)} columns are too many to list; summarize by {label_column} gives them")
    sizes = ", ".join(str(count) for count in results["counts"].values())
    text = f"{results['clustered']} of {results['rows']} rows in {results['n_clusters']} groups of {sizes}"
    text += f" ({arguments.method} on {_scale(arguments)})"
    text += suspicions(table.frame, names)
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
    """A label for each row (-1 is noise), and the inertia where the method has one."""
    if arguments.method == "kmeans":
        return grouping.kmeans(scaled, arguments.n_clusters, arguments.seed)
    if arguments.method == "hierarchical":
        return grouping.ward(scaled, arguments.n_clusters), None
    found = grouping.dbscan(scaled, arguments.eps, arguments.min_samples)
    if found is None:
        reach = f"{grouping.typical_reach(scaled, arguments.min_samples):.4g}"
        reason = f"{arguments.min_samples} rows lie within {reach} of a typical row, eps is {arguments.eps:g}"
        raise ArgumentError("eps", f"no group found: {reason}; give a larger one")
    return found, None


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
    silhouette, silhouette_rows = grouping.silhouette(scaled, labels, arguments.seed)
    results: dict[str, Any] = {
        "rows": len(taken.values),
        "clustered": int((labels > 0).sum()),
        "left_out": sum(taken.left_out().values()),
        "left_out_reasons": taken.left_out(),
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
        "rule": _rule(arguments, int((labels > 0).sum()), silhouette_rows),
    }
    if arguments.method == "dbscan":
        results["noise"] = int((labels == 0).sum())
    return results


def _scale(arguments: Arguments) -> str:
    """What the groups were looked for on: a reader who leaves out a step of it gets other groups."""
    kind = "standardised" if arguments.standardize else "unstandardised"
    return f"{kind} columns" if arguments.transform == "none" else f"{kind} {arguments.transform} of the columns"


def _rule(arguments: Arguments, clustered: int, silhouette_rows: int) -> str:
    starts, tolerance = grouping.effort(clustered)
    how = {
        "kmeans": f"k-means, the least inertia of {starts} starts, seed {arguments.seed}, "
        + (f"until centres move less than {tolerance:g} of the mean variance" if tolerance else "until nothing moves")
        + " (where groups are poorly separated their sizes can depend on the seed)",
        "hierarchical": "Ward's method",
        "dbscan": f"dbscan, eps {arguments.eps:g}, min_samples {arguments.min_samples}",
    }[arguments.method]
    scale = "columns standardised to mean 0, sd 1" if arguments.standardize else "columns not standardised"
    return (
        f"{how}; {scale}; groups numbered by decreasing size; centres are means of the untransformed values; "
        f"silhouette on {silhouette_rows} rows"
        + (f" drawn with seed {arguments.seed}" if silhouette_rows < clustered else "")
    )


TOOL = Tool(
    name="cluster",
    version=1,
    description=(
        "Cluster the rows of a table into groups of similar samples by numeric columns: k-means, hierarchical, dbscan. "
        "Writes a CSV with every row and its group label; gives group sizes, centres and the silhouette."
    ),
    asked_for=(
        "cluster",
        "group samples",
        "group rows",
        "group sites",
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
