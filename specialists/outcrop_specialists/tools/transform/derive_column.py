"""Tool: adds columns that are computed from others by expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.expressions.computing import ALLOWED, Computed, compute
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

NAME_CHARS = 200
MOST = 50


class Derived(ToolArguments):
    """One new column."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, description="Name of the new column.")
    expression: str = Field(description="What it is computed by.")
    unit: str | None = Field(default=None, max_length=40, description="Unit of the new column.")


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    name: str | None = Field(
        default=None, min_length=1, max_length=NAME_CHARS, description="Name of the new column, such as Vsh."
    )
    expression: str | None = Field(default=None, description=f"What it is computed by. {ALLOWED}")
    unit: str | None = Field(default=None, max_length=40, description="Unit of the new column.")
    derived: list[Derived] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST,
        description="Several new columns instead, in order; a later one may use an earlier one.",
    )
    replace: bool = Field(default=False, description="Whether a column that has the name already is replaced.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Missing where a value needed is missing, or where the result is not defined (counted).

    Raises ArgumentError for an expression that cannot be computed, naming the place, and for a name that is taken.
    """
    table = read_table(context, arguments.path)
    current, records, notes = table, {}, []
    for number, each in enumerate(_wanted(arguments)):
        field = "expression" if arguments.derived is None else f"derived.{number}.expression"
        if not arguments.replace:
            made.refuse_taken(current.frame, each.name, field.replace("expression", "name"))
        context.report(f"computing {each.name}", number, None)
        found = compute(current, each.expression, field)
        current = _with(current, each, found.values)
        records[each.name] = _record(found)
        notes += [f"{each.name}: {note}" for note in found.notes]
    published = publish_table(
        context, TOOL, current, arguments, current.frame, f"{table.path.name} with {bounded.named(list(records))}"
    )
    told, more = bounded.fitting(records, made.SHOWN_CHARS)
    results: dict[str, Any] = {"rows": current.frame.height, "derived": told}
    if more:
        results["more"] = f"{more} more in {published.artifact.path}"
    results["path"] = published.artifact.path
    name, first = next(iter(records.items()))
    return ToolResult(
        _told(name, first, len(records), current.frame.height), results, [published.artifact], [*table.notes, *notes]
    )


def _wanted(arguments: Arguments) -> list[Derived]:
    if arguments.derived is not None:
        if arguments.name is not None or arguments.expression is not None:
            raise ArgumentError("derived", "give name and expression, or derived, not both")
        return arguments.derived
    if arguments.name is None or arguments.expression is None:
        raise ArgumentError("name" if arguments.name is None else "expression", "is needed")
    return [Derived(name=arguments.name, expression=arguments.expression, unit=arguments.unit)]


def _with(table: Table, each: Derived, values: pl.Series) -> Table:
    """The table with the new column, which has no unit and no qualifiers but its own."""
    units = {name: unit for name, unit in table.units.items() if name != each.name}
    qualifiers = {name: q for name, q in table.qualifiers.items() if each.name not in (name, q)}
    substituted = {name: method for name, method in table.substituted.items() if name in qualifiers}
    if each.unit:
        units[each.name] = each.unit
    frame = table.frame.with_columns(values.alias(each.name))
    return replace(table, frame=frame, units=units, qualifiers=qualifiers, substituted=substituted)


def _record(found: Computed) -> dict[str, Any]:
    """What the new column holds."""
    values = found.values
    record: dict[str, Any] = {"missing": values.null_count()}
    if found.undefined:
        record["undefined"] = sum(found.undefined.values())
    if found.kind in ("integer", "number"):
        return {**record, "min": values.min(), "mean": values.mean(), "max": values.max()}
    if found.kind == "boolean":
        return {**record, "true": int(values.sum() or 0)}
    if found.kind == "text":
        return {**record, "distinct": values.drop_nulls().n_unique()}
    return {**record, "first": str(values.min()), "last": str(values.max())}


def _told(name: str, record: dict[str, Any], count: int, rows: int) -> str:
    told = f"{bounded.named([name])} computed for {rows - record['missing']} of {rows} rows"
    if record.get("mean") is not None:
        told += f", from {record['min']:.6g} to {record['max']:.6g}, mean {record['mean']:.6g}"
    if "true" in record:
        told += f", true in {record['true']}"
    return told + (f"; {count - 1} more columns" if count > 1 else "")


TOOL = Tool(
    name="derive_column",
    version=1,
    description="Adds columns computed from others by an expression (arithmetic, logarithms, conditions, percentiles "
    "of a column, parts of dates), for example a shale volume, a ratio or a class, and writes the table.",
    asked_for=(
        "derive new column",
        "derive",
        "compute a new column",
        "calculate a new column",
        "add a new column",
        "column from an expression",
        "evaluate a formula",
        "apply a formula",
        "shale volume",
        "linear shale volume",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        formula; equation; new variable; calculated field; computed field; arithmetic on columns; sum of several
        columns per row; difference between two columns; product of two columns; index of alteration; weathering
        index; CIA; mg number; alteration index; magnesium number; oxide to element factor; if-then-else class;
        conditional flag; extract the year or month from a date; interval length from depths; shale volume from
        gamma; clay fraction; porosity from density; water saturation; total alkalis; ionic balance; hardness
        from calcium and magnesium; apply an expression; row-wise calculation; metal equivalent; copper
        equivalent grade; add a field; work out for each sample; user-defined function of columns; net smelter
        return; concatenate two text columns; multiply grade by thickness for each row; season from the month;
        calculate an expression per sample; hardness of water out of Ca and Mg; label rows as oxidised or fresh
        by a rule; gold equivalent; prices; combine columns by a formula; add up the oxides; total of elements
        for each row; thickness from top and bottom; new field by a rule; if this then that; label rows when;
        otherwise; subtract one column from another; multiply two columns; square root; mark rows by several
        conditions; index from several elements; factor times; midpoint of the interval; age in years from a
        date; assign a class by conditions; compute per sample; calculation with columns; mass balance; sum of
        rare earths; recovery; convert by a formula; saturation index
        """
    ),
)
