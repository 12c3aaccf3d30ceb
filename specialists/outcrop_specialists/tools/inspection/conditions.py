"""A condition on one column: which rows meet it. Numbers are compared as numbers and text never by the alphabet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import as_written, missing_count, notes_on
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    import polars as pl

Operator = Literal["==", "!=", ">", "<", ">=", "<=", "in", "not_in", "contains", "is_null", "not_null", "between"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
Scalar = bool | int | float | str
Value = Scalar | list[Scalar] | None

NEAR = 1e-6
"""Relative distance within which a number is said to nearly equal another; 32-bit floats differ by 6e-8."""

ORDER: dict[str, Callable[[Any, Any], Any]] = {
    ">": lambda column, value: column > value,
    "<": lambda column, value: column < value,
    ">=": lambda column, value: column >= value,
    "<=": lambda column, value: column <= value,
}


def rows_that_meet(
    table: Table, column: str, operator: Operator, value: Value, *, is_dropped: bool = False
) -> tuple[pl.Series, list[str]]:
    """A mask without nulls, and notes on missing values. `column` is an existing name.

    Missing values meet `is_null`, `!=` and `not_in`, and no other condition. `is_dropped` says that the rows which
    meet it go and the others stay (for the notes). Raises ArgumentError where the value does not fit the operator or
    the column.
    """
    series = table.column(column)
    missing = missing_count(table, column)
    if operator in ("is_null", "not_null"):
        if value is not None:
            raise ArgumentError("value", f"{operator} takes no value")
        return _is_null(table, column) if operator == "is_null" else ~_is_null(table, column), []
    notes = []
    if column in table.qualifiers:
        if operator == "contains" or _names_a_limit(value):
            series = as_written(table, column)
        else:
            series = numeric(table, column)
            notes += notes_on(table, [column])
    if missing:
        fate = "kept" if (operator in ("!=", "not_in")) != is_dropped else "left out"
        notes.append(f"{missing} rows with a missing {column!r} are {fate}")
    if operator == "contains":
        return _contains(series, value), notes
    if operator in ORDER:
        return _compare(table, column, operator, _one(operator, value)).fill_null(False), notes
    if operator == "between":
        low, high = _two(value)
        _refuse_reversed(table.column(column), low, high)
        notes.append("between includes both ends")
        return (_compare(table, column, ">=", low) & _compare(table, column, "<=", high)).fill_null(False), notes
    values = _several(value) if operator in ("in", "not_in") else [_one(operator, value)]
    mask, more = _is_one_of(series, values)
    return (~mask if operator in ("!=", "not_in") else mask), notes + more


def _is_null(table: Table, column: str) -> pl.Series:
    """A result below a limit that is not given has no number but is not missing."""
    series = table.column(column)
    return as_written(table, column).is_null() if column in table.qualifiers else series.is_null()


def _names_a_limit(value: Value) -> bool:
    """Whether values are asked for as they are written in a column of results: `<0.01`."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(each, str) and each.lstrip()[:1] in ("<", ">", "~") for each in values)


def _contains(series: pl.Series, value: Value) -> pl.Series:
    import polars as pl

    if series.dtype != pl.String:
        raise ArgumentError("operator", f"contains needs a text column; {series.name!r} holds {series.dtype} values")
    if not isinstance(value, str) or not value:
        raise ArgumentError("value", "contains needs the text to look for")
    # Not to_lowercase: only casefolding both sides finds STRASSE in Straße.
    distinct = series.drop_nulls().unique()
    hits = [text for text in distinct if value.casefold() in text.casefold()]
    return series.is_in(hits).fill_null(False)


def _compare(table: Table, column: str, operator: str, value: Scalar) -> pl.Series:
    series = table.column(column)
    if series.dtype.is_temporal():
        return _mask(ORDER[operator](_instants(series), _as_time(series, value)))
    if series.dtype.is_integer() and isinstance(value, int) and not isinstance(value, bool):
        return _compare_integers(series, operator, value)
    return _mask(ORDER[operator](numeric(table, column, "column"), _as_number(column, value)))


def _compare_integers(series: pl.Series, operator: str, value: int) -> pl.Series:
    """Exact, also where the value lies beyond what the column's type can hold (300 beside 8 bits)."""
    low, high = _range_of(series)
    if low <= value <= high:
        return _mask(ORDER[operator](series, value))
    meets = (value < low) == (operator in (">", ">="))
    return series.is_not_null() & meets


def _range_of(series: pl.Series) -> tuple[int, int]:
    """The least and the greatest integer of the column's type."""
    kind = str(series.dtype)
    bits = int(kind.lstrip("UInt"))
    return (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _mask(found: Any) -> pl.Series:
    return found  # type: ignore[no-any-return]


def _is_one_of(series: pl.Series, values: Sequence[Scalar]) -> tuple[pl.Series, list[str]]:
    import polars as pl

    if series.dtype == pl.Boolean:
        wanted: list[Any] = [_as_bool(series.name, value) for value in values]
    elif series.dtype.is_temporal():
        times = pl.Series([_as_time(series, value) for value in values])
        return _instants(series).is_in(times.cast(_instants(series).dtype).implode()).fill_null(False), []
    elif series.dtype.is_numeric():
        return _equals_number(series, [_as_number(series.name, value) for value in values])
    else:
        wanted = [_as_text(value) for value in values]
    mask = series.is_in(wanted).fill_null(False)
    return mask, _near_misses(series, wanted, mask) if series.dtype == pl.String else []


def _equals_number(series: pl.Series, values: Sequence[float]) -> tuple[pl.Series, list[str]]:
    """Numbers are compared exactly; say how many lie next to a value, as 32-bit floats written out in full do."""
    import polars as pl

    mask = pl.Series(series.name, [False] * len(series))
    for value in values:
        # Whole numbers are compared as such: as floats, neighbours beyond 2^53 would be equal.
        exact = int(value) if series.dtype.is_integer() and value % 1 == 0 else value
        if isinstance(exact, float) or not series.dtype.is_integer() or _holds(series, exact):
            mask |= (series == exact).fill_null(False)
    return mask, [_nearly(series, value) for value in values if _near(series, value).any()]


def _holds(series: pl.Series, value: int) -> bool:
    low, high = _range_of(series)
    return low <= value <= high


def _near(series: pl.Series, value: float) -> pl.Series:
    """Rows of a float column that do not equal the value but are within a millionth of it."""
    import polars as pl

    if not series.dtype.is_float():
        return pl.Series([False])
    return ((series - value).abs() <= NEAR * abs(value)).fill_null(False) & (series != value).fill_null(False)


def _nearly(series: pl.Series, value: float) -> str:
    low, high = sorted((value * (1 - NEAR), value * (1 + NEAR)))
    return (
        f"{int(_near(series, value).sum())} values of {series.name!r} are within a millionth of {value} without "
        f"equalling it and count as different; between [{low!r}, {high!r}] selects them too"
    )


def _near_misses(series: pl.Series, wanted: Sequence[str], mask: pl.Series) -> list[str]:
    """Text is compared exactly; say what would differ only in case or outer blanks."""
    folded = {text.strip().casefold() for text in wanted}
    others = series.filter(~mask).drop_nulls()
    close = [text for text in others.unique().sort() if text.strip().casefold() in folded]
    if not close:
        return []
    count = int(others.is_in(close).sum())
    return [f"{count} rows differ only in case or outer blanks from what is asked for and count as different"]


def _one(operator: str, value: Value) -> Scalar:
    if value is None or isinstance(value, list):
        raise ArgumentError("value", f"{operator} needs one value")
    return value


def _two(value: Value) -> tuple[Scalar, Scalar]:
    if not isinstance(value, list) or len(value) != 2:
        raise ArgumentError("value", "between needs a list of two values, the lower first")
    return value[0], value[1]


def _refuse_reversed(series: pl.Series, low: Scalar, high: Scalar) -> None:
    if series.dtype.is_temporal():
        is_reversed = _as_time(series, low) > _as_time(series, high)
    else:
        is_reversed = _as_number(series.name, low) > _as_number(series.name, high)
    if is_reversed:
        raise ArgumentError("value", f"between needs the lower value first, {low!r} is greater than {high!r}")


def _several(value: Value) -> list[Scalar]:
    if value is None or value == []:
        raise ArgumentError("value", "in and not_in need a list of values")
    return value if isinstance(value, list) else [value]


def _as_number(column: str, value: Scalar) -> float:
    if isinstance(value, bool):
        raise ArgumentError("value", f"{column!r} holds numbers; {value} is not one")
    if isinstance(value, int | float):
        return value
    try:
        return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise ArgumentError("value", f"{column!r} holds numbers; {value!r} is not one") from None


def _as_bool(column: str, value: Scalar) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).casefold() in ("true", "false"):
        return str(value).casefold() == "true"
    raise ArgumentError("value", f"{column!r} holds true and false; {value!r} is neither")


def _as_time(series: pl.Series, value: Scalar) -> Any:
    """A day for a column of dates, else an instant: a day without a time is its first moment.

    An instant without a zone is in the column's zone.
    """
    import polars as pl

    kind = series.dtype
    if not isinstance(kind, pl.Date | pl.Datetime):
        raise ArgumentError("column", f"{series.name!r} holds {kind} values, which cannot be compared; use is_null")
    try:
        if isinstance(kind, pl.Date):
            return date.fromisoformat(str(value))
        found = datetime.fromisoformat(str(value))
    except ValueError:
        wanted = "YYYY-MM-DD" if isinstance(kind, pl.Date) else "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss"
        raise ArgumentError("value", f"{series.name!r} holds dates; write {value!r} as {wanted}") from None
    if kind.time_zone is None:
        if found.tzinfo is not None:
            raise ArgumentError("value", f"{series.name!r} holds times without a zone; write {value!r} without one")
        return found
    if found.tzinfo is not None:
        return found.astimezone(UTC).replace(tzinfo=None)
    local = pl.Series([found]).dt.replace_time_zone(kind.time_zone, ambiguous="earliest", non_existent="null")
    if local.null_count():
        raise ArgumentError("value", f"{value!r} does not exist in the time zone {kind.time_zone} of {series.name!r}")
    return _instants(local).item()


def _instants(series: pl.Series) -> pl.Series:
    """Times with a zone as UTC without one, so that they compare with Python's; other columns as they are."""
    if getattr(series.dtype, "time_zone", None) is None:
        return series
    return series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def _as_text(value: Scalar) -> str:
    """How a value stands in a text column: 34873.0 asks for 34873."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
