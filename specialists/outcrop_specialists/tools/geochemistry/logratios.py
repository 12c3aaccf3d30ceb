"""Log-ratios of compositions, and what stands for parts below a detection limit. Pure functions on (rows, parts)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

SHARE_OF_LIMIT = 0.65
"""Of its limit, what stands for a part below it: minimises the distortion of the covariance (Martín-Fernández et al.
2003, Mathematical Geology 35, 253-278)."""


@dataclass(frozen=True)
class Replaced:
    """A composition (rows, parts) whose rows add up to 1, without zeros; `replaced` marks the parts put in."""

    closed: Matrix
    replaced: Matrix


def closed(parts: Matrix) -> Matrix:
    """Rows divided by their sum. NaN where a part is."""
    found: Matrix = parts / parts.sum(axis=1, keepdims=True)
    return found


def multiplicative_replacement(parts: Matrix, is_zero: Matrix, deltas: Matrix) -> Replaced:
    """Put `deltas` (rows, parts; same unit as the parts) for the parts marked, in rows closed to 1.

    The other parts of a row are multiplied by 1 less the sum of what was put in, so that their ratios stay and the row
    still adds up to 1 (Martín-Fernández et al. 2003, equation 5, with the delta of a row in shares of its sum). Rows
    without a marked part are only closed.
    """
    import numpy

    known = numpy.where(is_zero, 0.0, parts)
    total = known.sum(axis=1, keepdims=True)
    shares = numpy.divide(known, total, out=numpy.full_like(known, numpy.nan), where=total > 0)
    put = numpy.where(is_zero, deltas, 0.0)
    put_shares = numpy.divide(put, total, out=numpy.full_like(put, numpy.nan), where=total > 0)
    room = 1 - put_shares.sum(axis=1, keepdims=True)
    found = numpy.where(is_zero, put_shares, shares * room)
    return Replaced(numpy.where(room > 0, found, numpy.nan), is_zero)


def clr(parts: Matrix) -> Matrix:
    """Centred log-ratios (Aitchison 1986): natural logarithms less their mean over the row."""
    import numpy

    logarithms = numpy.log(parts)
    found: Matrix = logarithms - logarithms.mean(axis=1, keepdims=True)
    return found


def alr(parts: Matrix, divisor: int) -> Matrix:
    """Additive log-ratios (Aitchison 1986): logarithms of the other parts divided by part `divisor`."""
    import numpy

    logarithms = numpy.log(parts)
    found: Matrix = numpy.delete(logarithms - logarithms[:, [divisor]], divisor, axis=1)
    return found


def ilr_basis(count: int) -> Matrix:
    """(count - 1, count) orthonormal rows of pivot coordinates (Egozcue et al. 2003; Fišerová & Hron 2011).

    Row i is sqrt((D - i) / (D - i + 1)) times the log-ratio of part i to the geometric mean of the parts after it.
    """
    import numpy

    basis = numpy.zeros((count - 1, count))
    for i in range(count - 1):
        after = count - i - 1
        basis[i, i] = numpy.sqrt(after / (after + 1))
        basis[i, i + 1 :] = -basis[i, i] / after
    return basis


def ilr(parts: Matrix) -> Matrix:
    """Isometric log-ratios in pivot coordinates: (rows, parts - 1)."""
    import numpy

    found: Matrix = numpy.log(parts) @ ilr_basis(parts.shape[1]).T
    return found
