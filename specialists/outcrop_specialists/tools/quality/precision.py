"""Precision of duplicate analyses. Pure functions on arrays of originals and duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

THOMPSON_HOWARTH_PAIRS = 50
THOMPSON_HOWARTH_GROUP = 11
SD_OF_MEDIAN_DIFFERENCE = 1.0483
"""Standard deviation over median absolute difference of normal pairs: 1 / (sqrt(2) * 0.6745)."""
FEWEST_FOR_TEST = 6


@dataclass(frozen=True)
class Precision:
    """Of the pairs in which both results are known and above their limits; percentages. None where there is no pair.

    `rms_cv` is the root mean square coefficient of variation (Stanley & Lawie 2007), `median_ard` the median absolute
    difference over the pair's mean, `bias` the median of (duplicate - original) over the mean, `bias_p` of Wilcoxon's
    signed-rank test (1945).
    """

    pairs: int
    at_limit: int
    missing: int
    rms_cv: float | None
    median_ard: float | None
    mean_ard: float | None
    within_10: float | None
    within_20: float | None
    bias: float | None
    bias_p: float | None
    thompson_howarth: ThompsonHowarth | None


@dataclass(frozen=True)
class ThompsonHowarth:
    """sd = `intercept` + `slope` × concentration (Thompson & Howarth 1976, 1978), from groups of 11 pairs."""

    intercept: float
    slope: float
    groups: int


def relative_differences(original: Vector, duplicate: Vector) -> Vector:
    """(duplicate - original) over the mean of the pair, in percent; NaN where the mean is not positive."""
    import numpy

    middle = (original + duplicate) / 2
    found: Vector = numpy.divide(
        100 * (duplicate - original), middle, out=numpy.full(len(middle), numpy.nan), where=middle > 0
    )
    return found


def precision(original: Vector, duplicate: Vector, is_at_limit: Vector) -> Precision:
    """NaN where a result is missing; `is_at_limit` where one of a pair lies beyond a limit: such pairs only count."""
    import numpy

    known = numpy.isfinite(original) & numpy.isfinite(duplicate)
    usable = known & ~is_at_limit
    first, second = original[usable], duplicate[usable]
    relative = relative_differences(first, second)
    defined = numpy.isfinite(relative)
    absolute = numpy.abs(relative[defined])
    counts = (int(usable.sum()), int((is_at_limit).sum()), int((~known & ~is_at_limit).sum()))
    if not len(absolute):
        return Precision(*counts, None, None, None, None, None, None, None, None)
    return Precision(
        *counts,
        # (sd / mean)² of a pair is 2 ((a - b) / (a + b))², half the square of the relative difference.
        rms_cv=float(numpy.sqrt((absolute**2 / 2).mean())),
        median_ard=float(numpy.median(absolute)),
        mean_ard=float(absolute.mean()),
        within_10=float((absolute <= 10).mean() * 100),
        within_20=float((absolute <= 20).mean() * 100),
        bias=float(numpy.median(relative[defined])),
        bias_p=_wilcoxon(second - first),
        thompson_howarth=thompson_howarth(first, second),
    )


def _wilcoxon(differences: Vector) -> float | None:
    from scipy import stats

    if (differences != 0).sum() < FEWEST_FOR_TEST:
        return None
    return float(stats.wilcoxon(differences).pvalue)


def thompson_howarth(original: Vector, duplicate: Vector) -> ThompsonHowarth | None:
    """None for fewer than 50 pairs."""
    import numpy
    from scipy import stats

    if len(original) < THOMPSON_HOWARTH_PAIRS:
        return None
    middle, difference = (original + duplicate) / 2, numpy.abs(original - duplicate)
    order = numpy.argsort(middle, kind="stable")
    count = len(order) // THOMPSON_HOWARTH_GROUP
    groups = order[: count * THOMPSON_HOWARTH_GROUP].reshape(count, THOMPSON_HOWARTH_GROUP)
    means = middle[groups].mean(axis=1)
    if means.min() == means.max():
        return None
    line = stats.linregress(means, numpy.median(difference[groups], axis=1) * SD_OF_MEDIAN_DIFFERENCE)
    return ThompsonHowarth(float(line.intercept), float(line.slope), count)
