"""The figures of one column of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from outcrop_specialists.tools.statistics.ordered import ascending, deviation, percentiles_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Rows = NDArray[Any]

Extra = Literal["geometric_mean", "mad", "skewness", "cv", "variance"]


def summary(values: Rows | pl.Series, percentiles: list[float]) -> dict[str, Any]:
    """Count, missing, mean, sd (n - 1), min, max, sum and percentiles (Hyndman & Fan 1996, type 7) of one column.

    A value that is not finite counts as missing. A figure that is not defined (the sd of one value, the mean of none)
    is None.
    """
    import numpy

    ordered = ascending(values)
    count = len(ordered)
    record: dict[str, Any] = {"count": count, "missing": len(values) - count}
    total = float(numpy.sum(ordered))
    record["mean"] = total / count if count else None
    record["sd"] = deviation(ordered) if count > 1 else None
    record["min"] = float(ordered[0]) if count else None
    at = percentiles_of(ordered, percentiles) if count else [None] * len(percentiles)
    record |= {f"p{wanted:g}": value for wanted, value in zip(percentiles, at, strict=True)}
    record["max"] = float(ordered[-1]) if count else None
    record["sum"] = total if count else None
    return record


def further(values: Rows, wanted: list[Extra], weights: Rows | None) -> dict[str, Any]:
    """The further figures asked for, and with weights the mean weighted by them over rows that have both.

    The geometric mean is defined where every value is positive; the skewness is that of the population (Fisher's g1).
    A figure that is not defined is None.
    """
    if not wanted and weights is None:
        return {}
    import numpy

    found = values[~numpy.isnan(values)]
    count = len(found)
    mean = float(found.mean()) if count else 0.0
    record: dict[str, Any] = {}
    if "geometric_mean" in wanted:
        record["geometric_mean"] = float(numpy.exp(numpy.log(found).mean())) if count and found.min() > 0 else None
    if "mad" in wanted:
        record["mad"] = float(numpy.median(numpy.abs(found - numpy.median(found)))) if count else None
    if "skewness" in wanted:
        spread = float(found.std()) if count else 0.0
        record["skewness"] = float(((found - mean) ** 3).mean() / spread**3) if spread > 0 else None
    if "cv" in wanted:
        record["cv"] = deviation(found) / mean if count > 1 and mean else None
    if "variance" in wanted:
        record["variance"] = deviation(found) ** 2 if count > 1 else None
    if weights is not None:
        has_both = ~numpy.isnan(values) & ~numpy.isnan(weights)
        total = float(weights[has_both].sum())
        record["weighted_mean"] = float((values[has_both] * weights[has_both]).sum()) / total if total > 0 else None
        record["weight"] = total
    return record
