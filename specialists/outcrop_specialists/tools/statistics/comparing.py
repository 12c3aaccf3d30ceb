"""Tests and effect sizes for values in groups and for two categories. Pure functions on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

FEWEST_VALUES = 2
SMALL_EXPECTED = 5
"""Expected counts below this make chi-square a rough approximation (Cochran 1954)."""


@dataclass(frozen=True)
class TwoGroups:
    """Two groups of values compared: mean and median of the first less those of the second.

    `hedges_g` is Cohen's d with the pooled sd times 1 - 3 / (4 n - 9) (Hedges 1981); `cliffs_delta` the share of pairs
    in which the first is greater less the share in which it is smaller (Cliff 1993). None where a figure is not
    defined (both groups constant).
    """

    mean_difference: float
    median_difference: float
    welch_t: float | None
    welch_df: float | None
    welch_p: float | None
    mann_whitney_u: float
    mann_whitney_p: float
    hedges_g: float | None
    cliffs_delta: float


def two_groups(first: Vector, second: Vector) -> TwoGroups:
    """Welch's t (1947) and Mann-Whitney U (1947), two-sided, as in scipy.stats; each group has two values at least."""
    import numpy
    from scipy import stats

    n, m = len(first), len(second)
    spread = float(((n - 1) * first.var(ddof=1) + (m - 1) * second.var(ddof=1)) / (n + m - 2))
    difference = float(first.mean() - second.mean())
    welch = stats.ttest_ind(first, second, equal_var=False) if spread > 0 else None
    ranks = stats.mannwhitneyu(first, second, alternative="two-sided", method="auto")
    return TwoGroups(
        mean_difference=difference,
        median_difference=float(numpy.median(first) - numpy.median(second)),
        welch_t=float(welch.statistic) if welch else None,
        welch_df=float(welch.df) if welch else None,
        welch_p=float(welch.pvalue) if welch else None,
        mann_whitney_u=float(ranks.statistic),
        mann_whitney_p=float(ranks.pvalue),
        hedges_g=difference / spread**0.5 * (1 - 3 / (4 * (n + m) - 9)) if spread > 0 else None,
        cliffs_delta=float(2 * ranks.statistic / (n * m) - 1),
    )


@dataclass(frozen=True)
class SeveralGroups:
    """Three or more groups compared: Welch's analysis of variance and Kruskal-Wallis.

    `eta_squared` is the share of the sum of squares that lies between the groups, `epsilon_squared` H / (n - 1)
    (Tomczak & Tomczak 2014). None where a figure is not defined.
    """

    welch_f: float | None
    welch_df: tuple[float, float] | None
    welch_p: float | None
    kruskal_h: float | None
    kruskal_p: float | None
    eta_squared: float | None
    epsilon_squared: float | None


def several_groups(groups: list[Vector]) -> SeveralGroups:
    """Welch's F (1951) and Kruskal-Wallis H (1952, corrected for ties); each group has two values at least."""
    import numpy
    from scipy import stats

    together = numpy.concatenate(groups)
    if together.min() == together.max():
        return SeveralGroups(None, None, None, None, None, None, None)
    total = float(((together - together.mean()) ** 2).sum())
    between = float(sum(len(group) * (group.mean() - together.mean()) ** 2 for group in groups))
    ranks = stats.kruskal(*groups)
    f, degrees, p = _welch_f(groups)
    return SeveralGroups(
        welch_f=f,
        welch_df=degrees,
        welch_p=p,
        kruskal_h=float(ranks.statistic),
        kruskal_p=float(ranks.pvalue),
        eta_squared=between / total,
        epsilon_squared=float(ranks.statistic) / (len(together) - 1),
    )


def _welch_f(groups: list[Vector]) -> tuple[float | None, tuple[float, float] | None, float | None]:
    """Not defined where a group is constant: it would weigh infinitely."""
    import numpy
    from scipy import stats

    sizes = numpy.array([len(group) for group in groups], dtype=float)
    means = numpy.array([group.mean() for group in groups])
    variances = numpy.array([group.var(ddof=1) for group in groups])
    if not (variances > 0).all():
        return None, None, None
    weights = sizes / variances
    centre = (weights * means).sum() / weights.sum()
    count = len(groups)
    lost = ((1 - weights / weights.sum()) ** 2 / (sizes - 1)).sum()
    numerator = (weights * (means - centre) ** 2).sum() / (count - 1)
    f = numerator / (1 + 2 * (count - 2) / (count**2 - 1) * lost)
    degrees = (float(count - 1), float((count**2 - 1) / (3 * lost)))
    return float(f), degrees, float(stats.f.sf(f, *degrees))


def holm(p_values: list[float | None]) -> list[float | None]:
    """P-values adjusted for their number by Holm's step-down rule (1979); None stays None and does not count."""
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    greatest = 0.0
    for rank, (p, index) in enumerate(known):
        greatest = max(greatest, min(1.0, p * (len(known) - rank)))
        adjusted[index] = greatest
    return adjusted


@dataclass(frozen=True)
class Association:
    """Two categories: chi-square without continuity correction, Cramér's V (1946), Fisher's exact p for 2 × 2."""

    chi_squared: float
    df: int
    p_value: float
    cramers_v: float
    fisher_p: float | None
    least_expected: float
    cells_below_five: int


def association(counts: Vector) -> Association:
    """Of a (rows, columns) table of counts, two or more of each and none of them empty."""
    import numpy
    from scipy import stats

    found = stats.chi2_contingency(counts, correction=False)
    smaller = min(counts.shape) - 1
    return Association(
        chi_squared=float(found.statistic),
        df=int(found.dof),
        p_value=float(found.pvalue),
        cramers_v=float(numpy.sqrt(found.statistic / (counts.sum() * smaller))),
        fisher_p=float(stats.fisher_exact(counts).pvalue) if counts.shape == (2, 2) else None,
        least_expected=float(found.expected_freq.min()),
        cells_below_five=int((found.expected_freq < SMALL_EXPECTED).sum()),
    )
