"""Statistics of results some of which are below a limit. Pure functions on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

FEWEST_DETECTED = 3
"""A line through fewer results than this is no estimate (Helsel 2012 asks for many more: see the notes)."""


@dataclass(frozen=True)
class Estimates:
    """Mean, sd (n - 1) and quantiles of a sample with censored results; None where the method gives none."""

    mean: float | None
    sd: float | None
    median: float | None
    quantiles: dict[float, float | None]


def plain(values: Vector, percents: list[float]) -> Estimates:
    """Of complete values; quantiles interpolated linearly (type 7)."""
    import numpy

    if not len(values):
        return Estimates(None, None, None, dict.fromkeys(percents))
    at: list[float] = numpy.percentile(values, percents, method="linear").tolist() if percents else []
    return Estimates(
        float(values.mean()),
        float(values.std(ddof=1)) if len(values) > 1 else None,
        float(numpy.median(values)),
        dict(zip(percents, at, strict=True)),
    )


def ros_values(values: Vector, below: Vector) -> Vector | None:
    """Values with those below a limit modelled by regression on order statistics (Helsel & Cohn 1988; Helsel 2012).

    Robust ROS: log-normal line through the detected results at Weibull plotting positions within each interval between
    limits, which give the censored ones only; the detected ones stay as they are. `values` holds the limit where
    `below`. None where fewer than three different positive results were detected.
    """
    import numpy
    from scipy import stats

    detected = values[~below]
    if not below.any():
        return values
    if (detected <= 0).any() or len(numpy.unique(detected)) < FEWEST_DETECTED:
        return None
    limits = numpy.unique(values[below])
    exceedance = _exceedance(values, below, limits)
    positions = numpy.empty(len(values))
    # Detected results between limit j - 1 and j; below the first limit the exceedance is 1, beyond the last 0.
    lower, upper = numpy.concatenate([[1.0], exceedance]), numpy.concatenate([exceedance, [0.0]])
    interval = numpy.searchsorted(limits, values, side="right")
    for j in range(len(limits) + 1):
        rows = numpy.flatnonzero(~below & (interval == j))
        ranks = stats.rankdata(values[rows], method="ordinal")
        positions[rows] = 1 - lower[j] + (lower[j] - upper[j]) * ranks / (len(rows) + 1)
    for j, limit in enumerate(limits):
        rows = numpy.flatnonzero(below & (values == limit))
        positions[rows] = (1 - exceedance[j]) * numpy.arange(1, len(rows) + 1) / (len(rows) + 1)
    scores = stats.norm.ppf(positions)
    line = stats.linregress(scores[~below], numpy.log(detected))
    modelled = values.copy()
    modelled[below] = numpy.exp(line.intercept + line.slope * scores[below])
    return modelled


def _exceedance(values: Vector, below: Vector, limits: Vector) -> Vector:
    """Probability of reaching each limit, from the greatest down (Helsel & Cohn 1988, equation 5)."""
    import numpy

    exceedance = numpy.zeros(len(limits) + 1)
    bounds = numpy.append(limits, numpy.inf)
    detected = values[~below]
    for j in reversed(range(len(limits))):
        between = int(((detected >= bounds[j]) & (detected < bounds[j + 1])).sum())
        under = int((detected < bounds[j]).sum()) + int((values[below] <= bounds[j]).sum())
        share = between / (between + under) if between + under else 0.0
        exceedance[j] = exceedance[j + 1] + share * (1 - exceedance[j + 1])
    return exceedance[:-1]


def kaplan_meier(values: Vector, below: Vector, percents: list[float]) -> Estimates:
    """Of left-censored results by flipping them to right-censored ones (Helsel 2012, chapter 6).

    The least result counts as detected (Efron 1967) for the mean, which is then biased upward. A quantile that lies
    among the censored results is None.
    """
    import numpy

    if not len(values):
        return Estimates(None, None, None, dict.fromkeys(percents))
    levels = numpy.unique(values)
    # From the greatest value down, the product-limit estimate of P(X < v).
    ascending_all, ascending_detected = numpy.sort(values), numpy.sort(values[~below])
    at_risk = numpy.searchsorted(ascending_all, levels, side="right")
    events = numpy.searchsorted(ascending_detected, levels, side="right") - numpy.searchsorted(
        ascending_detected, levels, side="left"
    )
    factors = 1 - events / at_risk
    under = numpy.cumprod(factors[::-1])[::-1]  # P(X < level)
    masses = numpy.append(under[1:], 1.0) - under
    left = float(under[0])
    masses[0] += left
    mean = float((masses * levels).sum())
    n = len(values)
    spread = float((masses * (levels - mean) ** 2).sum())
    reached = numpy.append(under[1:], 1.0)  # P(X <= level)

    def quantile(percent: float) -> float | None:
        index = int(numpy.searchsorted(reached - 1e-12, percent / 100, side="left"))
        index = min(index, len(levels) - 1)
        is_known = events[index] > 0 and percent / 100 > left
        return float(levels[index]) if is_known else None

    return Estimates(
        mean,
        float(numpy.sqrt(spread * n / (n - 1))) if n > 1 else None,
        quantile(50.0),
        {percent: quantile(percent) for percent in percents},
    )
