"""Results beyond a limit in figures: which points they are, at what they are drawn, and the words that say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_specialists.columns.censoring import ABOVE, BELOW, DEFAULT_METHOD, SHARE_OF_LIMIT
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.tools.plots import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from outcrop_specialists.reading.tables import Table

    Vector = NDArray[Any]

LIMITS_DRAWN = 3
DRAWN_AT = {"half": "half of it", "zero": "zero", "value": "it"}
LIMIT_COLOUR = "#555555"


@dataclass(frozen=True)
class Beyond:
    """Of one column, by row: `below` and `above` a limit, and the limit of those below where it is known."""

    name: str
    below: Vector
    above: Vector
    limits: Vector
    method: str

    def of_rows(self, rows: Vector) -> Beyond:
        return Beyond(self.name, self.below[rows], self.above[rows], self.limits[rows], self.method)

    @property
    def highest(self) -> float | None:
        """The highest limit below which a result lies."""
        import numpy

        known = self.limits[self.below & numpy.isfinite(self.limits)]
        return float(known.max()) if len(known) else None

    def told(self, mark: str = "") -> list[str]:
        """`65 of them below a limit, drawn at half of it (hollow)`; `mark` is how they look."""
        below, above = int(self.below.sum()), int(self.above.sum())
        look = f" ({mark})" if mark else ""
        parts = [f"{below:,} of them below a limit, drawn at {DRAWN_AT.get(self.method, 'half of it')}{look}"]
        return (parts if below else []) + ([f"{above:,} above a limit, drawn at it"] if above else [])

    def median(self, values: Vector) -> float | None:
        """The median of the values as drawn; None where it lies below a limit, where it is no measured figure."""
        import numpy

        median = float(numpy.median(values))
        highest = self.highest
        unknown = bool((self.below & ~numpy.isfinite(self.limits)).any())
        is_below = highest is not None and median < highest
        return None if is_below or (unknown and self.below.mean() >= 0.5) else median


def beyond(table: Table, name: str, field: str = "column") -> Beyond:
    """What of a numeric column is beyond a limit; nothing in a column without qualifiers."""
    import numpy

    values = numeric(table, name, field).to_numpy()
    method = table.substituted.get(name, DEFAULT_METHOD)
    nothing = numpy.zeros(len(values), dtype=bool)
    if name not in table.qualifiers:
        return Beyond(name, nothing, nothing, numpy.full(len(values), numpy.nan), method)
    qualifier = table.column(table.qualifiers[name]).fill_null("")
    below, above = ((qualifier == sign).to_numpy() for sign in (BELOW, ABOVE))
    share = SHARE_OF_LIMIT.get(method, SHARE_OF_LIMIT[DEFAULT_METHOD])
    limits = numpy.where(below & (share > 0), values / share if share else numpy.nan, numpy.nan)
    return Beyond(name, below, above, limits, method)


def draw_limits(axes: Axes, found: Beyond, *, vertical: bool) -> None:
    """A dashed line at each limit where they are few, else at the highest."""
    import numpy

    known = numpy.unique(found.limits[found.below & numpy.isfinite(found.limits)])
    shown = known if len(known) <= LIMITS_DRAWN else known[-1:]
    for at in shown:
        label = f"limit {figures.number_text(float(at))}"
        (axes.axvline if vertical else axes.axhline)(
            float(at), color=LIMIT_COLOUR, linewidth=1.1, linestyle="--", label=label, zorder=2.5
        )


def rows_told(found: list[Beyond]) -> list[str]:
    """Where a point stands for several columns: `12 of them with a result below a limit, drawn at half of it`."""
    import numpy

    below = int(numpy.any([each.below for each in found], axis=0).sum())
    above = int(numpy.any([each.above for each in found], axis=0).sum())
    at = DRAWN_AT.get(next((each.method for each in found if each.below.any()), DEFAULT_METHOD), "half of it")
    parts = [f"{below:,} of them with a result below a limit, drawn at {at}"] if below else []
    return parts + ([f"{above:,} with one above a limit, drawn at it"] if above else [])


def counts(found: list[Beyond]) -> dict[str, Any]:
    """What a plot reports: rows below a limit by column, where there are any."""
    below = {each.name: int(each.below.sum()) for each in found if each.below.any()}
    above = {each.name: int(each.above.sum()) for each in found if each.above.any()}
    return {**({"below_limit": below} if below else {}), **({"above_limit": above} if above else {})}
