"""Tool: converts columns to other units, all values or those that were given in another unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.columns.unit_factors import Conversion, conversion
from outcrop_specialists.columns.units import is_same_unit, split_unit
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table

if TYPE_CHECKING:
    import polars as pl

COLUMNS_SHOWN = 4
UNITS_SHOWN = 8
NAMES_SHOWN = 5


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to convert.", json_schema_extra={"x-role": "columns"}
    )
    to_units: list[str] = Field(
        min_length=1, description="Units wanted: one for all columns, or one for each, such as ppm, µS/cm, mg/L, m."
    )
    from_units: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Units that the values to convert are in: one for all columns or one for each; not needed where "
        "the table tells the units or unit_column does.",
    )
    unit_column: str | None = Field(
        default=None,
        description="Column that gives the unit of each row, where units differ from row to row.",
        json_schema_extra={"x-role": "column"},
    )
    cut_column: str | None = Field(
        default=None,
        description="For columns in two units: the column whose values tell the rows to convert; each column itself "
        "where not given.",
        json_schema_extra={"x-role": "column"},
    )
    below: float | None = Field(default=None, description="Convert only rows where the cut column is below this.")
    above: float | None = Field(default=None, description="Convert only rows where the cut column is above this.")


@dataclass(frozen=True)
class _Converted:
    """The new values of a column and how they came about; `same` counts values that were in the wanted unit."""

    values: pl.Series
    told: str
    counts: dict[str, Any]
    notes: tuple[str, ...] = ()


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Limits of results below or above one are converted with them. Units known by the table follow; a unit in a
    column's name is not rewritten, which a note says.

    Raises ArgumentError for a unit that is not known or measures another quantity.
    """
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns)
    wanted = _one_each(arguments.to_units, names, "to_units")
    given = _one_each(arguments.from_units, names, "from_units") if arguments.from_units else [None] * len(names)
    _check_rows(arguments)
    units = dict(table.units)
    frame, notes, told, counts = table.frame, list(table.notes), [], {}
    named_otherwise = []
    for name, to, old in zip(names, wanted, given, strict=True):
        done = _converted(table, name, to, old, arguments)
        frame = frame.with_columns(done.values)
        units[name] = to
        told.append(done.told)
        counts[name] = done.counts
        notes += done.notes
        named = split_unit(name)[1]
        if named and not is_same_unit(named, to):
            named_otherwise.append(f"{name!r} (in {to})")
    if named_otherwise:
        more = len(named_otherwise) - NAMES_SHOWN
        shown = ", ".join(named_otherwise[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
        notes.append(f"names that still tell the unit before: {shown}")
    what = ", ".join(names[:NAMES_SHOWN]) + (f" and {len(names) - NAMES_SHOWN} more" * (len(names) > NAMES_SHOWN))
    title = f"{table.path.name} with {what} converted"
    made = replace(table, frame=frame, units=units)
    published = publish_table(context, TOOL, made, arguments, frame, title)
    return ToolResult(
        summary="; ".join(told[:COLUMNS_SHOWN]) + (f"; {len(told) - COLUMNS_SHOWN} more" * (len(told) > COLUMNS_SHOWN)),
        results={
            "rows": frame.height,
            "columns": dict(list(counts.items())[:COLUMNS_SHOWN]),
            "more_columns": max(0, len(counts) - COLUMNS_SHOWN),
            "path": published.artifact.path,
        },
        artifacts=[published.artifact],
        notes=notes,
    )


def _converted(table: Table, name: str, to: str, old: str | None, arguments: Arguments) -> _Converted:
    import polars as pl

    numeric(table, name, "columns")  # raises for what is not numeric
    values = table.frame.get_column(name).cast(pl.Float64).fill_nan(None)
    if arguments.unit_column is not None:
        return _by_row(table, name, values, to, arguments.unit_column)
    unit = old or unit_of(name, table.units)
    if unit is None:
        raise ArgumentError("from_units", f"the unit of {name!r} is not known from the table; give it")
    change = _change(unit, to, name)
    rows = _rows(table, name, arguments)
    picked = values.is_not_null() & rows
    new = values.zip_with(~picked, values * change.factor + change.offset)
    count = int(picked.sum())
    left = int(values.is_not_null().sum()) - count
    rest = f", {left} taken to be in {to} already" if left else ""
    told = f"{name}: {count} values from {unit} to {to} ({_rule(change)}){rest}"
    return _Converted(
        new.alias(name),
        told,
        {"from": unit, "to": to, "converted": count, "unchanged": left, "factor": change.factor}
        | ({"offset": change.offset} if change.offset else {}),
    )


def _by_row(table: Table, name: str, values: pl.Series, to: str, unit_column: str) -> _Converted:
    import polars as pl

    units = table.frame.get_column(find_column(table, unit_column, "unit_column"))
    if units.dtype != pl.String:
        raise ArgumentError("unit_column", f"{units.name!r} holds {units.dtype} values, not units")
    without = int((values.is_not_null() & units.is_null()).sum())
    if without:
        raise ArgumentError("unit_column", f"{without} values of {name!r} have no unit in {units.name!r}; fill them in")
    new, counts = values, {}
    for unit in units.drop_nulls().unique(maintain_order=True):
        rows = (units == unit).fill_null(False)
        change = _change(unit, to, name)
        new = new.zip_with(~rows, values * change.factor + change.offset)
        counts[unit] = int((rows & values.is_not_null()).sum())
    shown = dict(list(counts.items())[:UNITS_SHOWN])
    told = f"{name}: {', '.join(f'{count} from {unit}' for unit, count in shown.items())} to {to}"
    note = f"the column {units.name!r} still gives the units before; {name!r} is in {to} throughout"
    return _Converted(new.alias(name), told, {"to": to, "converted": shown}, (note,))


def _rows(table: Table, name: str, arguments: Arguments) -> pl.Series:
    """Which rows to convert: all, or those below or above the cut."""
    import polars as pl

    if arguments.below is None and arguments.above is None:
        return pl.Series([True]).new_from_index(0, table.frame.height)
    by = name if arguments.cut_column is None else find_column(table, arguments.cut_column, "cut_column")
    told = numeric(table, by, "cut_column")
    missing = int((told.is_null() & table.frame.get_column(name).is_not_null()).sum())
    if missing:
        raise ArgumentError("cut_column", f"{missing} values of {name!r} lie in rows without a value of {by!r}")
    meets = told < arguments.below if arguments.below is not None else told > arguments.above
    return meets.fill_null(False)


def _check_rows(arguments: Arguments) -> None:
    if arguments.below is not None and arguments.above is not None:
        raise ArgumentError("above", "give below or above, not both: the other rows are taken to be in the wanted unit")
    has_cut = arguments.below is not None or arguments.above is not None
    if arguments.cut_column is not None and not has_cut:
        raise ArgumentError("cut_column", "needs below or above")
    if arguments.unit_column is not None and (has_cut or arguments.from_units):
        raise ArgumentError("unit_column", "tells the units by itself; leave out from_units, below and above")


def _change(unit: str, to: str, name: str) -> Conversion:
    found = conversion(unit, to)
    if found is None:
        raise ArgumentError(
            "to_units",
            f"{name!r}: {unit!r} cannot be converted to {to!r}: one is not known or they measure different things",
        )
    return found


def _rule(change: Conversion) -> str:
    return f"× {change.factor:.15g}" + (f" {change.offset:+.15g}" if change.offset else "")


def _one_each(units: list[str], names: list[str], field: str) -> list[str]:
    if len(units) == 1:
        return units * len(names)
    if len(units) != len(names):
        raise ArgumentError(field, f"{len(units)} units for {len(names)} columns; give one, or one for each column")
    return units


TOOL = Tool(
    name="convert_units",
    version=1,
    description="Converts numeric columns to other units (ppm, %, g/t, mg/L, µS/cm, m, ft, °C …), all values or only "
    "those that are in another unit: by a unit column, or by rows below or above a cut where a column mixes two units.",
    asked_for=(
        "convert units",
        "convert to ppm",
        "convert percent to ppm",
        "change the unit",
        "bring to one unit",
        "harmonise units",
        "harmonize mixed units",
        "feet to metres",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        parts per million; parts per billion; ppb to ppm; weight percent; grams per tonne; ounces per ton; troy
        ounces; feet and inches; imperial to metric; milligrams per litre; micrograms; multiply by 10000;
        fahrenheit to celsius; mixed units in one column; two labs report in different units; rescale to the
        same unit; unit conversion; conversion factor; some values are a thousand times too high; express in;
        depths in feet; change from kilometres to metres; millisiemens; consistent units; pounds; acres; percent
        into grams; the old assays are in another measure; make values comparable between labs; magnitude jumps
        of a factor of ten thousand; old in ppb, new in ppm; depths in metres instead of feet; milligrams to
        mmol; report in another unit; multiply to get ppm; into grams per tonne; from percent; wrong unit; unit
        mismatch; kilometres; celsius; from micro to milli; inches to centimetres; make both in the same unit;
        oxide percent; to weight percent; millimetres; metric; gallons; barrels; ounces
        """
    ),
)
