"""The functions of expressions: all that there are, what they take, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_specialists.expressions.values import (
    NUMBERS,
    Found,
    Kind,
    Value,
    as_float,
    common_kind,
    integer_or_float,
    need,
)

if TYPE_CHECKING:
    import polars as pl

TEXT: frozenset[Kind] = frozenset(("text",))
TRUTH: frozenset[Kind] = frozenset(("boolean",))
DAYS: frozenset[Kind] = frozenset(("date", "time"))
ORDERED: frozenset[Kind] = frozenset((*NUMBERS, *DAYS))
MANY = 500


@dataclass(frozen=True)
class Function:
    """`takes` are the least and the greatest number of operands; `form` shows how it is written."""

    form: str
    takes: tuple[int, int]
    make: Callable[[Found, int, str, Sequence[Value]], Value]


def call(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """What a function makes of its operands. Raises ArgumentError for an unknown one and for wrong operands."""
    function = FUNCTIONS.get(name.lower())
    if function is None:
        found.source.refuse(at, f"there is no function {name}; allowed are {', '.join(FUNCTIONS)}")
    least, most = function.takes
    if not least <= len(operands) <= most:
        found.source.refuse(at, f"{function.form} is how it is written; {len(operands)} operands are given")
    return function.make(found, at, name.lower(), operands)


def _number(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """abs, exp, floor and ceil of a number."""
    import polars as pl

    value = need(found, operands[0], NUMBERS, name)
    if name == "exp":
        return Value(as_float(value).exp(), "number", at)
    if value.kind == "integer":
        low, high = value.bounds
        bounds = (0, max(abs(low), abs(high))) if name == "abs" else value.bounds
        return Value(value.expr.abs() if name == "abs" else value.expr, "integer", at, bounds)
    made: dict[str, Callable[[pl.Expr], pl.Expr]] = {"abs": pl.Expr.abs, "floor": pl.Expr.floor, "ceil": pl.Expr.ceil}
    return Value(made[name](as_float(value)), "number", at)


def _logarithm(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """Logarithms and the square root: missing, and counted, where they are not defined."""
    import polars as pl

    value = need(found, operands[0], NUMBERS, name)
    expr = as_float(value)
    is_defined = expr > -1 if name == "log1p" else expr >= 0 if name == "sqrt" else expr > 0
    made: dict[str, Callable[[pl.Expr], pl.Expr]] = {
        "log": pl.Expr.log,
        "ln": pl.Expr.log,
        "log10": lambda e: e.log(10),
        "log2": lambda e: e.log(2),
        "log1p": pl.Expr.log1p,
        "sqrt": pl.Expr.sqrt,
    }
    of = "a negative number" if name == "sqrt" else "a number of -1 or less" if name == "log1p" else "zero or less"
    found.undefined.append((f"{name} of {of} at character {at + 1}", ~is_defined))
    return Value(pl.when(is_defined).then(made[name](expr)), "number", at)


def _round(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    value = need(found, operands[0], NUMBERS, name)
    digits = operands[1].literal if len(operands) > 1 else 0
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15:
        found.source.refuse(operands[1].at, "round takes 0 to 15 decimals, as a whole number")
    found.note("round takes halves to the even neighbour")
    return value if value.kind == "integer" else Value(as_float(value).round(digits), "number", at)


def _clip(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    value, low, high = (need(found, operand, NUMBERS, name) for operand in operands)
    bounds = (min(value.bounds[0], low.bounds[0]), max(value.bounds[1], high.bounds[1]))
    exact = value.expr.clip(low.expr, high.expr)
    floats = as_float(value).clip(as_float(low), as_float(high))
    return integer_or_float(found, at, (value, low, high), exact, floats, bounds)


def _extreme(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """min and max: of a column where one operand is given, else row by row over what is not missing."""
    import polars as pl

    kind = common_kind(found.source, at, [need(found, operand, ORDERED, name) for operand in operands], name)
    if len(operands) == 1:
        value = operands[0]
        return Value(value.expr.min() if name == "min" else value.expr.max(), value.kind, at, value.bounds)
    across = pl.min_horizontal if name == "min" else pl.max_horizontal
    found.note(f"{name} of several skips missing values")
    parts = [as_float(operand) if kind == "number" else operand.expr for operand in operands]
    return Value(across(parts), kind, at, _union(operands))


def _coalesce(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    import polars as pl

    kind = common_kind(found.source, at, operands, name)
    parts = [as_float(operand) if kind == "number" else operand.expr for operand in operands]
    return Value(pl.coalesce(parts), kind, at, _union(operands))


def _if_else(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """Null where the condition is: polars would take the other branch, and a missing value would get a label."""
    import polars as pl

    condition = need(found, operands[0], TRUTH, "the condition of if_else")
    kind = common_kind(found.source, at, operands[1:], name)
    yes, no = (as_float(operand) if kind == "number" else operand.expr for operand in operands[1:])
    found.remarks.append(("the condition of if_else is unknown (missing values), so is the result", _null(condition)))
    return Value(pl.when(condition.expr).then(yes).when(~condition.expr).then(no), kind, at, _union(operands[1:]))


def _statistic(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """A figure of all rows of the table, missing values left out."""
    value = need(found, operands[0], NUMBERS, name)
    expr = as_float(value)
    if name == "percentile":
        share = operands[1].literal
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 100:
            found.source.refuse(operands[1].at, "percentile takes a number from 0 to 100")
        found.note("percentiles are interpolated linearly (type 7) over all rows with a value")
        return Value(expr.quantile(share / 100, "linear"), "number", at)
    if name == "std":
        found.note("std divides by n - 1, over all rows with a value")
    made = {"mean": expr.mean, "median": expr.median, "std": lambda: expr.std(ddof=1), "sum": expr.sum}
    return Value(made[name](), "number", at)


def _text_test(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    """Whether a text contains another, letter by letter: no patterns."""

    value, wanted = (need(found, operand, TEXT, name) for operand in operands)
    if not isinstance(wanted.literal, str) or not wanted.literal:
        found.source.refuse(wanted.at, f"{name} looks for a text in quotes")

    def test(expr: pl.Expr, text: str) -> pl.Expr:
        if name == "contains":
            return expr.str.contains(text, literal=True)
        return expr.str.starts_with(text) if name == "starts_with" else expr.str.ends_with(text)

    made = test(value.expr, wanted.literal)
    folded = test(value.expr.str.to_lowercase(), wanted.literal.lower())
    found.remarks.append((f"{name} {wanted.literal!r} fails for letter case only and counts as failed", folded & ~made))
    return Value(made, "boolean", at)


def _text(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    expr = need(found, operands[0], TEXT, name).expr
    made: dict[str, Any] = {
        "lower": expr.str.to_lowercase,
        "upper": expr.str.to_uppercase,
        "strip": expr.str.strip_chars,
    }
    return Value(made[name](), "text", at)


def _part_of_date(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    import polars as pl

    value = need(found, operands[0], DAYS, name)
    made: dict[str, Any] = {"year": value.expr.dt.year, "month": value.expr.dt.month, "day": value.expr.dt.day}
    return Value(made[name]().cast(pl.Int64), "integer", at, (-(10**6), 10**6))


def _is_null(found: Found, at: int, name: str, operands: Sequence[Value]) -> Value:
    value = operands[0]
    return Value(value.expr.is_null() if name == "is_null" else value.expr.is_not_null(), "boolean", at)


def _null(value: Value) -> pl.Expr:
    return value.expr.is_null()


def _union(values: Sequence[Value]) -> tuple[int, int]:
    return min(value.bounds[0] for value in values), max(value.bounds[1] for value in values)


FUNCTIONS: dict[str, Function] = {
    **{name: Function(f"{name}(number)", (1, 1), _number) for name in ("abs", "exp", "floor", "ceil")},
    **{
        name: Function(f"{name}(number)", (1, 1), _logarithm)
        for name in ("log", "ln", "log10", "log2", "log1p", "sqrt")
    },
    "round": Function("round(number, decimals)", (1, 2), _round),
    "clip": Function("clip(number, low, high)", (3, 3), _clip),
    **{name: Function(f"{name}(column) or {name}(a, b, …)", (1, MANY), _extreme) for name in ("min", "max")},
    "coalesce": Function("coalesce(a, b, …)", (1, MANY), _coalesce),
    "if_else": Function("if_else(condition, a, b)", (3, 3), _if_else),
    "percentile": Function("percentile(column, 0 to 100)", (2, 2), _statistic),
    **{name: Function(f"{name}(column)", (1, 1), _statistic) for name in ("mean", "median", "std", "sum")},
    **{
        name: Function(f"{name}(column, 'text')", (2, 2), _text_test)
        for name in ("contains", "starts_with", "ends_with")
    },
    **{name: Function(f"{name}(text)", (1, 1), _text) for name in ("lower", "upper", "strip")},
    **{name: Function(f"{name}(date)", (1, 1), _part_of_date) for name in ("year", "month", "day")},
    **{name: Function(f"{name}(value)", (1, 1), _is_null) for name in ("is_null", "not_null")},
}
"""`between(value, low, high)` is written out by `compiling.py`, as two comparisons."""
