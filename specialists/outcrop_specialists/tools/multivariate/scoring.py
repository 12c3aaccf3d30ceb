"""Scores how far each value of a column lies from its bulk, and flags those beyond a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

Method = Literal["zscore", "mad", "iqr"]
FLAGS = ("low", "normal", "high")
"""What the codes -1, 0 and 1 stand for."""
NO_VALUE = -2

THRESHOLDS: dict[Method, float] = {"mad": 3.5, "zscore": 3.0, "iqr": 1.5}
# The 0.75 quantile of the normal distribution: makes the MAD comparable with a standard deviation.
MAD_OF_NORMAL = 0.6745
RULES: dict[Method, str] = {
    "mad": f"modified z-score {MAD_OF_NORMAL} (x - median) / MAD (Iglewicz & Hoaglin 1993)",
    "zscore": "z-score (x - mean) / sd, sd with n - 1",
    "iqr": "distance beyond the quartiles in interquartile ranges (Tukey 1977), quartiles interpolated (type 7)",
}


@dataclass(frozen=True)
class Scored:
    """Scores (NaN where there is no value) and codes (-1 low, 0 normal, 1 high, -2 no value) of one column's rows,
    and the fences in transformed units."""

    scores: Vector
    codes: Vector
    low_fence: float
    high_fence: float

    def count(self, flag: Literal["low", "normal", "high"]) -> int:
        """Rows with this flag."""
        return int((self.codes == FLAGS.index(flag) - 1).sum())

    @property
    def scored(self) -> int:
        """Rows that have a score."""
        return int((self.codes != NO_VALUE).sum())

    @property
    def is_flagged(self) -> Vector:
        """For each row whether it lies beyond a fence."""
        flagged: Vector = abs(self.codes) == 1
        return flagged


def score(values: Vector, method: Method, threshold: float) -> Scored | str:
    """Scores and flags of a column of (rows,) values, NaN where there is none; a reason where it has no spread."""
    import numpy

    found = values[numpy.isfinite(values)]
    if len(found) < 2:
        return f"{len(found)} usable values are too few to measure a spread"
    quarter, middle, three_quarters = (float(value) for value in numpy.percentile(found, [25, 50, 75], method="linear"))
    low_centre, high_centre = {
        "mad": (middle, middle),
        "zscore": (float(found.mean()), float(found.mean())),
        "iqr": (quarter, three_quarters),
    }[method]
    spread = {
        "mad": float(numpy.median(numpy.abs(found - middle))) / MAD_OF_NORMAL,
        "zscore": float(found.std(ddof=1)),
        "iqr": three_quarters - quarter,
    }[method]
    if found.min() == found.max() or not spread > 0:
        name = {"mad": "MAD", "zscore": "standard deviation", "iqr": "interquartile range"}[method]
        return f"its {name} is zero: at least half of its values are equal; another method may serve"
    scores = numpy.where(values < low_centre, values - low_centre, numpy.maximum(values - high_centre, 0.0)) / spread
    low_fence, high_fence = low_centre - threshold * spread, high_centre + threshold * spread
    codes = numpy.select(
        [~numpy.isfinite(values), values < low_fence, values > high_fence], [NO_VALUE, -1, 1], 0
    ).astype(numpy.int8)
    return Scored(scores, codes, low_fence, high_fence)
