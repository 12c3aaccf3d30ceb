"""Principal component analysis with a fixed sign, for the tool that reports it and the plot that projects with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from outcrop_specialists.tools.multivariate.features import Features

    Matrix = NDArray[Any]

MANY_ROWS = 200_000


@dataclass(frozen=True)
class Components:
    """k principal components.

    `scores` (rows of the table, k) is NaN for rows left out; `loadings` (k, columns) holds unit-length eigenvectors;
    `shares` (k,) the explained shares of the variance; `eigenvalues` (all components,) the variances (with n) along
    every component, `constant` names columns that were left out.
    """

    columns: list[str]
    scores: Matrix
    loadings: Matrix
    shares: Matrix
    constant: list[str]
    eigenvalues: Matrix

    def correlations(self, spread: Matrix) -> Matrix:
        """(k, columns) correlations of columns with components, for columns with these standard deviations (n)."""
        import numpy

        lengths = numpy.sqrt(self.eigenvalues[: len(self.loadings)])
        found: Matrix = self.loadings * lengths[:, None] / spread
        return found

    def strongest(self, component: int, count: int) -> dict[str, float]:
        """The `count` largest absolute loadings of a component, largest first."""
        loadings = self.loadings[component]
        order = sorted(range(len(self.columns)), key=lambda index: -abs(loadings[index]))
        return {self.columns[index]: float(loadings[index]) for index in order[:count]}


def principal_components(taken: Features, count: int, *, standardize: bool) -> Components:
    """Principal components (Pearson 1901) of the complete rows, by singular value decomposition of centred columns.

    The sign of a component makes its largest absolute loading positive. Raises ArgumentError where fewer components
    exist than wanted.
    """
    import numpy

    complete = taken.is_complete
    values = taken.values[complete]
    varies = values.min(axis=0) < values.max(axis=0)
    names = [name for name, kept in zip(taken.columns, varies, strict=True) if kept]
    possible = min(len(values) - 1, len(names))
    if count > possible:
        reason = f"{len(values)} complete rows and {len(names)} columns that vary allow {possible}"
        raise ArgumentError("n_components", f"{count} components are wanted, {reason}")
    centred = values[:, varies] - values[:, varies].mean(axis=0)
    if standardize:
        centred = centred / centred.std(axis=0)
    variances, rows = _axes(centred)
    loadings = rows[:count]
    largest = numpy.abs(loadings).argmax(axis=1)
    loadings = loadings * numpy.sign(loadings[numpy.arange(count), largest])[:, None]
    scores = numpy.full((len(complete), count), numpy.nan)
    scores[complete] = centred @ loadings.T
    shares = variances[:count] / variances.sum()
    constant = [name for name in taken.columns if name not in names]
    return Components(names, scores, loadings, shares, constant, variances)


def _axes(centred: Matrix) -> tuple[Matrix, Matrix]:
    """Variances (with n), greatest first, and unit vectors (components, columns) along them.

    By singular values; of very many rows by the covariance matrix, which needs no second matrix of their size.
    """
    import numpy

    if len(centred) <= MANY_ROWS:
        _, singular, rows = numpy.linalg.svd(centred, full_matrices=False)
        return singular**2 / len(centred), rows
    variances, vectors = numpy.linalg.eigh(centred.T @ centred / len(centred))
    return numpy.maximum(variances[::-1], 0.0), vectors.T[::-1]
