"""t-SNE: rows laid out so that similar ones lie side by side. For looking at; its distances mean little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from outcrop_specialists.tools.multivariate.features import Features

    Matrix = NDArray[Any]

TSNE_ROWS = 20_000
"""Beyond so many rows a run takes many minutes."""
FEWEST_ROWS = 5


@dataclass(frozen=True)
class Embedding:
    """`scores` (rows of the table, 2 or 3), NaN for rows left out, and the divergence that was reached."""

    scores: Matrix
    divergence: float
    perplexity: float


def tsne(taken: Features, count: int, perplexity: float, seed: int, *, standardize: bool) -> Embedding:
    """t-SNE (van der Maaten & Hinton 2008; Barnes-Hut) of the complete rows, started from principal components.

    A perplexity that is too large for the rows is lowered to a third of them. Raises ArgumentError for too many or too
    few rows, and for more than 3 dimensions.
    """
    import numpy
    from sklearn.manifold import TSNE

    complete = taken.is_complete
    values = taken.values[complete]
    if not FEWEST_ROWS <= len(values) <= TSNE_ROWS:
        raise ArgumentError("method", f"tsne takes {FEWEST_ROWS} to {TSNE_ROWS:,} rows, there are {len(values):,}")
    if not 2 <= count <= 3:
        raise ArgumentError("n_components", f"tsne gives 2 or 3 dimensions, {count} are wanted")
    varies = values.min(axis=0) < values.max(axis=0)
    if varies.sum() < 2:
        raise ArgumentError("columns", "fewer than two columns vary")
    values = values[:, varies] - values[:, varies].mean(axis=0)
    if standardize:
        values = values / values.std(axis=0)
    used = min(perplexity, (len(values) - 1) / 3)
    start = "pca" if varies.sum() >= count else "random"
    model = TSNE(count, perplexity=used, init=start, random_state=seed, learning_rate="auto")
    scores = numpy.full((len(complete), count), numpy.nan)
    scores[complete] = model.fit_transform(values)
    return Embedding(scores, float(model.kl_divergence_), used)
