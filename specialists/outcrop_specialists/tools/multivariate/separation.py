"""What sets groups of rows apart: their centres, and the columns in which they differ most from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from outcrop_specialists.tools.multivariate.features import Features

    Matrix = NDArray[Any]

COLUMNS_TOLD = 6


@dataclass(frozen=True)
class Centres:
    """Of k groups and c columns, (k, c) each: means and medians of the untransformed values, and `standardised`, the
    mean of the transformed values less that of all grouped rows, in standard deviations (n) of these."""

    columns: list[str]
    sizes: list[int]
    means: Matrix
    medians: Matrix
    standardised: Matrix

    def high(self, group: int) -> dict[str, float]:
        """Columns in which a group (0 is the first) lies above the others, most first."""
        return self._ranked(group, 1.0)

    def low(self, group: int) -> dict[str, float]:
        """Columns in which it lies below the others, most first."""
        return self._ranked(group, -1.0)

    def _ranked(self, group: int, sign: float) -> dict[str, float]:
        import numpy

        row = self.standardised[group]
        order = numpy.argsort(-sign * row, kind="stable")[:COLUMNS_TOLD]
        return {self.columns[index]: float(row[index]) for index in order if sign * row[index] > 0}

    def frame(self, label: str) -> pl.DataFrame:
        """One row for each group and column, with its rank by absolute difference."""
        import numpy
        import polars as pl

        count, width = self.means.shape
        ranks = numpy.argsort(numpy.argsort(-numpy.abs(self.standardised), axis=1, kind="stable"), axis=1) + 1
        return pl.DataFrame(
            {
                label: numpy.repeat(numpy.arange(1, count + 1), width),
                "rows": numpy.repeat(self.sizes, width),
                "column": self.columns * count,
                "mean": self.means.ravel(),
                "median": self.medians.ravel(),
                "standardised_centre": self.standardised.ravel(),
                "rank": ranks.ravel(),
            }
        )


def centres_of(taken: Features, labels: Matrix) -> Centres:
    """The centres of the groups 1 to k among the complete rows of `taken`; label 0 (noise) is in no group."""
    import numpy

    complete = taken.is_complete
    original, values = taken.original[complete], taken.values[complete]
    grouped = labels > 0
    spread = values[grouped].std(axis=0)
    middle = values[grouped].mean(axis=0)
    masks = [labels == number for number in range(1, int(labels.max()) + 1)]
    differences = numpy.array([values[mask].mean(axis=0) - middle for mask in masks])
    return Centres(
        columns=taken.columns,
        sizes=[int(mask.sum()) for mask in masks],
        means=numpy.array([original[mask].mean(axis=0) for mask in masks]),
        medians=numpy.array([numpy.median(original[mask], axis=0) for mask in masks]),
        standardised=numpy.divide(differences, spread, out=numpy.zeros_like(differences), where=spread > 0),
    )
