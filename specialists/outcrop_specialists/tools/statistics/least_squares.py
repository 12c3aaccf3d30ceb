"""Ordinary least squares and the Theil-Sen line. Pure functions on arrays without gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

OUTLIER_RESIDUAL = 3.0
"""Studentised residual beyond which a row is counted as an outlier."""
LEVERAGE_OF_MEAN = 2.0
"""Leverage beyond so many times its mean, p / n, is high (Hoaglin & Welsch 1978)."""
RANK_TOLERANCE = 1e-10
THEIL_SEN_ROWS = 4_000
"""Beyond so many rows a sample is taken: the slopes of all pairs of 4,000 rows are 64 MB."""


@dataclass(frozen=True)
class Term:
    """One coefficient; the standard error, t and p are None where there are no degrees of freedom left (or, for
    Theil-Sen, where the method gives none)."""

    name: str
    estimate: float
    standard_error: float | None
    low: float | None
    high: float | None
    t: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Fit:
    """A line or plane fitted to n rows: `fitted`, `residuals`, `leverage` and internally studentised residuals are
    (n,) arrays; the last two are None for Theil-Sen."""

    terms: list[Term]
    n: int
    r_squared: float | None
    adjusted_r_squared: float | None
    residual_sd: float | None
    f: float | None
    f_p_value: float | None
    fitted: Array
    residuals: Array
    leverage: Array | None = None
    studentised: Array | None = None
    sampled: int | None = None

    def high_leverage(self) -> int:
        """Rows whose leverage exceeds twice the mean one."""
        if self.leverage is None:
            return 0
        return int((self.leverage > LEVERAGE_OF_MEAN * self.leverage.mean()).sum())

    def outliers(self) -> int:
        """Rows whose studentised residual lies beyond 3."""
        import numpy

        if self.studentised is None:
            return 0
        return int((numpy.abs(self.studentised) > OUTLIER_RESIDUAL).sum())


def ordinary(y: Array, x: Array, names: list[str], confidence: float, *, intercept: bool = True) -> Fit:
    """Least squares of (n,) y on (n, k) x by a QR decomposition of scaled columns.

    R² is of the deviations from the mean, without intercept from 0. Raises ArgumentError where columns depend on each
    other or rows are fewer than coefficients.
    """
    import numpy
    from scipy import linalg, stats

    design = numpy.column_stack([numpy.ones(len(y)), x]) if intercept else x
    labels = ["(intercept)", *names] if intercept else list(names)
    n, k = design.shape
    if n < k:
        raise ArgumentError("x", f"{n} complete rows are too few for {k} coefficients")
    scale = numpy.sqrt((design**2).sum(axis=0))
    dependent = [label for label, length in zip(labels, scale, strict=True) if length == 0]
    if not dependent:
        q, r, order = linalg.qr(design / scale, mode="economic", pivoting=True)
        diagonal = numpy.abs(numpy.diag(r))
        dependent = [labels[order[i]] for i in range(k) if diagonal[i] <= RANK_TOLERANCE * diagonal[0]]
    if dependent:
        raise ArgumentError("x", f"constant, or given by the other columns: {', '.join(dependent)}; leave it out")
    inverse = linalg.solve_triangular(r, numpy.eye(k))
    estimates = numpy.empty(k)
    estimates[order] = inverse @ (q.T @ y)
    estimates /= scale
    variances = numpy.empty(k)
    variances[order] = (inverse**2).sum(axis=1)
    variances /= scale**2
    fitted = design @ estimates
    residuals = y - fitted
    leverage = (q**2).sum(axis=1)
    unexplained = float((residuals**2).sum())
    total = float(((y - y.mean()) ** 2).sum()) if intercept else float((y**2).sum())
    degrees = n - k
    explaining = k - 1 if intercept else k
    sigma = float(numpy.sqrt(unexplained / degrees)) if degrees else None
    r_squared = 1 - unexplained / total if total > 0 else None
    f = None
    if r_squared is not None and degrees and explaining and unexplained > 0:
        f = (total - unexplained) / explaining / (unexplained / degrees)
    errors = None if sigma is None else sigma * numpy.sqrt(variances)
    studentised = None
    if sigma:
        room = numpy.sqrt(numpy.maximum(1 - leverage, 0))
        studentised = numpy.divide(residuals, sigma * room, out=numpy.zeros(n), where=room > RANK_TOLERANCE)
    return Fit(
        terms=_terms(labels, estimates, errors, degrees, confidence),
        n=n,
        r_squared=r_squared,
        adjusted_r_squared=None
        if r_squared is None or not degrees
        else 1 - (1 - r_squared) * (n - (1 if intercept else 0)) / degrees,
        residual_sd=sigma,
        f=f,
        f_p_value=None if f is None else float(stats.f.sf(f, explaining, degrees)),
        fitted=fitted,
        residuals=residuals,
        leverage=leverage,
        studentised=studentised,
    )


def _terms(labels: list[str], estimates: Array, errors: Array | None, degrees: int, confidence: float) -> list[Term]:
    from scipy import stats

    terms = []
    for index, (label, estimate) in enumerate(zip(labels, estimates.tolist(), strict=True)):
        if errors is None:
            terms.append(Term(label, estimate, None, None, None))
            continue
        error = float(errors[index])
        reach = float(stats.t.ppf((1 + confidence) / 2, degrees)) * error
        t = estimate / error if error > 0 else None
        p = None if t is None else float(2 * stats.t.sf(abs(t), degrees))
        terms.append(Term(label, estimate, error, estimate - reach, estimate + reach, t, p))
    return terms


def theil_sen(y: Array, x: Array, name: str, confidence: float, seed: int) -> Fit:
    """The line with the median slope of all pairs (Theil 1950; interval after Sen 1968), through the medians.

    Beyond 4,000 rows the slope is that of a random sample; fitted values and residuals are of all rows. Raises
    ArgumentError where x is constant.
    """
    import numpy
    from scipy import stats

    if len(x) < 2 or x.min() == x.max():
        raise ArgumentError("x", f"{name!r} does not vary among {len(x)} complete rows")
    rows = numpy.arange(len(x))
    if len(x) > THEIL_SEN_ROWS:
        rows = numpy.sort(numpy.random.default_rng(seed).choice(len(x), THEIL_SEN_ROWS, replace=False))
        if x[rows].min() == x[rows].max():
            raise ArgumentError("x", f"{name!r} does not vary in a sample of {THEIL_SEN_ROWS:,} rows")
    line = stats.theilslopes(y[rows], x[rows], alpha=confidence)
    intercept = float(numpy.median(y) - line.slope * numpy.median(x))
    fitted = intercept + line.slope * x
    residuals = y - fitted
    return Fit(
        terms=[
            Term("(intercept)", intercept, None, None, None),
            Term(name, float(line.slope), None, float(line.low_slope), float(line.high_slope)),
        ],
        n=len(y),
        r_squared=None,
        adjusted_r_squared=None,
        residual_sd=float(numpy.median(numpy.abs(residuals - numpy.median(residuals))) / stats.norm.ppf(0.75)),
        f=None,
        f_p_value=None,
        fitted=fitted,
        residuals=residuals,
        sampled=len(rows) if len(rows) < len(x) else None,
    )
