"""What the parts of an expression are while it is compiled: a polars expression with its kind and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from outcrop_specialists.expressions.tokens import LARGEST, Source

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

Kind = Literal["integer", "number", "text", "boolean", "date", "time", "null"]
NUMBERS: frozenset[Kind] = frozenset(("integer", "number", "null"))
SAID: dict[Kind, str] = {
    "integer": "a number",
    "number": "a number",
    "text": "text",
    "boolean": "true or false",
    "date": "a date",
    "time": "a time",
    "null": "null",
}


@dataclass(frozen=True)
class Value:
    """One part: its `expr`, its place in the text, the name of the column where it is one.

    `bounds` hold every value that an integer part can take: what could leave 64 bits is computed with floats.
    """

    expr: pl.Expr
    kind: Kind
    at: int
    bounds: tuple[int, int] = (0, 0)
    column: str | None = None
    literal: Any = None

    @property
    def said(self) -> str:
        return f"{SAID[self.kind]}{f' (column {self.column!r})' if self.column else ''}"


@dataclass
class Found:
    """What is gathered while an expression is compiled.

    `columns` are the columns used, as series by the internal names under which expressions have them (a name such as
    `^.*$` would be taken for a pattern by polars); `counted` gives, for what a sentence says, the rows it is true of.
    """

    table: Table
    source: Source
    columns: dict[str, pl.Series] = field(default_factory=dict)
    names: dict[str, Value] = field(default_factory=dict)
    undefined: list[tuple[str, pl.Expr]] = field(default_factory=list)
    remarks: list[tuple[str, pl.Expr]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def as_float(value: Value) -> pl.Expr:
    import polars as pl

    return value.expr.cast(pl.Float64)


def integer_or_float(
    found: Found, at: int, parts: Sequence[Value], expr: pl.Expr, floats: pl.Expr, bounds: tuple[int, int]
) -> Value:
    """`expr` where all parts are integers and the result stays within 64 bits, else `floats`."""
    if any(part.kind != "integer" for part in parts):
        return Value(floats, "number", at)
    if max(map(abs, bounds)) > LARGEST:
        found.note(f"computed with 64-bit floats at character {at + 1}: integers could leave 64 bits there")
        return Value(floats, "number", at)
    return Value(expr, "integer", at, bounds)


def common_kind(source: Source, at: int, values: Sequence[Value], what: str) -> Kind:
    """The kind that all values have; integers beside decimals are numbers, null is of any kind."""
    kinds = {value.kind for value in values} - {"null"}
    if not kinds:
        return "null"
    if kinds == {"integer", "number"}:
        return "number"
    if len(kinds) > 1:
        source.refuse(at, f"{what} mixes {' and '.join(sorted({value.said for value in values}))}")
    return kinds.pop()


def need(found: Found, value: Value, kinds: frozenset[Kind], what: str) -> Value:
    """The value, if it is of one of these kinds; `what` says who needs it."""
    if value.kind in kinds or value.kind == "null":
        return value
    wanted = " or ".join(sorted({SAID[kind] for kind in kinds if kind != "null"}))
    reason = f"{what} needs {wanted}, not {value.said}"
    if "number" in kinds and value.kind == "text":
        reason += f"; {why_no_number(found, value)}"
    if kinds == frozenset(("boolean",)):
        reason += "; compare it with something"
    found.source.refuse(value.at, reason)


def why_no_number(found: Found, value: Value) -> str:
    """What to do about text that stands where a number belongs."""
    if value.column is None:
        return "text is never taken as a number"
    from outcrop_schemas.errors import ArgumentError
    from outcrop_specialists.columns.choice import numeric

    try:
        numeric(found.table, value.column)
    except ArgumentError as error:
        return f"{error.reason}; convert_types makes numbers of text"
    return "text is never taken as a number"
