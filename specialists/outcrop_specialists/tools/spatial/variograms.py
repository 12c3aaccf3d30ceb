"""Experimental variograms and models fitted to them.

Sources: G. Matheron, Principles of geostatistics, Economic Geology 58 (1963) 1246-1266. N. Cressie and D. M. Hawkins,
Robust estimation of the variogram: I, Mathematical Geology 12 (1980) 115-125. N. Cressie, Fitting variogram models by
weighted least squares, Mathematical Geology 17 (1985) 563-586: weights N(h) / model(h)^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

Estimator = Literal["matheron", "cressie_hawkins"]
Model = Literal["spherical", "exponential"]
# Of more places so many are drawn: 4.5 million pairs.
MOST_PLACES = 3_000


@dataclass(frozen=True)
class Lags:
    """Per lag: bounds, mean distance, number of pairs and semivariance (NaN without pairs)."""

    lower: Vector
    upper: Vector
    distance: Vector
    pairs: Vector
    semivariance: Vector


@dataclass(frozen=True)
class Fitted:
    """A model: nugget, partial sill (without the nugget) and range (practical, 95 % of the sill, for exponential)."""

    nugget: float
    partial_sill: float
    range: float
    weighted_sum_of_squares: float


def experimental(distance: Vector, difference: Vector, lags: int, most: float, estimator: Estimator) -> Lags:
    """Semivariance of pairs (their distances and absolute differences) in lags of one width up to `most`."""
    import numpy

    edges = numpy.linspace(0, most, lags + 1)
    inside = distance <= most
    which = numpy.clip(numpy.searchsorted(edges, distance[inside], side="left") - 1, 0, lags - 1)
    pairs = numpy.bincount(which, minlength=lags)
    counts = numpy.maximum(pairs, 1)
    mean_distance = numpy.bincount(which, weights=distance[inside], minlength=lags) / counts
    if estimator == "matheron":
        found = numpy.bincount(which, weights=difference[inside] ** 2, minlength=lags) / counts / 2
    else:
        roots = numpy.bincount(which, weights=numpy.sqrt(difference[inside]), minlength=lags) / counts
        found = roots**4 / (0.457 + 0.494 / counts) / 2
    none = pairs == 0
    return Lags(
        edges[:-1],
        edges[1:],
        numpy.where(none, numpy.nan, mean_distance),
        pairs,
        numpy.where(none, numpy.nan, found),
    )


def model_at(model: Model, distance: Vector, nugget: float, partial_sill: float, reach: float) -> Vector:
    """Semivariance of a model at distances above zero."""
    import numpy

    if model == "spherical":
        part = numpy.minimum(distance / reach, 1.0)
        found: Vector = nugget + partial_sill * (1.5 * part - 0.5 * part**3)
        return found
    exponential: Vector = nugget + partial_sill * (1 - numpy.exp(-3 * distance / reach))
    return exponential


def fit(model: Model, lags: Lags) -> Fitted | None:
    """Weighted least squares (Cressie 1985) from a grid of starts; None where fewer than four lags can be used."""
    import numpy
    from scipy.optimize import least_squares

    usable = (lags.pairs > 0) & (lags.semivariance > 0)
    if usable.sum() < 4:
        return None
    distance, gamma, pairs = lags.distance[usable], lags.semivariance[usable], lags.pairs[usable]
    top, far = float(gamma.max()), float(distance.max())
    root = numpy.sqrt(pairs / pairs.sum())

    def residuals(parameters: Vector) -> Vector:
        expected = model_at(model, distance, *parameters)
        found: Vector = root * (gamma / numpy.maximum(expected, 1e-12 * top) - 1)
        return found

    bounds = ([0.0, 0.0, far * 1e-3], [2 * top, 4 * top, 5 * far])
    starts = [(0.1 * top, 0.8 * top, share * far) for share in (0.2, 0.5, 0.9)]
    best = min(
        (least_squares(residuals, start, bounds=bounds, x_scale=(top, top, far)) for start in starts),
        key=lambda found: float(found.cost),
    )
    nugget, sill, reach = map(float, best.x)
    return Fitted(nugget, sill, reach, 2 * float(best.cost))
