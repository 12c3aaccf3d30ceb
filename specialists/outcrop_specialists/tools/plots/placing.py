"""Which rows of a table can be drawn at an x and a y, which not and why; what a plot reports of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.censored import Beyond, beyond, counts
from outcrop_specialists.tools.plots.colouring import NO_GROUP, Colouring, Groups, Scale, colouring
from outcrop_specialists.tools.plots.points import SMALL_MARKS_FROM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from outcrop_specialists.reading.tables import Table

    Vector = NDArray[Any]


@dataclass(frozen=True)
class Placed:
    """The points of a plot: `x` and `y` of the rows (a boolean mask over the table) that can be drawn."""

    x: Vector
    y: Vector
    rows: Vector
    left_out: dict[str, int]
    beyond: tuple[Beyond, ...] = ()
    """Results beyond a limit among the points drawn, by the column that places or colours them."""

    def note(self, colours: Colouring = None) -> str:
        """What was drawn, what of it is beyond a limit and what was left out, as it stands on the figure."""
        drawn = drawn_note(len(self.x), self.left_out)
        return "; ".join([drawn, *self.censored(), *(colours.notes if colours else ())])

    def censored(self) -> list[str]:
        """The sentences on points beyond a limit."""
        mark = "hollow" if len(self.x) <= SMALL_MARKS_FROM else ""
        return [f"{each.name}: {told}" for each in self.beyond for told in each.told(mark)]

    @property
    def hollow(self) -> Vector:
        """The points of which some value is below a limit."""
        import numpy

        below = numpy.zeros(len(self.x), dtype=bool)
        for each in self.beyond:
            below |= each.below
        return below

    def of_points(self, points: Vector, left_out: dict[str, int]) -> Placed:
        """The same with some of the points only."""
        rows = self.rows.copy()
        rows[rows] = points
        return Placed(
            self.x[points], self.y[points], rows, left_out, tuple(each.of_rows(points) for each in self.beyond)
        )

    def coloured_by(self, table: Table, color: str | None, colours: Colouring) -> Placed:
        """The same, where the value that colours a point may be beyond a limit too."""
        if color is None or not isinstance(colours, Scale) or color in {each.name for each in self.beyond}:
            return self
        return replace(self, beyond=(*self.beyond, beyond(table, color, "color").of_rows(self.rows)))


def place(table: Table, x: str, y: str, *, log_x: bool = False, log_y: bool = False) -> Placed:
    """Rows with a finite x and y, positive where the axis is logarithmic. Raises ArgumentError where there is none."""
    import numpy

    across, up = (numeric(table, name, field).to_numpy() for name, field in ((x, "x"), (y, "y")))
    has_both = numpy.isfinite(across) & numpy.isfinite(up)
    has_logarithm = numpy.ones_like(has_both)
    for values, is_log in ((across, log_x), (up, log_y)):
        if is_log:
            has_logarithm &= values > 0
    rows = has_both & has_logarithm
    left_out = counted({"missing": int((~has_both).sum()), "not_positive": int((has_both & ~has_logarithm).sum())})
    if not rows.any():
        raise ArgumentError("x", f"{table.path.name}: no row can be drawn at {x!r} and {y!r}: {reasons(left_out)}")
    found = tuple(beyond(table, name, field).of_rows(rows) for name, field in ((x, "x"), (y, "y")))
    return Placed(across[rows], up[rows], rows, left_out, found)


def drawable(values: Vector, groups: Groups | None, *, log: bool) -> tuple[Vector, dict[str, int]]:
    """The rows with a group and a value that can be drawn (if need be on a logarithmic axis); the others, by reason."""
    import numpy

    has_value = numpy.isfinite(values)
    has_logarithm = values > 0 if log else numpy.ones_like(has_value)
    has_group = groups.codes != NO_GROUP if groups else numpy.ones_like(has_value)
    left_out = {
        "missing": int((~has_value).sum()),
        "not_positive": int((has_value & ~has_logarithm).sum()),
        "without a group": int((has_value & has_logarithm & ~has_group).sum()),
    }
    return has_value & has_logarithm & has_group, counted(left_out)


def counted(left_out: dict[str, int]) -> dict[str, int]:
    """Only the reasons that hold for some row."""
    return {reason: count for reason, count in left_out.items() if count}


def reasons(left_out: dict[str, int]) -> str:
    """Reasons with their counts, for a person."""
    words = {"not_positive": "not positive on a log axis", "missing": "without a value"}
    return ", ".join(f"{count:,} {words.get(reason, reason)}" for reason, count in left_out.items())


def drawn_note(points: int, left_out: dict[str, int]) -> str:
    text = f"{points:,} point{'s' if points != 1 else ''} drawn"
    return f"{text}; {sum(left_out.values()):,} left out: {reasons(left_out)}" if left_out else text


def colours_of(table: Table, color: str | None, placed: Placed) -> Colouring:
    """The colours of the points. Raises ArgumentError where the column has a value for none of them."""
    if color is None:
        return None
    colours = colouring(table, color).of_rows(placed.rows)
    if colours.without() == len(placed.x):
        raise ArgumentError("color", f"{table.path.name}: {color!r} has no value in any row that can be drawn")
    return colours


def report(
    drawn: figures.Drawn, placed: Placed, x: str, y: str, colours: Colouring, what: str
) -> tuple[dict[str, Any], list[str]]:
    """Results and notes of a plot of points; `what` opens the text that stands for the figure."""
    x_range, y_range = ([float(values.min()), float(values.max())] for values in (placed.x, placed.y))
    spans = ", ".join(
        f"{name} from {figures.short_number(low)} to {figures.short_number(high)}"
        for name, (low, high) in ((x, x_range), (y, y_range))
    )
    alt = f"{what}. {spans}. {placed.note()}."
    results: dict[str, Any] = {
        **drawn.size(),
        "points_drawn": len(placed.x),
        "points_left_out": sum(placed.left_out.values()),
        "left_out_reasons": placed.left_out,
        "x": x,
        "y": y,
        "x_range": x_range,
        "y_range": y_range,
        **counts(list(placed.beyond)),
    }
    notes = [*drawn.notes]
    if placed.left_out:
        notes.append(f"{sum(placed.left_out.values())} rows are not drawn: {reasons(placed.left_out)}")
    if colours is not None:
        results |= colours.describe()
        alt += f" {colours.sentence()}"
        notes += colours.notes
    return results | {"alt": alt}, notes
