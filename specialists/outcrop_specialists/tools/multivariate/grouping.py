"""Finds groups among the rows of a matrix, and measures how well they are separated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

Method = Literal["kmeans", "hierarchical", "gaussian_mixture", "dbscan", "hdbscan"]
Linkage = Literal["ward", "average", "complete"]
DENSITY: tuple[Method, ...] = ("dbscan", "hdbscan")
"""Methods that find the number of groups themselves and leave rows outside as noise."""

STARTS = 20
MANY_ROWS = 50_000
"""Beyond so many rows k-means makes fewer starts and stops at a tolerance: a million rows took six minutes."""
STARTS_OF_MANY = 3
TOLERANCE_OF_MANY = 1e-4
SILHOUETTE_ROWS = 5_000
MIXTURE_STARTS = 5
NOISE = -1


def kmeans(values: Matrix, groups: int, seed: int) -> tuple[Matrix, float]:
    """Label of each row of (rows, columns) and the inertia: Lloyd (1982), the best of several k-means++ starts.

    How many starts and which tolerance follow from the number of rows: `effort`.
    """
    from sklearn.cluster import KMeans

    starts, tolerance = effort(len(values))
    model = KMeans(groups, n_init=starts, tol=tolerance, max_iter=1_000, random_state=seed).fit(values)
    return model.labels_, _inertia(values, model.labels_)


def _inertia(values: Matrix, labels: Matrix) -> float:
    """The squares of the distances from the centres, summed. Not as the model gives it: its last digits depend on how
    many threads had a processor at the time."""
    import numpy

    parts = [values[labels == label] for label in numpy.unique(labels)]
    return math.fsum(float(numpy.square(part - part.mean(axis=0)).sum()) for part in parts)


def effort(rows: int) -> tuple[int, float]:
    """Starts of k-means, and how little its centres may still move (in mean variances of the columns).

    0 below 50,000 rows: with a tolerance it stops short of the optimum, and which short stop is a matter of the seed.
    """
    return (STARTS, 0.0) if rows <= MANY_ROWS else (STARTS_OF_MANY, TOLERANCE_OF_MANY)


def hierarchical(values: Matrix, groups: int, linkage: Linkage) -> Matrix:
    """Label of each row by agglomeration: Ward (1963), average or complete linkage (Sokal & Michener 1958).

    Memory grows with the square of the rows.
    """
    from sklearn.cluster import AgglomerativeClustering

    found: Matrix = AgglomerativeClustering(groups, linkage=linkage).fit_predict(values)
    return found


def gaussian_mixture(values: Matrix, groups: int, seed: int) -> tuple[Matrix, float]:
    """The likeliest component of each row in a mixture of normal distributions with a full covariance each, fitted by
    expectation-maximisation (Dempster et al. 1977), the best of 5 starts; and its BIC (Schwarz 1978)."""
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(groups, n_init=MIXTURE_STARTS, max_iter=500, random_state=seed).fit(values)
    return model.predict(values), float(model.bic(values))


def hdbscan(values: Matrix, min_cluster_size: int, min_samples: int) -> Matrix | None:
    """Label of each row by density at every reach (Campello et al. 2013), -1 for noise; None where all is noise."""
    from sklearn.cluster import HDBSCAN

    found: Matrix = HDBSCAN(min_cluster_size=min_cluster_size, min_samples=min_samples, copy=True).fit_predict(values)
    return None if (found == NOISE).all() else found


def neighbours_in_all(values: Matrix, eps: float, seed: int) -> float:
    """About how many pairs of rows lie within `eps`, from 200 rows: dbscan keeps each of them in memory."""
    import numpy
    from sklearn.neighbors import NearestNeighbors

    rows = numpy.random.default_rng(seed).choice(len(values), min(len(values), 200), replace=False)
    near = NearestNeighbors().fit(values).radius_neighbors(values[rows], eps, return_distance=False)
    return float(numpy.mean([len(each) for each in near])) * len(values)


def dbscan(values: Matrix, eps: float, min_samples: int) -> Matrix | None:
    """Label of each row by density (Ester et al. 1996), -1 for noise; None where all is noise."""
    from sklearn.cluster import DBSCAN

    found: Matrix = DBSCAN(eps=eps, min_samples=min_samples).fit_predict(values)
    return None if (found == NOISE).all() else found


def typical_reach(values: Matrix, rows: int) -> float:
    """Median distance within which a row has this many rows, itself included."""
    import numpy
    from sklearn.neighbors import NearestNeighbors

    distances, _ = NearestNeighbors(n_neighbors=min(rows, len(values))).fit(values).kneighbors(values)
    return float(numpy.median(distances[:, -1]))


def number_by_size(found: Matrix, original: Matrix) -> Matrix:
    """Labels 1 to k by decreasing size, ties by centre; 0 for noise."""
    import numpy

    kept = [label for label in numpy.unique(found) if label != NOISE]
    order = sorted(kept, key=lambda label: (-(found == label).sum(), tuple(original[found == label].mean(axis=0))))
    labels = numpy.zeros(len(found), dtype=int)
    for number, label in enumerate(order, start=1):
        labels[found == label] = number
    return labels


def silhouette(scaled: Matrix, labels: Matrix, seed: int) -> tuple[float | None, int]:
    """Mean silhouette (Rousseeuw 1987) of the labelled rows, or of a sample of them, and the rows it stands on."""
    import numpy
    from sklearn.metrics import silhouette_score

    rows = numpy.flatnonzero(labels)
    if len(rows) > SILHOUETTE_ROWS:
        rows = numpy.sort(numpy.random.default_rng(seed).choice(rows, SILHOUETTE_ROWS, replace=False))
    if not 2 <= len(numpy.unique(labels[rows])) < len(rows):
        return None, len(rows)
    return float(silhouette_score(scaled[rows], labels[rows])), len(rows)
