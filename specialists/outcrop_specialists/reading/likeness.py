"""How well cells fit a column: by the kinds of cells, the sizes of numbers and the words that it is known to hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

LEAST = -9.0
"""No single cell tells more than this (natural logarithm) against a reading."""
NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
LIMIT = r"^\s*[<>≤≥]"
FEWEST_NUMBERS = 5
LEAST_SPREAD = 0.1
"""Of log10 of the numbers in a column: columns of one number only would else refuse every other."""
DEGREES = 3.0
EMPTY, POSITIVE, OTHER_NUMBER, BEYOND, TEXT = range(5)


@dataclass(frozen=True)
class Likeness:
    """What is known of a column: log shares of the kinds of cells, place and spread of log10 of its positive numbers,
    and log shares of its texts by their shape, `unknown` for any other."""

    kinds: Vector
    place: float | None
    spread: float
    shapes: dict[str, float]
    unknown: float

    @classmethod
    def of(cls, column: pl.Series) -> Likeness:
        """From cells of the column that are known to stand where they belong."""
        import numpy

        kinds, logs, shapes = _looked_at(column)
        counts = numpy.bincount(kinds, minlength=5) + 0.5
        sizes = logs[kinds == POSITIVE]
        place, spread = None, LEAST_SPREAD
        if len(sizes) >= FEWEST_NUMBERS:
            place = float(numpy.median(sizes))
            spread = max(LEAST_SPREAD, 1.4826 * float(numpy.median(numpy.abs(sizes - place))))
        words, times = numpy.unique(shapes[kinds >= BEYOND], return_counts=True)
        total = float(times.sum()) + 0.5 * (len(words) + 1)
        known = dict(zip(words.tolist(), numpy.log((times + 0.5) / total).tolist(), strict=True))
        return cls(numpy.log(counts / counts.sum()), place, spread, known, float(numpy.log(0.5 / total)))

    @property
    def of_empty(self) -> float:
        return max(LEAST, float(self.kinds[EMPTY]))

    def of_cells(self, cells: pl.Series) -> Vector:
        """The log likelihood of each cell, not below LEAST."""
        import numpy

        kinds, logs, shapes = _looked_at(cells)
        found = self.kinds[kinds].copy()
        if self.place is not None:
            is_positive = kinds == POSITIVE
            # Student's t, whose tails do not make one high grade a proof; constants alike for all columns are left out.
            off = (logs[is_positive] - self.place) / self.spread
            found[is_positive] -= numpy.log(self.spread) + (DEGREES + 1) / 2 * numpy.log1p(off**2 / DEGREES)
        has_shape = kinds >= BEYOND
        found[has_shape] += [self.shapes.get(shape, self.unknown) for shape in shapes[has_shape]]
        clipped: Vector = numpy.maximum(found, LEAST)
        return clipped


def _looked_at(cells: pl.Series) -> tuple[Vector, Vector, Vector]:
    """Of each cell its kind, log10 of a positive number (else 0), and its shape if it is text (digits as 9, letters
    as a) or, beyond a limit, the cell as it stands."""
    import numpy
    import polars as pl

    bare = cells.str.strip_chars().fill_null("")
    is_number = bare.str.contains(NUMBER)
    numbers = bare.set(~is_number, None).cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()
    is_beyond = bare.str.contains(LIMIT)
    shapes = bare.str.replace_all(r"[0-9]+", "9").str.replace_all(r"\p{L}+", "a")
    kinds = numpy.full(len(bare), TEXT)
    kinds[is_beyond.to_numpy()] = BEYOND
    kinds[is_number.to_numpy()] = OTHER_NUMBER
    is_positive = numbers > 0
    kinds[is_positive] = POSITIVE
    kinds[(bare == "").to_numpy()] = EMPTY
    logs = numpy.zeros(len(bare))
    logs[is_positive] = numpy.log10(numbers[is_positive])
    return kinds, logs, bare.zip_with(is_beyond, shapes).to_numpy()
