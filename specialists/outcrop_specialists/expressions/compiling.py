"""Compiles the tree of an expression to polars, with the same meaning but for what no one means.

Missing values propagate as in polars: an operation with one has none, `and`, `or` know what is certain without it.
Unlike there, what is not defined (a division by zero, the logarithm of zero) is missing and counted, for polars takes
NaN for greater than every number; a condition that is unknown decides nothing. Text is compared with text only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.expressions.functions import TRUTH, call
from outcrop_specialists.expressions.grammar import Column, Comparison, Literal, Membership, Node, Operation
from outcrop_specialists.expressions.values import (
    NUMBERS,
    Found,
    Value,
    as_float,
    integer_or_float,
    need,
    why_no_number,
)

if TYPE_CHECKING:
    import polars as pl

COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SECONDS_A_DAY = 86_400
MICRO = 1_000_000
SPELLED = "differs only in case or outer blanks from what is asked for and counts as different"


def compile_tree(found: Found, node: Node, depth: int = 0) -> Value:
    """The value of a tree. Raises ArgumentError with the place of what does not fit."""
    if depth > limits.EXPRESSION_DEPTH:
        found.source.refuse(node.at, f"is a chain of more than {limits.EXPRESSION_DEPTH} steps; derive a column first")
    if isinstance(node, Literal):
        return _literal(node)
    if isinstance(node, Column):
        return _column(found, node)
    if isinstance(node, Comparison):
        return _comparison(found, node, depth)
    operands = (node.operand,) if isinstance(node, Membership) else node.operands
    values = [compile_tree(found, each, depth + 1) for each in operands]
    if isinstance(node, Membership):
        return _membership(found, node, values[0], depth)
    if not node.is_call:
        return _operation(found, node, values)
    if node.name.lower() == "between":
        if len(values) != 3:
            found.source.refuse(node.at, "between(value, low, high) is how it is written")
        low, high = (_pair(found, node.at, op, values[0], end) for op, end in ((">=", values[1]), ("<=", values[2])))
        found.note("between includes both ends")
        return Value(low & high, "boolean", node.at)
    return call(found, node.at, node.name, values)


def _literal(node: Literal) -> Value:
    import polars as pl

    value = node.value
    if value is None:
        return Value(pl.lit(None), "null", node.at)
    if isinstance(value, bool):
        return Value(pl.lit(value), "boolean", node.at, literal=value)
    if isinstance(value, int):
        return Value(pl.lit(value, pl.Int64), "integer", node.at, (value, value), literal=value)
    if isinstance(value, float):
        return Value(pl.lit(value, pl.Float64), "number", node.at, literal=value)
    return Value(pl.lit(value, pl.String), "text", node.at, literal=value)


def _column(found: Found, node: Column) -> Value:
    import polars as pl

    try:
        name = find_column(found.table, node.name, found.source.field)
    except ArgumentError as error:
        found.source.refuse(node.at, error.reason)
    if name not in found.names:
        inner = f"c{len(found.columns)}"
        series, value = _taken(found, node.at, name, pl.col(inner))
        found.columns[inner] = series
        found.names[name] = value
    known = found.names[name]
    return Value(known.expr, known.kind, node.at, known.bounds, name)


def _taken(found: Found, at: int, name: str, expr: pl.Expr) -> tuple[pl.Series, Value]:
    """A column of the table as expressions take it: integers in 64 bits, censored results by their one rule."""
    import polars as pl

    series = found.table.frame.get_column(name)
    kind = series.dtype
    if kind.is_integer() and name not in found.table.qualifiers:
        low, high = (int(str(end or 0)) for end in (series.min(), series.max()))
        if high < 2**63:
            return series.cast(pl.Int64), Value(expr, "integer", at, (min(low, 0), max(high, 0)))
        found.note(f"{name!r} has integers beyond 64 bits and was taken as floats")
    if kind.is_numeric():
        return numeric(found.table, name, found.source.field), Value(expr, "number", at)
    if kind == pl.String:
        return series, Value(expr, "text", at)
    if kind == pl.Boolean:
        return series, Value(expr, "boolean", at)
    if kind == pl.Date:
        return series, Value(expr, "date", at)
    if isinstance(kind, pl.Datetime):
        # As the clock of the column's zone shows it, as its texts are written.
        return series.dt.replace_time_zone(None).cast(pl.Datetime("us")), Value(expr, "time", at)
    found.source.refuse(at, f"column {name!r} holds {kind} values, which expressions do not take")


def _operation(found: Found, node: Operation, values: Sequence[Value]) -> Value:
    import polars as pl

    name, at = node.name, node.at
    if name == "not":
        return Value(~need(found, values[0], TRUTH, "not").expr, "boolean", at)
    if name in ("and", "or"):
        parts = [need(found, value, TRUTH, name).expr for value in values]
        return Value(pl.all_horizontal(parts) if name == "and" else pl.any_horizontal(parts), "boolean", at)
    if name == "-" and len(values) == 1:
        value = need(found, values[0], NUMBERS, "-")
        bounds = (-value.bounds[1], -value.bounds[0])
        made = integer_or_float(found, at, values, -value.expr, -as_float(value), bounds)
        plain = isinstance(value.literal, int | float) and not isinstance(value.literal, bool)
        return Value(made.expr, made.kind, at, made.bounds, literal=-value.literal if plain else None)
    left, right = values
    if name == "-":
        left, right = _as_time(found, left, right), _as_time(found, right, left)
    kinds = {left.kind, right.kind}
    if name == "+" and kinds == {"text"}:
        return Value(left.expr + right.expr, "text", at)
    if name == "-" and kinds <= {"date", "time"}:
        found.note("the difference of two dates is in days")
        apart = left.expr.cast(pl.Datetime("us")) - right.expr.cast(pl.Datetime("us"))
        return Value(apart.dt.total_microseconds() / (MICRO * SECONDS_A_DAY), "number", at)
    for value in values:
        need(found, value, NUMBERS, name)
    return _arithmetic(found, name, at, left, right)


def _arithmetic(found: Found, name: str, at: int, left: Value, right: Value) -> Value:
    import polars as pl

    first, second = as_float(left), as_float(right)
    if name in ("+", "-", "*"):
        act: Callable[[Any, Any], Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul}[name]
        ends = [act(a, b) for a in left.bounds for b in right.bounds]
        exact = act(left.expr, right.expr)
        return integer_or_float(found, at, (left, right), exact, act(first, second), (min(ends), max(ends)))
    if name == "**":
        power = right.literal
        if isinstance(power, int | float) and abs(power) > limits.EXPRESSION_EXPONENT:
            found.source.refuse(right.at, f"an exponent beyond {limits.EXPRESSION_EXPONENT} is not allowed")
        made = first.pow(second)
        is_undefined = ((first < 0) & (second % 1 != 0)) | ((first == 0) & (second < 0))
        found.undefined.append((f"power that is not defined at character {at + 1}", is_undefined))
        return Value(pl.when(~is_undefined).then(made), "number", at)
    is_zero = second == 0
    found.undefined.append((f"division by zero at character {at + 1}", is_zero & first.is_not_null()))
    if name == "/":
        return Value(pl.when(~is_zero).then(first / second), "number", at)
    divided = left.expr // right.expr if name == "//" else left.expr % right.expr
    floats = first // second if name == "//" else first % second
    most = max(map(abs, left.bounds if name == "//" else right.bounds))
    made_of = integer_or_float(found, at, (left, right), divided, floats, (-most, most))
    return Value(pl.when(~is_zero).then(made_of.expr), made_of.kind, at, made_of.bounds)


def _comparison(found: Found, node: Comparison, depth: int) -> Value:
    import polars as pl

    values = [compile_tree(found, each, depth + 1) for each in node.operands]
    pairs = zip(node.operators, values, values[1:], strict=False)
    tests = [_pair(found, node.at, op, left, right) for op, left, right in pairs]
    return Value(tests[0] if len(tests) == 1 else pl.all_horizontal(tests), "boolean", node.at)


def _pair(found: Found, at: int, op: str, left: Value, right: Value) -> pl.Expr:
    """One comparison. Both sides are of one kind; a day or time may be written as text."""
    if "null" in (left.kind, right.kind):
        found.source.refuse(at, "nothing equals null; write is null or is not null")
    left, right = _as_time(found, left, right), _as_time(found, right, left)
    compare = COMPARED[op]
    if left.kind == right.kind == "integer":
        return compare(left.expr, right.expr)  # type: ignore[no-any-return]
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return compare(as_float(left), as_float(right))  # type: ignore[no-any-return]
    kinds = {left.kind, right.kind}
    if len(kinds) > 1 and kinds != {"date", "time"}:
        _refuse_kinds(found, at, left, right)
    if kinds <= {"text", "boolean"} and op not in ("==", "!="):
        found.source.refuse(at, f"{op} would compare {left.said} by the alphabet; use == or !=, or compare numbers")
    if kinds == {"text"}:
        _remark_spellings(found, left, right)
    return compare(left.expr, right.expr)  # type: ignore[no-any-return]


def _refuse_kinds(found: Found, at: int, left: Value, right: Value) -> None:
    reason = f"{left.said} is compared with {right.said}"
    text = next((value for value in (left, right) if value.kind == "text"), None)
    if text is not None and {left.kind, right.kind} & {"integer", "number"}:
        if text.literal is not None:
            reason += "; a number is written without quotes"
        else:
            reason += f"; write '…' in quotes to compare text, or make numbers of it: {why_no_number(found, text)}"
    found.source.refuse(at, reason)


def _remark_spellings(found: Found, left: Value, right: Value) -> None:
    """Text is compared exactly; count what differs from a text only in case or outer blanks."""
    for column, text in ((left, right), (right, left)):
        if column.column is not None and isinstance(text.literal, str):
            folded = column.expr.str.strip_chars().str.to_lowercase() == text.literal.strip().lower()
            found.remarks.append((f"{column.column!r} {SPELLED}", folded & (column.expr != text.literal)))


def _as_time(found: Found, value: Value, other: Value) -> Value:
    """A text beside a date or time as such."""
    import polars as pl

    if other.kind not in ("date", "time") or not isinstance(value.literal, str):
        return value
    try:
        is_day = len(value.literal) == 10
        moment = date.fromisoformat(value.literal) if is_day else datetime.fromisoformat(value.literal)
    except ValueError:
        found.source.refuse(value.at, f"{other.said} is compared with it; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ss")
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        found.source.refuse(value.at, "write the time without a zone: columns are compared by the clock of their zone")
    is_time = other.kind == "time" or not is_day
    return Value(pl.lit(moment, pl.Datetime("us") if is_time else pl.Date), "time" if is_time else "date", value.at)


def _membership(found: Found, node: Membership, value: Value, depth: int) -> Value:
    """`in` compares with each value of the list as `==` does."""
    import polars as pl

    others = [compile_tree(found, each, depth + 1) for each in node.values]
    remarks = len(found.remarks)
    tests = []
    for other in others:
        if other.literal is None:
            found.source.refuse(other.at, "a list holds numbers, texts or dates, written out")
        tests.append(_pair(found, other.at, "==", value, other))
    del found.remarks[remarks:]
    listed = [other.literal for other in others]
    if value.kind == "text":
        is_in = value.expr.is_in(listed)
        if value.column is not None:
            folded = value.expr.str.strip_chars().str.to_lowercase().is_in([text.strip().lower() for text in listed])
            found.remarks.append((f"{value.column!r} {SPELLED}", folded & ~is_in))
    elif value.kind in ("integer", "number"):
        whole = value.kind == "integer" and all(isinstance(number, int) for number in listed)
        values = pl.Series(listed, dtype=pl.Int64 if whole else pl.Float64, strict=False)
        is_in = (value.expr if whole else as_float(value)).is_in(values.implode())
    else:
        is_in = pl.any_horizontal(tests)
    return Value(~is_in if node.is_negated else is_in, "boolean", node.at)
