"""Correlation of every pair of columns of a matrix with gaps, each pair on the rows that have both values.

Columns that lack the same rows are correlated together in one matrix product, so that thousands of columns are served;
each pair still gets exactly the figures that its own complete rows give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ReportProgress, report_to_nobody

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

Method = Literal["pearson", "spearman", "kendall"]

FEWEST_ROWS = 3
MOST_PAIRS = 3_000_000
"""So many pairs make a file of about 300 MB."""
MOST_KENDALL_PAIRS = 2_000
MOST_PRODUCTS = 250_000
"""Products of groups of columns that lack the same rows, for tables of up to 1,000 rows (about two minutes); fewer in
longer ones."""
MANY_PRODUCTS = 20_000
"""Beyond so many Pearson's r comes from sums over masks: five products in all, whatever the gaps."""
ROWS_OF_MOST_PRODUCTS = 1_000
WELL_CONDITIONED = 1e-3
"""Share of a sum of squares that must be left after the mean is taken off, or digits are lost in the difference."""
CONSTANT = 1e-13
"""Relative spread below which a column is constant but for rounding."""


@dataclass(frozen=True)
class Correlations:
    """Symmetric (columns, columns) matrices: coefficients (1 on the diagonal) and two-sided p-values, NaN where they
    are not defined, and the number of rows each stands on."""

    coefficients: Matrix
    p_values: Matrix
    rows: Matrix

    def is_defined(self) -> Matrix:
        """For each pair above the diagonal whether it has a coefficient."""
        import numpy

        found: Matrix = numpy.isfinite(self.coefficients[numpy.triu_indices(len(self.rows), 1)])
        return found


def correlations(values: Matrix, method: Method, report: ReportProgress = report_to_nobody) -> Correlations:
    """Correlate the columns, none of them constant, of (rows, columns) values, NaN where one is missing.

    Pearson's r with the p-value of its exact distribution, Spearman's rho (Pearson's r of average ranks) with that of
    Student's t, Kendall's tau-b, as in scipy.stats. Undefined for fewer than three rows and where a column is constant
    on the rows of the pair. Raises ArgumentError for more pairs than can be served.
    """
    import numpy

    width = values.shape[1]
    _refuse_too_many(width * (width - 1) // 2, method)
    empty = numpy.full((width, width), numpy.nan)
    found = Correlations(empty, empty.copy(), numpy.zeros((width, width), dtype=int))
    if method == "kendall":
        _kendall(values, found, report)
    else:
        groups = list(_alike(numpy.isfinite(values)))
        if method == "pearson" and len(groups) * (len(groups) + 1) // 2 > MANY_PRODUCTS:
            _by_sums(values, found, report)
        else:
            _by_products(values, method, groups, found, report)
        found.p_values[:] = _p_values(found, method)
    numpy.fill_diagonal(found.coefficients, 1.0)
    return found


def correlations_with(
    target: int, values: Matrix, method: Method, report: ReportProgress = report_to_nobody
) -> Correlations:
    """As `correlations`, but only of column `target` with each other one; the other pairs are NaN with 0 rows.

    Each pair costs one pass over the rows, whatever the gaps. Raises ArgumentError for more columns than can be served.
    """
    import numpy

    width = values.shape[1]
    _refuse_too_many(width - 1, method)
    empty = numpy.full((width, width), numpy.nan)
    found = Correlations(empty, empty.copy(), numpy.zeros((width, width), dtype=int))
    others = [column for column in range(width) if column != target]
    for done, other in enumerate(others):
        report("correlating each column with one", done, len(others))
        if method == "kendall":
            _kendall_pair(values, target, other, found)
        else:
            columns = (numpy.array([target]), numpy.array([other]))
            _correlate(values, _has_both(values[:, target], values[:, other]), columns, method, found)
    if method != "kendall":
        found.p_values[:] = _p_values(found, method)
    numpy.fill_diagonal(found.coefficients, 1.0)
    return found


def _refuse_too_many(pairs: int, method: Method) -> None:
    most = MOST_KENDALL_PAIRS if method == "kendall" else MOST_PAIRS
    if pairs > most:
        other = "; use spearman" if method == "kendall" else ""
        raise ArgumentError("columns", f"{pairs:,} pairs are too many for {method} ({most:,}); name the columns{other}")


def _kendall(values: Matrix, found: Correlations, report: ReportProgress) -> None:
    import numpy

    width = values.shape[1]
    total = width * (width - 1) // 2
    for done, (i, j) in enumerate(zip(*numpy.triu_indices(width, 1), strict=True)):
        report("correlating pairs of columns", done, total)
        _kendall_pair(values, int(i), int(j), found)


def _kendall_pair(values: Matrix, i: int, j: int, found: Correlations) -> None:
    from scipy import stats

    x, y = values[_has_both(values[:, i], values[:, j])][:, [i, j]].T
    found.rows[i, j] = found.rows[j, i] = len(x)
    if len(x) < FEWEST_ROWS or x.min() == x.max() or y.min() == y.max():
        return
    tau = stats.kendalltau(x, y)
    found.coefficients[i, j] = found.coefficients[j, i] = tau.statistic
    found.p_values[i, j] = found.p_values[j, i] = tau.pvalue


def _has_both(x: Matrix, y: Matrix) -> Matrix:
    import numpy

    found: Matrix = numpy.isfinite(x) & numpy.isfinite(y)
    return found


def _by_products(
    values: Matrix, method: Method, groups: list[Matrix], found: Correlations, report: ReportProgress
) -> None:
    import numpy

    is_there = numpy.isfinite(values)
    pairs = list(combinations_with_replacement(groups, 2))
    _refuse_too_many_products(len(pairs), len(groups), len(values), method)
    for done, (first, second) in enumerate(pairs):
        if done % 100 == 0:
            report("correlating pairs of columns", done, len(pairs))
        _correlate(values, is_there[:, first[0]] & is_there[:, second[0]], (first, second), method, found)


def _refuse_too_many_products(products: int, groups: int, rows: int, method: Method) -> None:
    if products * max(rows, ROWS_OF_MOST_PRODUCTS) > MOST_PRODUCTS * ROWS_OF_MOST_PRODUCTS:
        raise ArgumentError(
            "columns",
            f"the columns lack values in {groups:,} different sets of rows, too many for {method} of {rows:,} rows; "
            f"name fewer columns{' or use pearson' if method == 'spearman' else ''}",
        )


def _correlate(
    values: Matrix, rows: Matrix, columns: tuple[Matrix, Matrix], method: Method, found: Correlations
) -> None:
    """Correlate each column of one group with each of another, on these rows, and put the figures in both places."""
    import numpy

    first, second = columns
    there, back = numpy.ix_(first, second), numpy.ix_(second, first)
    count = int(rows.sum())
    found.rows[there] = found.rows[back] = count
    if count < FEWEST_ROWS:
        return
    kept = values[rows]
    left = _standard(kept[:, first], method)
    right = left if second is first else _standard(kept[:, second], method)
    product = numpy.clip(left.T @ right, -1.0, 1.0)
    found.coefficients[there] = product
    found.coefficients[back] = product.T


def _by_sums(values: Matrix, found: Correlations, report: ReportProgress) -> None:
    """Pearson's r from sums over the rows that both columns have; pairs for which digits would be lost one by one."""
    import numpy

    report("correlating pairs of columns by sums")
    is_there = numpy.isfinite(values)
    mask = is_there.astype(float)
    standard = values - numpy.nanmean(values, axis=0)
    standard = numpy.where(is_there, standard / numpy.nanmax(numpy.abs(standard), axis=0), 0.0)
    count = mask.T @ mask
    sums, squares = standard.T @ mask, (standard**2).T @ mask
    least = numpy.maximum(count, 1)
    spread = squares - sums**2 / least
    shared = standard.T @ standard - sums * sums.T / least
    is_sure = (spread > WELL_CONDITIONED * squares) & (count >= FEWEST_ROWS)
    is_sure &= is_sure.T
    found.rows[:] = count.astype(int)
    found.coefficients[is_sure] = numpy.clip(shared[is_sure] / numpy.sqrt((spread * spread.T)[is_sure]), -1.0, 1.0)
    unsure = numpy.argwhere(numpy.triu(~is_sure & (count >= FEWEST_ROWS), 1))
    _refuse_too_many_products(len(unsure), values.shape[1], len(values), "pearson")
    for done, (i, j) in enumerate(unsure):
        if done % 100 == 0:
            report("correlating pairs of columns one by one", done, len(unsure))
        columns = (numpy.array([i]), numpy.array([j]))
        _correlate(values, is_there[:, i] & is_there[:, j], columns, "pearson", found)


def _alike(is_there: Matrix) -> Iterator[Matrix]:
    """Numbers of the columns that lack the same rows, together."""
    import numpy

    groups: dict[bytes, list[int]] = {}
    for number, column in enumerate(is_there.T):
        groups.setdefault(numpy.packbits(column).tobytes(), []).append(number)
    return (numpy.array(columns) for columns in groups.values())


def _standard(values: Matrix, method: Method) -> Matrix:
    """Columns (or their average ranks) with mean 0 and length 1; NaN throughout where a column is constant."""
    import numpy

    if method == "spearman":
        from scipy import stats

        values = stats.rankdata(values, axis=0)
    centred = values - values.mean(axis=0)
    # Scaled by its greatest value first: squares of 1e-200 would be 0.
    greatest = numpy.abs(centred).max(axis=0)
    is_constant = (values.min(axis=0) == values.max(axis=0)) | (greatest <= CONSTANT * numpy.abs(values).max(axis=0))
    centred = centred / numpy.where(is_constant, 1.0, greatest)
    lengths = numpy.sqrt((centred**2).sum(axis=0))
    found: Matrix = centred / numpy.where(is_constant, numpy.nan, lengths)
    return found


def _p_values(found: Correlations, method: Method) -> Matrix:
    """Two-sided, for n rows: of r by the beta distribution with n/2 - 1 (Student 1908), of rho by t with n - 2."""
    import numpy
    from scipy import special

    r, n = found.coefficients, found.rows.astype(float)
    usable = numpy.isfinite(r) & (n >= FEWEST_ROWS)
    p = numpy.full(r.shape, numpy.nan)
    half = n[usable] / 2 - 1
    # P(|R| > |r|) of the symmetric beta distribution on -1 to 1; it equals that of t with n - 2 degrees of freedom.
    p[usable] = 2 * special.betainc(half, half, (1 - numpy.abs(r[usable])) / 2)
    found_p: Matrix = numpy.minimum(p, 1.0)
    return found_p
