"""A numeric matrix out of a table: columns taken and transformed, rows that cannot be used counted by reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import choice as of_columns
from outcrop_specialists.tools.base import ToolArguments
from outcrop_specialists.tools.statistics.bounded import named

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

    from outcrop_specialists.reading.tables import Table

    Matrix = NDArray[Any]

Transform = Literal["none", "log10", "ln", "clr"]

NAMES_NOTED = 12
TRANSFORM_HELP = (
    "Applied to the columns first: log10 or ln for skewed positive values such as element concentrations, "
    "clr (centred log-ratio) for compositions."
)


@dataclass(frozen=True)
class Features:
    """Some columns of a table as float64 matrices of shape (rows, columns), in the table's row order.

    `original` is in the table's units, NaN where a value is missing or not finite. `values` is transformed, NaN
    also where the transform is not defined; under clr a row is whole or NaN throughout.
    """

    columns: list[str]
    transform: Transform
    original: Matrix
    values: Matrix
    units: dict[str, str]

    @property
    def is_complete(self) -> Matrix:
        """For each row whether every column has a transformed value."""
        import numpy

        return numpy.asarray(numpy.isfinite(self.values).all(axis=1))

    def only(self, names: list[str]) -> Features:
        """Some of the columns, transformed as they are: under clr still over the whole composition."""
        places = [self.columns.index(name) for name in names]
        units = {name: unit for name, unit in self.units.items() if name in names}
        return Features(list(names), self.transform, self.original[:, places], self.values[:, places], units)

    def left_out(self) -> dict[str, int]:
        """Rows without a full set of values, by their first reason."""
        missing, undefined = self._row_faults()
        return {
            reason: count
            for reason, count in (("missing", int(missing.sum())), ("not_positive", int((undefined & ~missing).sum())))
            if count
        }

    def reasons(self) -> list[str | None]:
        """For each row why it cannot be used, naming the columns; None where it can."""
        import numpy

        texts = numpy.full(len(self.values), "", dtype=object)
        for word, faults in (("missing", self._missing()), ("not positive", self._undefined())):
            part = numpy.full(len(self.values), "", dtype=object)
            for name, fault in zip(self.columns, faults.T, strict=True):
                part[fault] += f"{name}, "
            has_part = part != ""
            texts[has_part] += [f"{word}: {names[:-2]}; " for names in part[has_part]]
        return [text[:-2] or None for text in texts]

    def notes(self) -> list[str]:
        """What was left out and how values were transformed, for a person."""
        notes = []
        missing, undefined = self._row_faults()
        for count, why in (
            (int(missing.sum()), "with a missing value"),
            (int((undefined & ~missing).sum()), "with a value that is not positive (it has no logarithm)"),
        ):
            if count:
                notes.append(
                    f"{count} of {len(self.values)} rows left out: {why} in {named(self.columns, NAMES_NOTED)}"
                )
        if self.transform == "clr":
            notes.append(
                f"clr over the sub-composition of the {len(self.columns)} columns {named(self.columns, NAMES_NOTED)}"
            )
            units = sorted({self.units[name] for name in self.columns if name in self.units})
            if len(units) > 1:
                notes.append(
                    f"the parts of the clr are in different units ({', '.join(units)}); its values shift by it"
                )
        return notes

    def _row_faults(self) -> tuple[Matrix, Matrix]:
        import numpy

        return numpy.asarray(self._missing().any(axis=1)), numpy.asarray(self._undefined().any(axis=1))

    def _missing(self) -> Matrix:
        import numpy

        return numpy.asarray(numpy.isnan(self.original))

    def _undefined(self) -> Matrix:
        import numpy

        if self.transform == "none":
            return numpy.zeros(self.original.shape, dtype=bool)
        found: Matrix = self.original <= 0
        return found


def values_of(table: Table, name: str, field: str) -> Matrix:
    """One column as float64 values of shape (rows,), NaN where a value is missing or not finite.

    Raises ArgumentError, naming `field`, for a column that is not numeric.
    """
    column = of_columns.numeric(table, name, field)
    infinite = column.is_infinite()
    if infinite.any():
        column = column.set(infinite.fill_null(False), None)
    values: Matrix = column.to_numpy()
    return values


def take(table: Table, names: list[str], field: str, transform: Transform = "none") -> Features:
    """The columns `names` (as the table spells them) of a table.

    Raises ArgumentError, naming `field`, for a column that is not numeric.
    """
    import numpy

    original = numpy.full((table.height, len(names)), numpy.nan)
    for position, name in enumerate(names):
        original[:, position] = of_columns.numeric(table, name, field).to_numpy()
    original[~numpy.isfinite(original)] = numpy.nan
    units = {name: table.units[name] for name in names if name in table.units}
    return Features(list(names), transform, original, _transformed(original, transform), units)


def chosen_columns(table: Table, wanted: list[str] | None, field: str = "columns") -> tuple[list[str], list[str]]:
    """The columns asked for; else every numeric one that is a measurement, with notes on those passed over.

    Raises ArgumentError where there is none.
    """
    from outcrop_specialists.columns.coordinates import naming_columns

    if wanted is not None:
        return of_columns.find_columns(table, wanted, field), []
    passed_over = naming_columns(table)
    found = [name for name in of_columns.numeric_columns(table) if name not in passed_over]
    if not found:
        raise ArgumentError(field, f"{table.path.name} has no column of measured numbers; name the columns wanted")
    note = f"not taken unless named (places, identifiers, group labels): {named(list(passed_over), NAMES_NOTED)}"
    return found, [note] if passed_over else []


def free_name(frame: polars.DataFrame, wanted: str) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`… where the table has such a column already."""
    name, number = wanted, 1
    while name in frame.columns:
        number += 1
        name = f"{wanted}_{number}"
    return name


def parameters(arguments: ToolArguments, **resolved: Any) -> dict[str, Any]:
    """What goes into a lineage record: the arguments without the path, with names as the table spells them."""
    return arguments.model_dump(mode="json", exclude={"path"}) | resolved


def _transformed(original: Matrix, transform: Transform) -> Matrix:
    """Logarithms; clr after Aitchison (1986): the logarithm less the row's mean logarithm."""
    import numpy

    if transform == "none":
        return original.copy()
    positive = numpy.where(original > 0, original, numpy.nan)
    if transform == "log10":
        found: Matrix = numpy.log10(positive)
        return found
    logarithms: Matrix = numpy.log(positive)
    return logarithms if transform == "ln" else logarithms - logarithms.mean(axis=1, keepdims=True)
