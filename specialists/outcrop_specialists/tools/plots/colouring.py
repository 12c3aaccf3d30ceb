"""Which colour a row of a table has in a figure: by the group it belongs to, or by a value on a scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.tools.plots import figures

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from outcrop_specialists.reading.tables import Table

    Vector = NDArray[Any]

GROUPS_SHOWN = 20
NO_GROUP = -1
FEW_INTEGERS = len(figures.OKABE_ITO)

# Extremes that stretch a colour scale by more than this hide everything between them.
STRETCHED = 2.0
SCALE_PERCENTILES = (2.0, 98.0)


@dataclass(frozen=True)
class Groups:
    """Rows by group: `codes` index `names` and `colours`, -1 where a row has no group."""

    title: str
    names: list[str]
    codes: Vector
    colours: list[str]
    notes: tuple[str, ...] = ()

    def of_rows(self, rows: Vector) -> Groups:
        return replace(self, codes=self.codes[rows])

    def counts(self) -> dict[str, int]:
        """Rows of each group, in the order of the legend."""
        return {name: int((self.codes == code).sum()) for code, name in enumerate(self.names)}

    def without(self) -> int:
        """Rows that have no group."""
        return int((self.codes == NO_GROUP).sum())

    def describe(self) -> dict[str, Any]:
        """What a plot reports of its colours."""
        return {"color": self.title, "groups": self.counts(), "without_group": self.without()}

    def sentence(self) -> str:
        """The colours in words."""
        return f"Coloured by {self.title}: {', '.join(f'{name} ({count})' for name, count in self.counts().items())}."


@dataclass(frozen=True)
class Scale:
    """Rows by value: NaN where a row has none. The colours run from `low` to `high`; what is beyond has the end's."""

    title: str
    unit: str | None
    values: Vector
    low: float
    high: float
    notes: tuple[str, ...] = ()

    def of_rows(self, rows: Vector) -> Scale:
        return replace(self, values=self.values[rows])

    def without(self) -> int:
        """Rows that have no value."""
        import numpy

        return int(numpy.isnan(self.values).sum())

    def describe(self) -> dict[str, Any]:
        """What a plot reports of its colours."""
        return {"color": self.title, "color_range": [self.low, self.high], "without_value": self.without()}

    def sentence(self) -> str:
        """The colours in words."""
        low, high = figures.short_number(self.low), figures.short_number(self.high)
        return f"Coloured by {self.title} from {low} to {high}."


Colouring = Groups | Scale | None


def colouring(table: Table, name: str) -> Groups | Scale:
    """How a column colours rows: text, a `cluster` and a few whole numbers are groups, other numbers a scale."""
    column = numeric(table, name) if name in table.qualifiers else table.frame.get_column(name)
    is_few = column.drop_nulls().n_unique() <= FEW_INTEGERS or name.casefold().startswith("cluster")
    if not column.dtype.is_numeric() or (column.dtype.is_integer() and is_few):
        return grouping(table, name)
    return _scale(table, column)


def grouping(table: Table, name: str) -> Groups:
    """The groups of a column, whatever its type; past 20 of them the small ones share one colour."""
    import numpy

    column = table.frame.get_column(name)
    counted = column.drop_nulls().value_counts(sort=False)
    values, sizes = counted.get_column(column.name).to_list(), counted.get_column("count").to_list()
    is_numeric = column.dtype.is_numeric()
    # Numbers are known by their order; other groups come with the largest first, which is drawn beneath the others.
    order = sorted(range(len(values)), key=lambda i: values[i] if is_numeric else (-sizes[i], str(values[i])))
    shown = order if len(order) <= GROUPS_SHOWN else order[: GROUPS_SHOWN - 1]
    code_of = {values[i]: code for code, i in enumerate(shown)}
    names = [_group_name(values[i]) for i in shown]
    notes = []
    if len(order) > len(figures.OKABE_ITO):
        notes.append(f"{column.name} has {len(order)} groups, more than colours can tell apart")
    rest = len(shown)
    if len(order) > len(shown):
        names.append(f"{len(order) - len(shown)} other groups")
        notes.append(f"the {len(shown)} groups with a colour of their own are followed by one for all others")
    codes = [NO_GROUP if value is None else code_of.get(value, rest) for value in column.to_list()]
    colours = _colours(len(shown)) + [figures.OTHER_COLOUR] * (len(names) - len(shown))
    return Groups(column.name, names, numpy.array(codes, dtype=int), colours, tuple(notes))


def _group_name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _colours(count: int) -> list[str]:
    """Distinct colours while there are enough, else steps of a continuous map."""
    if count <= len(figures.OKABE_ITO):
        return list(figures.OKABE_ITO[:count])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    steps = colormaps[figures.CONTINUOUS_MAP]
    return [to_hex(steps(0.97 * code / (count - 1))) for code in range(count)]


def _scale(table: Table, column: pl.Series) -> Scale:
    import numpy

    values = column.cast(float).fill_nan(None).to_numpy()
    title, unit = column.name, table.units.get(column.name)
    finite = values[numpy.isfinite(values)]
    if not len(finite):
        return Scale(title, unit, values, 0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    inner_low, inner_high = (float(value) for value in numpy.percentile(finite, SCALE_PERCENTILES))
    if inner_high > inner_low and high - low > STRETCHED * (inner_high - inner_low):
        ends = " to ".join(figures.short_number(value) for value in (inner_low, inner_high))
        note = f"colours run from the 2nd to the 98th percentile of {column.name}: {ends}"
        return Scale(title, unit, values, inner_low, inner_high, (note,))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return Scale(title, unit, values, low, high)
