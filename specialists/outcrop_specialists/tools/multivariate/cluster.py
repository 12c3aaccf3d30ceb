"""Groups rows by similarity: k-means, hierarchical, mixture or density, with a label for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features, grouping
from outcrop_specialists.tools.multivariate.labelling import labelled, scaled_rows
from outcrop_specialists.tools.multivariate.separation import Centres, centres_of
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics.bounded import fitting, fitting_list, named

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

# Agglomeration keeps every pairwise distance: 20,000 rows are 1.6 GB.
HIERARCHICAL_ROWS = 20_000
HDBSCAN_ROWS = 50_000
DBSCAN_PAIRS = 3e8
"""Neighbours that dbscan may have to keep: 2.4 GB."""
CENTRES_SHOWN = 30
SIZES_SHOWN = 20


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to group by.", json_schema_extra={"x-role": "columns"}
    )
    n_clusters: int = Field(default=3, ge=2, le=100, description="Number of groups (not used by dbscan and hdbscan).")
    method: grouping.Method = Field(
        default="kmeans",
        description="kmeans, hierarchical (see linkage), gaussian_mixture (groups of different shape), dbscan "
        "(density; finds the number of groups itself and leaves noise) or hdbscan (the same without a reach).",
    )
    linkage: grouping.Linkage = Field(default="ward", description="hierarchical: how groups are merged.")
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    standardize: bool = Field(default=True, description="Scale every column to mean 0 and standard deviation 1 first.")
    eps: float = Field(default=0.5, gt=0, description="dbscan: reach of a neighbourhood, in standardised units.")
    min_samples: int = Field(default=5, ge=1, description="dbscan, hdbscan: rows that make a neighbourhood dense.")
    min_cluster_size: int = Field(default=20, ge=2, description="hdbscan: fewest rows of a group.")
    centre_of: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=10,
        description="Other numeric columns (coordinates, say) whose mean in each group is wanted; they form no group.",
        json_schema_extra={"x-role": "centre-columns"},
    )
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="Seed of the random starts.")


@dataclass(frozen=True)
class _Found:
    """Labels of the complete rows, as the method gives them, and the method's own figure (inertia or BIC)."""

    labels: Matrix
    figures: dict[str, float]


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where there are fewer complete rows than groups, and for columns that are not numeric."""
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns, "columns")
    others = find_columns(table, arguments.centre_of or [], "centre_of")
    beside = features.take(table, others, "centre_of").original
    taken = features.take(table, names, "columns", arguments.transform)
    _require_rows(table, taken, arguments)
    scaled, notes = scaled_rows(taken, standardize=arguments.standardize)
    context.report(f"grouping {len(scaled)} rows by {arguments.method}", 0, len(scaled))
    found = _fit(scaled, arguments)
    labels = grouping.number_by_size(found.labels, taken.original[taken.is_complete])
    centres = centres_of(taken, labels)
    frame, label_column = labelled(table.frame, taken, labels)
    made_of = features.parameters(arguments, columns=names, label_column=label_column)
    files = _publish(context, table, made_of, (frame, centres.frame(label_column)), names)
    context.report("measuring the separation of the groups")
    results = _results(taken, scaled, labels, centres, arguments) | {"label_column": label_column} | found.figures
    if others:
        results["centre_of"] = _means_of(beside[taken.is_complete], others, labels)
    wanted = arguments.n_clusters
    if arguments.method not in grouping.DENSITY and len(centres.sizes) < wanted:
        notes.append(f"{wanted} groups are wanted, the rows differ enough for {len(centres.sizes)}")
    if len(results["sets_apart"]) < len(centres.sizes) or "centres" not in results:
        notes.append(f"all centres and differences are in {files[1].artifact.path}")
    sizes = named([str(size) for size in centres.sizes], SIZES_SHOWN)
    text = f"{results['clustered']} of {results['rows']} rows in {len(centres.sizes)} groups of {sizes}"
    text += f" ({arguments.method} on {_scale(arguments)}){_told(centres)}"
    text += suspicions(table, names)
    return ToolResult(
        text,
        results,
        [file.artifact for file in files],
        [*table.notes, *taken.notes(), *notes],
        _claims(arguments.path, files[0].artifact.path, label_column, results["rows"], centres),
    )


def _claims(path: str, labelled_path: str, label_column: str, rows: int, centres: Centres) -> list[Claim]:
    """How many rows there are, and how many of each group that is told."""
    sizes = [int(size) for size in centres.sizes[:SIZES_SHOWN]]
    return [
        claiming.rows(path, rows),
        *(
            claiming.rows(labelled_path, size, claiming.condition(label_column, "==", number))
            for number, size in enumerate(sizes, 1)
        ),
    ]


def _publish(
    context: ToolContext,
    table: Table,
    made_of: dict[str, Any],
    frames: tuple[pl.DataFrame, pl.DataFrame],
    names: list[str],
) -> list[Published]:
    def put(frame: pl.DataFrame, title: str, part: str) -> Published:
        return publish(
            context,
            TOOL,
            [table.path],
            made_of,
            extension="csv",
            kind="table",
            title=f"{title} of {table.path.name} on {named(names)}",
            part=part,
            write=lambda path: write_csv(frame, path),
            columns=written_columns(frame, table),
        )

    return [put(frames[0], "Groups", ""), put(frames[1], "Centres of the groups", "centres")]


def _require_rows(table: Table, taken: features.Features, arguments: Arguments) -> None:
    rows = int(taken.is_complete.sum())
    fewest = {"dbscan": arguments.min_samples, "hdbscan": max(arguments.min_cluster_size, arguments.min_samples)}.get(
        arguments.method, arguments.n_clusters
    )
    if rows < fewest:
        why = "; ".join(taken.notes())
        raise ArgumentError(
            "columns",
            f"{table.path.name} has {rows} usable rows, {fewest} are needed at least" + (f" ({why})" if why else ""),
        )
    most = {"hierarchical": HIERARCHICAL_ROWS, "hdbscan": HDBSCAN_ROWS}.get(arguments.method)
    if most and rows > most:
        raise ArgumentError("method", f"{arguments.method} takes at most {most:,} rows, there are {rows:,}; use kmeans")


def _fit(scaled: Matrix, arguments: Arguments) -> _Found:
    if arguments.method == "kmeans":
        labels, inertia = grouping.kmeans(scaled, arguments.n_clusters, arguments.seed)
        return _Found(labels, {"inertia": inertia})
    if arguments.method == "gaussian_mixture":
        labels, bic = grouping.gaussian_mixture(scaled, arguments.n_clusters, arguments.seed)
        return _Found(labels, {"bic": bic})
    if arguments.method == "hierarchical":
        return _Found(grouping.hierarchical(scaled, arguments.n_clusters, arguments.linkage), {})
    if arguments.method == "hdbscan":
        found = grouping.hdbscan(scaled, arguments.min_cluster_size, arguments.min_samples)
        if found is None:
            raise ArgumentError("min_cluster_size", "no group found, every row is noise; give a smaller one")
        return _Found(found, {})
    pairs = grouping.neighbours_in_all(scaled, arguments.eps, arguments.seed)
    if pairs > DBSCAN_PAIRS:
        raise ArgumentError("eps", f"about {pairs:.1e} pairs of rows lie within {arguments.eps:g}; give a smaller one")
    found = grouping.dbscan(scaled, arguments.eps, arguments.min_samples)
    if found is None:
        reach = f"{grouping.typical_reach(scaled, arguments.min_samples):.4g}"
        reason = f"{arguments.min_samples} rows lie within {reach} of a typical row, eps is {arguments.eps:g}"
        raise ArgumentError("eps", f"no group found: {reason}; give a larger one")
    return _Found(found, {})


def _results(
    taken: features.Features, scaled: Matrix, labels: Matrix, centres: Centres, arguments: Arguments
) -> dict[str, Any]:
    silhouette, silhouette_rows = grouping.silhouette(scaled, labels, arguments.seed)
    count = len(centres.sizes)
    apart = {str(k + 1): {"high": _short(centres.high(k)), "low": _short(centres.low(k))} for k in range(count)}
    results: dict[str, Any] = {
        "rows": len(taken.values),
        "clustered": int((labels > 0).sum()),
        "left_out": sum(taken.left_out().values()),
        "left_out_reasons": taken.left_out(),
        "n_clusters": count,
        "counts": fitting({str(k + 1): size for k, size in enumerate(centres.sizes)}, 200, SIZES_SHOWN)[0],
        "silhouette": silhouette,
        "sets_apart": fitting(apart, 420)[0],
        "columns": fitting_list(taken.columns, 150, 10),
        "method": arguments.method,
        "transform": arguments.transform,
        "rule": _rule(arguments, int((labels > 0).sum()), silhouette_rows),
    }
    if count * len(taken.columns) <= CENTRES_SHOWN:
        results["centres"] = {
            str(k + 1): dict(zip(taken.columns, means.tolist(), strict=True)) for k, means in enumerate(centres.means)
        }
    if arguments.method in grouping.DENSITY:
        results["noise"] = int((labels == 0).sum())
    return results


def _short(differences: dict[str, float]) -> dict[str, float]:
    """Three decimals: they rank columns, the file has the digits."""
    return {name: round(value, 3) for name, value in differences.items()}


def _means_of(beside: Matrix, others: list[str], labels: Matrix) -> dict[str, Any]:
    """Mean of other columns in each group, over the rows that have a value."""
    import numpy

    means: dict[str, Any] = {}
    for number in range(1, int(labels.max()) + 1):
        rows = beside[labels == number]
        known = numpy.isfinite(rows).any(axis=0)
        means[str(number)] = {
            name: float(numpy.nanmean(rows[:, index])) if known[index] else None for index, name in enumerate(others)
        }
    return fitting(means, 300)[0]


def _told(centres: Centres) -> str:
    """Which columns set the smaller groups apart; with two groups the second says it all."""
    told = []
    for k in range(1, min(len(centres.sizes), 3)):
        high, low = ", ".join(list(centres.high(k))[:3]), ", ".join(list(centres.low(k))[:3])
        told.append(f"group {k + 1} high in {high or 'nothing'}, low in {low or 'nothing'}")
    return f": {'; '.join(told)}" if told else ""


def _scale(arguments: Arguments) -> str:
    """What the groups were looked for on: a reader who leaves out a step of it gets other groups."""
    kind = "standardised" if arguments.standardize else "unstandardised"
    return f"{kind} columns" if arguments.transform == "none" else f"{kind} {arguments.transform} of the columns"


def _rule(arguments: Arguments, clustered: int, silhouette_rows: int) -> str:
    how = {
        "kmeans": kmeans_rule(clustered, arguments.seed)
        + " (where groups are poorly separated their sizes can depend on the seed)",
        "hierarchical": "Ward's method" if arguments.linkage == "ward" else f"{arguments.linkage} linkage",
        "gaussian_mixture": f"Gaussian mixture, full covariances, best of {grouping.MIXTURE_STARTS} starts, "
        f"seed {arguments.seed}",
        "dbscan": f"dbscan, eps {arguments.eps:g}, min_samples {arguments.min_samples}",
        "hdbscan": f"hdbscan, min_cluster_size {arguments.min_cluster_size}, min_samples {arguments.min_samples}",
    }[arguments.method]
    scale = "columns standardised to mean 0, sd 1" if arguments.standardize else "columns not standardised"
    return (
        f"{how}; {scale}; groups numbered by decreasing size; centres are means of the untransformed values, "
        f"sets_apart group mean less overall mean in sd; silhouette on {silhouette_rows} rows"
        + (f" drawn with seed {arguments.seed}" if silhouette_rows < clustered else "")
    )


def kmeans_rule(rows: int, seed: int) -> str:
    """How k-means was run on so many rows."""
    starts, tolerance = grouping.effort(rows)
    until = f"until centres move less than {tolerance:g} of the mean variance" if tolerance else "until nothing moves"
    return f"k-means, the least inertia of {starts} starts, seed {seed}, {until}"


TOOL = Tool(
    name="cluster",
    version=2,
    description=(
        "Cluster the rows of a table into groups of similar samples by numeric columns: k-means, hierarchical, "
        "Gaussian mixture, dbscan, hdbscan. Writes a CSV with every row and its group label and one of centres; gives "
        "group sizes, the silhouette and which columns set each group apart."
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
        "dbscan",
        "hdbscan",
        "gaussian mixture",
        "hierarchical clustering",
        "classify without labels",
        "find groups",
        "density clusters and noise",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("counts",),
    also_called=phrases(
        """
        natural groups; populations in the data; families; unsupervised classification; segmentation; similar
        samples belong together; geochemical groups; facies from logs; electrofacies; chemical fingerprints;
        chemostratigraphy; water types; types of water; typology; machine learning groups; sort samples into
        kinds; without labels; kmeans; ward; dendrogram; agglomerative; gaussian mixtures; density based;
        domains; subpopulations; find structure; like with like; assign each sample to a family; classes nobody
        defined; break the data into families; signatures; self-organised; taxonomy; lithotypes from chemistry;
        which samples resemble each other; distinct types; categorise automatically; let the data tell which are
        of the same kind; sort the core into electrofacies; group rocks by chemical signature; which waters are
        alike; kinds of water; same kind; group by similarity; classify the samples automatically; similar
        chemistry; find types; divide into natural types; chemical groups; which belong together; groups of
        similar holes; facies; without prior classes; families of samples; group wells by chemistry; find
        populations; discover groups; separate the samples into types; unlabelled; pattern groups;
        classification from the data; form groups; sort by resemblance
        """
    ),
)
