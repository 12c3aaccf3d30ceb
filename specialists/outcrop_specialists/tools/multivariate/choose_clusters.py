"""Tool: how many groups the rows fall into: k-means for each number of groups, compared by the silhouette."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features, grouping
from outcrop_specialists.tools.multivariate.cluster import kmeans_rule
from outcrop_specialists.tools.multivariate.labelling import labelled, scaled_rows
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

REFERENCES = 10


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Numeric columns to group by; all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    least: int = Field(default=2, ge=2, le=49, description="Smallest number of groups to try.")
    most: int = Field(default=6, ge=2, le=50, description="Largest number of groups to try.")
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    standardize: bool = Field(default=True, description="Scale every column to mean 0 and standard deviation 1 first.")
    gap: bool = Field(default=False, description="Also the gap statistic (10 random references a number: slow).")
    labels: bool = Field(default=False, description="Also write every row with its group of the best number.")
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="Seed of the random starts.")


@dataclass(frozen=True)
class Trial:
    """k groups: how compact and how far apart they are."""

    k: int
    silhouette: float | None
    inertia: float
    calinski_harabasz: float | None
    davies_bouldin: float | None
    smallest: int
    largest: int
    gap: float | None = None
    gap_error: float | None = None


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where rows are too few or hardly differ, and for columns that are not numeric."""
    if arguments.most < arguments.least:
        raise ArgumentError("most", f"{arguments.most} is less than least, {arguments.least}")
    table = read_table(context, arguments.path)
    names, notes = features.chosen_columns(table, arguments.columns)
    taken = features.take(table, names, "columns", arguments.transform)
    rows = int(taken.is_complete.sum())
    if rows <= arguments.most:
        why = "; ".join(taken.notes())
        raise ArgumentError("most", f"{rows} usable rows are too few for {arguments.most} groups{why and f' ({why})'}")
    scaled, more_notes = scaled_rows(taken, standardize=arguments.standardize)
    trials, found = _trials(context, scaled, arguments)
    best = _best(trials)
    if best is None:
        raise ArgumentError("columns", f"{table.path.name}: the rows do not differ; no number of groups can be chosen")
    made_of = features.parameters(arguments, columns=names)
    files = [_put_trials(context, table, made_of, trials, names)]
    labels = grouping.number_by_size(found[best.k], taken.original[taken.is_complete])
    results: dict[str, Any] = {
        "rows": table.height,
        "used": rows,
        "left_out": taken.left_out(),
        "columns": len(names),
        "best_k": best.k,
        "silhouette_by_k": {str(trial.k): trial.silhouette for trial in trials},
        "sizes_of_best": fitting({str(k): int((labels == k).sum()) for k in range(1, int(labels.max()) + 1)}, 150)[0],
        "best_by_calinski_harabasz": max(trials, key=lambda trial: trial.calinski_harabasz or -1.0).k,
        "transform": arguments.transform,
        "rule": _rule(arguments, rows),
    }
    if arguments.gap:
        results["best_by_gap"] = _best_by_gap(trials)
    if arguments.labels:
        frame, label_column = labelled(table.frame, taken, labels)
        files.append(
            publish(
                context,
                TOOL,
                [table.path],
                made_of | {"label_column": label_column},
                extension="csv",
                kind="table",
                title=f"{many(best.k, 'group')} of {table.path.name}",
                part="labels",
                write=lambda path: write_csv(frame, path),
                columns=written_columns(frame, table),
            )
        )
        results["label_column"] = label_column
    told = ", ".join(f"{trial.k}: {_figure(trial.silhouette)}" for trial in trials[:8])
    text = (
        f"{best.k} groups have the greatest silhouette of {arguments.least} to {arguments.most} ({told}) on {rows} rows"
    )
    text += suspicions(table, names)
    return ToolResult(
        text,
        results,
        [file.artifact for file in files],
        [*table.notes, *notes, *taken.notes(), *more_notes],
    )


def _trials(context: ToolContext, scaled: Matrix, arguments: Arguments) -> tuple[list[Trial], dict[int, Matrix]]:
    from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score

    trials: list[Trial] = []
    found: dict[int, Matrix] = {}
    tried = range(arguments.least, arguments.most + 1)
    references = _references(scaled, arguments) if arguments.gap else []
    for done, k in enumerate(tried):
        context.report(f"trying {k} groups", done, len(tried))
        labels, inertia = grouping.kmeans(scaled, k, arguments.seed)
        found[k] = labels
        sizes = [int((labels == each).sum()) for each in set(labels.tolist())]
        silhouette, _ = grouping.silhouette(scaled, labels + 1, arguments.seed)
        is_split = 1 < len(sizes) < len(scaled)
        gap, error = _gap(references, inertia, k, arguments.seed) if references else (None, None)
        trials.append(
            Trial(
                k=k,
                silhouette=silhouette,
                inertia=inertia,
                calinski_harabasz=float(calinski_harabasz_score(scaled, labels)) if is_split else None,
                davies_bouldin=float(davies_bouldin_score(scaled, labels)) if is_split else None,
                smallest=min(sizes),
                largest=max(sizes),
                gap=gap,
                gap_error=error,
            )
        )
    return trials, found


def _references(scaled: Matrix, arguments: Arguments) -> list[Matrix]:
    """Rows drawn evenly from the box of the data in the axes of its principal components (Tibshirani et al. 2001)."""
    import numpy

    centred = scaled - scaled.mean(axis=0)
    axes = numpy.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ axes.T
    random = numpy.random.default_rng(arguments.seed)
    low, high = turned.min(axis=0), turned.max(axis=0)
    return [random.uniform(low, high, size=turned.shape) @ axes for _ in range(REFERENCES)]


def _gap(references: list[Matrix], inertia: float, k: int, seed: int) -> tuple[float | None, float | None]:
    import numpy

    if inertia <= 0:
        return None, None
    logs = numpy.log([grouping.kmeans(reference, k, seed)[1] for reference in references])
    error = float(logs.std() * numpy.sqrt(1 + 1 / len(references)))
    return float(logs.mean() - numpy.log(inertia)), error


def _best(trials: list[Trial]) -> Trial | None:
    """The trial with the greatest silhouette, the fewest groups among equal ones."""
    known = [(trial.silhouette, trial) for trial in trials if trial.silhouette is not None]
    return max(known, key=lambda each: each[0])[1] if known else None


def _best_by_gap(trials: list[Trial]) -> int | None:
    """The least k whose gap is not below that of k + 1 less its error; None where no k of those tried is."""
    for trial, following in pairwise(trials):
        if trial.gap is None or following.gap is None or following.gap_error is None:
            continue
        if trial.gap >= following.gap - following.gap_error:
            return trial.k
    return None


def _put_trials(
    context: ToolContext, table: Table, made_of: dict[str, Any], trials: list[Trial], names: list[str]
) -> Published:
    import polars as pl

    frame = pl.DataFrame([asdict(trial) for trial in trials], infer_schema_length=None)
    frame = frame.select(column for column in frame.columns if frame[column].null_count() < frame.height)
    title = f"Numbers of groups of {table.path.name} on {named(names)}"
    return put_figures(context, TOOL, table, made_of, frame, title, "trials")


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _rule(arguments: Arguments, rows: int) -> str:
    scale = "columns standardised to mean 0, sd 1" if arguments.standardize else "columns not standardised"
    of = f"a sample of {grouping.SILHOUETTE_ROWS} rows" if rows > grouping.SILHOUETTE_ROWS else "all rows used"
    gap = f"; gap against {REFERENCES} uniform references (Tibshirani et al. 2001)" if arguments.gap else ""
    return f"{kmeans_rule(rows, arguments.seed)}; {scale}; best: greatest mean silhouette (Rousseeuw 1987) of {of}{gap}"


TOOL = Tool(
    name="choose_clusters",
    version=1,
    description=(
        "Find how many groups (clusters) a table's rows fall into: k-means for 2 to K groups with silhouette, "
        "inertia, Calinski-Harabasz, Davies-Bouldin and optionally the gap statistic; says the best number and "
        "optionally writes the labels of it."
    ),
    asked_for=(
        "choose the number of clusters",
        "how many clusters",
        "best number of groups",
        "optimal k",
        "pick k by silhouette",
        "silhouette for each k",
        "elbow",
        "gap statistic",
        "try two to six clusters",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        right number of groups; number of populations; how many families; how many types; how many classes make
        sense; best k; number of clusters; elbow method; is three or five better; silhouette score; gap;
        optimum; validate the clustering; cluster validity; too many groups; compare 2 to 10 groups; how many
        natural divisions; what k to use; support for the number of groups; how many facies; how many distinct
        populations; number of domains; is there any clustering at all; justify the count of classes; how many
        kinds are justified; would four classes do better than six; how many groups does the data support; how
        many groups are there; decide on the number of types; is it two groups or three; number of types; what
        number of classes is best; reasonable number of groups; how many facies can be told apart; evaluate
        different numbers of groups; fewer or more classes; test several group counts; is three right; support
        for five populations
        """
    ),
)
