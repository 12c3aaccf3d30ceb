"""Computes an expression over a table: a column of values, or the rows that meet a condition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outcrop_specialists.expressions.compiling import compile_tree
from outcrop_specialists.expressions.grammar import parse
from outcrop_specialists.expressions.tokens import Source
from outcrop_specialists.expressions.values import SAID, Found, Kind

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

ALLOWED = (
    "Columns by name, in `backticks` where a name has other signs than letters, digits and _; numbers; 'text'; "
    "+ - * / // % **; < <= > >= == !=; and, or, not, in (…), between … and …, is null; abs round floor ceil exp log "
    "(natural) log10 log2 log1p sqrt clip min max coalesce if_else; percentile(col, 5) mean median std sum min max "
    "of a whole column; contains starts_with ends_with lower upper strip; year month day."
)
"""What an expression may hold, for the description of a tool's argument."""
REMARKS_TOLD = 6


@dataclass(frozen=True)
class Computed:
    """`values` has the table's length; `undefined` counts rows by what was not defined there and is missing now."""

    values: pl.Series
    kind: Kind
    columns: list[str]
    undefined: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def compute(table: Table, text: str, field: str = "expression") -> Computed:
    """The value of an expression for every row.

    Raises ArgumentError, naming `field`, the place in the text and what is allowed there.
    """
    import polars as pl

    source = Source(text, field)
    found = Found(table, source)
    made = compile_tree(found, parse(source))
    if made.kind == "null":
        source.refuse(0, "is missing in every row")
    frame = pl.DataFrame({"row": pl.int_range(table.frame.height, eager=True), **found.columns})
    values = frame.select("row", made.expr.alias("value")).get_column("value")
    counts = _counts(frame, found)
    undefined = {label: count for label, count in counts[: len(found.undefined)] if count}
    if values.dtype.is_float():
        is_finite = values.is_finite().fill_null(True)
        if not is_finite.all():
            undefined["result beyond 64-bit floats"] = int((~is_finite).sum())
            values = values.set(~is_finite, None)
    notes = [f"{count} rows: {label}; missing there" for label, count in undefined.items()]
    notes += [f"{count} rows: {label}" for label, count in counts[len(found.undefined) :] if count][:REMARKS_TOLD]
    return Computed(values, made.kind, list(found.names), undefined, notes + found.notes)


def rows_where(
    table: Table, text: str, field: str = "expression", *, is_dropped: bool = False
) -> tuple[pl.Series, list[str]]:
    """A mask without nulls of the rows for which a condition is true, and notes.

    Rows for which it is unknown, because of missing values, do not meet it; `is_dropped` says that the rows which meet
    it go and the others stay (for the notes). Raises ArgumentError as `compute`, and where it is no condition.
    """
    found = compute(table, text, field)
    if found.kind != "boolean":
        Source(text, field).refuse(0, f"gives {SAID[found.kind]}, not a condition; compare it with something")
    notes = list(found.notes)
    unknown = found.values.null_count()
    if unknown:
        fate = "kept" if is_dropped else "left out"
        notes.append(f"{unknown} rows for which missing values leave the condition unknown are {fate}")
    return found.values.fill_null(False), notes


def _counts(frame: pl.DataFrame, found: Found) -> list[tuple[str, int]]:
    """For each thing said of rows, of how many it is true."""
    said = [*found.undefined, *found.remarks]
    if not said:
        return []
    sums = [expr.fill_null(False).alias(f"n{number}") for number, (_, expr) in enumerate(said)]
    row = frame.select("row", *sums).select(f"n{number}" for number in range(len(said))).sum().row(0)
    return [(label, int(count)) for (label, _), count in zip(said, row, strict=True)]
