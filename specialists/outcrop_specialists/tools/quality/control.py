"""Control rules for a series of results of one standard. Pure functions on z scores in the order of analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

RUN_OF_ONE_SIDE = 10
RUN_BEYOND_ONE_SD = 4


@dataclass(frozen=True)
class Violations:
    """Rows (places in the series) at which a rule of Westgard et al. (1981) is broken.

    `beyond_3sd` one result; `two_beyond_2sd` the second of two in a row beyond 2 sd on one side; `four_beyond_1sd` and
    `ten_on_one_side` the last of four and of ten in a row.
    """

    beyond_3sd: Vector
    two_beyond_2sd: Vector
    four_beyond_1sd: Vector
    ten_on_one_side: Vector

    def counts(self) -> dict[str, int]:
        return {name: int(getattr(self, name).sum()) for name in self.__dataclass_fields__}

    def texts(self) -> list[str | None]:
        """The rules that each result breaks, by name; None where it breaks none."""
        rows = zip(*(getattr(self, name) for name in self.__dataclass_fields__), strict=True)
        names = list(self.__dataclass_fields__)
        return [", ".join(name for name, broken in zip(names, row, strict=True) if broken) or None for row in rows]


def violations(z: Vector) -> Violations:
    """Of a series of (n,) z scores without gaps."""
    import numpy

    return Violations(
        numpy.abs(z) > 3,
        _run(z > 2, 2) | _run(z < -2, 2),
        _run(z > 1, RUN_BEYOND_ONE_SD) | _run(z < -1, RUN_BEYOND_ONE_SD),
        _run(z > 0, RUN_OF_ONE_SIDE) | _run(z < 0, RUN_OF_ONE_SIDE),
    )


def _run(holds: Vector, length: int) -> Vector:
    """Where a condition holds for so many results in a row, this one the last of them."""
    import numpy

    together = numpy.cumsum(numpy.concatenate([[0], holds.astype(int)]))
    found = numpy.zeros(len(holds), dtype=bool)
    if len(holds) >= length:
        found[length - 1 :] = together[length:] - together[:-length] == length
    return found
