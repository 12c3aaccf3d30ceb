"""Gives text columns their types, each decided by all values of the column and never by the first rows.

A column is numeric only if every value is a number. What could be a code (leading zeros, `1E2`, more than 64 bits)
stays text, because a code taken for a number is lost and a number kept as text is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from outcrop_specialists.columns.censored import PLAIN_NUMBER
from outcrop_specialists.reading.dates import DateOrders, dates_of, find_orders
from outcrop_specialists.reading.plain import all_match, plain_numbers, side_by_side
from outcrop_specialists.reading.points import note_two_readings
from outcrop_specialists.reading.times import ISO_TIME, times_of

if TYPE_CHECKING:
    import polars as pl

NUMBER = PLAIN_NUMBER
INTEGER = r"^[+-]?[0-9]+$"
LEADING_ZERO = r"^[+-]?0[0-9]+$"
CODE_WITH_EXPONENT = r"^[0-9]+[eE][0-9]+$"
"""Software writes exponents with a sign or a point (1e+05, 1.0E5); bare digits, E, digits is how codes look."""
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
COMMA_NUMBER = r"^[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?(?:[eE][+-][0-9]+)?$"
COMMA_CERTAIN = r",(?:[0-9]{1,2}|[0-9]{4,})(?:[eE].*)?$|^[+-]?[0-9]{4,},|^[+-]?0,|\..*,"
"""A comma that cannot separate thousands."""

ANY_THOUSANDS = r"^[+-]?(?:[0-9]+(?:\.[0-9]+)?|[0-9]+(?:,[0-9]+)+(?:\.[0-9]+)?)$"
THOUSANDS = r"^[+-]?(?:[0-9]+(?:\.[0-9]+)?|[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?)$"
CERTAIN_THOUSANDS = r",[0-9]{3},|,[0-9]{3}\."
POINT_THOUSANDS = r"^[+-]?[0-9]{1,3}(?:\.[0-9]{3})+$"

Comma = Literal["never", "possible", "certain"]
"""Whether a comma marks decimals in this file."""

NULL_EVERYWHERE = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "-", "–", "—")
NULL_AMONG_NUMBERS = (*NULL_EVERYWHERE, "na", "None", "none", "Null", ".", "--", "#N/A")
EXACT_FLOAT = 2**53
SENTINELS = [-float("9" * digits) for digits in range(1, 10)] + [-999.25, -9999.25]


@dataclass
class Typed:
    """Columns with types, and what was done to get there: note text → the columns concerned, each with detail."""

    columns: list[pl.Series] = field(default_factory=list)
    qualifiers: dict[str, str] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)
    last_qualifiers: pl.Series | None = None
    """Of the column typed last, where it has results beyond a limit."""
    orders: DateOrders | None = None
    units: dict[str, str] = field(default_factory=dict)
    """Of columns whose cells carry their unit."""

    def note(self, text: str, column: str, detail: object = "") -> None:
        self.found.setdefault(text, []).append(f"{column!r} {detail}".strip())

    def take_notes_of(self, other: Typed) -> None:
        for text, where in other.found.items():
            self.found.setdefault(text, []).extend(where)

    def notes(self, shown: int = 8) -> list[str]:
        """One sentence per kind of finding, naming at most `shown` columns and counting the others."""
        sentences = []
        for text, where in self.found.items():
            more = f" and {len(where) - shown} more columns" if len(where) > shown else ""
            sentences.append(f"{text}: {', '.join(where[:shown])}{more}")
        return sentences


def type_columns(
    columns: list[pl.Series],
    *,
    comma_decimals: bool = False,
    units: Mapping[str, str] | None = None,
    limits: Mapping[str, float] | None = None,
) -> Typed:
    """Type text columns. `comma_decimals` says that the file may write 1,5 for 1.5 (fields not separated by commas);
    `units` and `limits` (that results are below) are of columns by name, where the file has a row of them.

    A column with results beyond a limit is followed by its qualifiers.
    """
    from outcrop_specialists.columns.roles import unit_of

    typed = Typed()
    comma: Comma = "never"
    if comma_decimals:
        comma = "certain" if any(map(_has_certain_comma, columns)) else "possible"
    taken = {column.name for column in columns}

    orders = find_orders(columns)

    def of_one(column: pl.Series) -> tuple[pl.Series, Typed]:
        own = Typed(orders=orders)
        of_column = (unit_of(column.name, units or {}), (limits or {}).get(column.name))
        return _type_column(column, own, comma, of_column), own

    for column, own in side_by_side(of_one, columns):
        typed.columns.append(column)
        typed.take_notes_of(own)
        typed.units |= own.units
        if own.last_qualifiers is not None:
            name = _free_name(f"{column.name}_q", taken)
            taken.add(name)
            typed.columns.append(own.last_qualifiers.alias(name))
            typed.qualifiers[column.name] = name
    return typed


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def is_number(column: pl.Series) -> pl.Series:
    """True where a text value is a number after trimming; null stays null."""
    return column.str.strip_chars().str.contains(NUMBER)


def note_sentinels(columns: list[pl.Series], typed: Typed) -> None:
    """Suspect fill values such as -999 in columns where nothing else comes near them; none is ever applied."""
    for column in columns:
        for value, count in sentinels_of(column):
            text = "SUSPECTED fill values, kept as numbers (remove them before computing)"
            typed.note(text, column.name, f"has {int(value) if value % 1 == 0 else value} in {count} rows")


def _type_column(
    column: pl.Series, typed: Typed, comma: Comma, of_column: tuple[str | None, float | None]
) -> pl.Series:
    """The column typed; `of_column` are its unit and limit."""
    from outcrop_specialists.reading.terms import text_column

    plain = plain_numbers(column, EXACT_FLOAT) if comma != "certain" else None
    if plain is not None:
        note_two_readings(column, typed, comma)
        return plain
    bare = column.str.strip_chars()
    blank = (bare == "").fill_null(False)
    bare = bare.set(blank, None)
    filled = bare.drop_nulls()
    if filled.is_empty():
        return bare
    values = bare.set(bare.is_in(NULL_AMONG_NUMBERS).fill_null(False), None)
    known = values.drop_nulls()
    result = values if known.is_empty() else _number_or_date(values, known, typed, comma, of_column)
    if result is None:
        return text_column(column.set(blank, None), bare, typed)
    if len(known) < len(filled):
        typed.note("read as missing", column.name, counted(filled, NULL_AMONG_NUMBERS))
    return result


def _number_or_date(
    values: pl.Series, known: pl.Series, typed: Typed, comma: Comma, of_column: tuple[str | None, float | None]
) -> pl.Series | None:
    from outcrop_specialists.reading.measured import measured_column
    from outcrop_specialists.reading.results import results_column

    if _are_numbers(known, comma):
        return _numbers(values, known, typed, comma)
    found = results_column(values, known, typed, comma, of_column, _numbers)
    if found is not None:
        typed.last_qualifiers = found[1]
        return found[0]
    measured = measured_column(values, known, typed, comma, of_column[0], _numbers)
    if measured is not None:
        return measured
    return _boolean_or_date(values, known, typed)


def _are_numbers(known: pl.Series, comma: Comma) -> bool:
    return bool(
        all_match(known, NUMBER)
        or (comma != "never" and all_match(known, COMMA_NUMBER))
        or all_match(known, ANY_THOUSANDS)
    )


def _numbers(values: pl.Series, known: pl.Series, typed: Typed, comma: Comma) -> pl.Series | None:
    """Texts that are numbers, as numbers; None where they are codes, can be read in two ways or are none."""
    if known.is_empty():
        return None
    if all_match(known, NUMBER):
        return _number_column(values, known, typed, comma)
    if comma != "never" and known.str.contains(COMMA_NUMBER).all():
        return _comma_column(values, known, typed, comma)
    return _thousands_column(values, known, typed, comma) if known.str.contains(ANY_THOUSANDS).all() else None


def _number_column(values: pl.Series, known: pl.Series, typed: Typed, comma: Comma) -> pl.Series | None:
    """The column as integers or floats; None if its values are codes or can be read in two ways."""
    import polars as pl

    reason = _why_code(values) or (_why_ambiguous(values) if comma == "certain" else None)
    if reason:
        typed.note("kept as text", values.name, f"({reason})")
        return None
    note_two_readings(known, typed, comma)
    values, known = values.str.strip_prefix("+"), known.str.strip_prefix("+")
    whole = known.str.contains(INTEGER)
    if whole.all():
        integers = values.cast(pl.Int64, strict=False)
        if integers.null_count() == values.null_count():
            return integers
        typed.note("kept as text", values.name, "(integers beyond 64 bits)")
        return None
    floats = values.cast(pl.Float64, strict=False)
    if floats.null_count() > values.null_count() or floats.is_infinite().any():
        typed.note("kept as text", values.name, "(beyond 64-bit floats)")
        return None
    if (known.filter(whole).cast(pl.Float64).abs() >= EXACT_FLOAT).any():
        typed.note("kept as text", values.name, "(long integers beside decimals, which would lose digits)")
        return None
    return floats


def _why_code(values: pl.Series) -> str | None:
    """Why numbers look like codes. Beside more numerous decimals, 1e12 is a number as well."""
    zeros = values.str.contains(LEADING_ZERO)
    if zeros.any():
        return f"{zeros.sum()} with leading zeros as in codes, {first_row(zeros)}"
    exponents = values.str.contains(CODE_WITH_EXPONENT)
    if exponents.any() and exponents.sum() >= values.str.contains(".", literal=True).sum():
        return f"{exponents.sum()} with exponents as in codes, {first_row(exponents)}"
    return None


def _why_ambiguous(values: pl.Series) -> str | None:
    """In a file with decimal commas, 1.234 may well be 1234."""
    points = values.str.contains(".", literal=True)
    if points.any() and values.filter(points).str.contains(POINT_THOUSANDS).all():
        return f"points may mark decimals or thousands, {first_row(points)}"
    return None


def first_row(mask: pl.Series) -> str:
    """Where to look. Notes never quote a cell, because they may be read where no row may be shown."""
    return f"first in data row {mask.arg_true()[0] + 1}"


def _comma_column(values: pl.Series, known: pl.Series, typed: Typed, comma: Comma) -> pl.Series | None:
    """Decimal commas as floats; None where 1,234 or 1.234 can be read in two ways."""
    import polars as pl

    has_comma = known.str.contains(",", literal=True).any()
    if not has_comma or not (comma == "certain" or known.str.contains(COMMA_CERTAIN).any()):
        where = first_row(values.str.contains(r"[.,]"))
        typed.note("kept as text", values.name, f"(commas or points may mark decimals or thousands, {where})")
        return None
    typed.note("decimal commas read as decimals", values.name)
    plain = values.str.strip_prefix("+").str.replace_all(".", "", literal=True)
    return plain.str.replace(",", ".", literal=True).cast(pl.Float64)


def _has_certain_comma(column: pl.Series) -> bool:
    if not column.str.contains(",", literal=True).any():
        return False
    bare = column.str.strip_chars()
    return bool((bare.str.contains(COMMA_NUMBER) & bare.str.contains(COMMA_CERTAIN)).any())


def _thousands_column(values: pl.Series, known: pl.Series, typed: Typed, comma: Comma) -> pl.Series | None:
    """1,234 as 1234 where fields are separated by commas or a value proves it (1,234.5 or 1,234,567); else None."""
    has_comma = values.str.contains(",", literal=True)
    proven = known.str.contains(CERTAIN_THOUSANDS).any() and comma != "certain"
    is_whole_column = known.str.contains(THOUSANDS).all()
    if not is_whole_column or not (proven or comma == "never") or _why_code(known):
        typed.note("kept as text", values.name, f"(commas may mark decimals or thousands, {first_row(has_comma)})")
        return None
    plain = values.str.replace_all(",", "", literal=True)
    number = _number_column(plain, plain.drop_nulls(), typed, "never")
    if number is not None:
        typed.note("commas read as separators of thousands", values.name, f"({has_comma.sum()} values)")
    return number


def _boolean_or_date(values: pl.Series, known: pl.Series, typed: Typed) -> pl.Series | None:
    if all_match(known, r"^(?i-u:true|false)$"):
        return values.str.to_lowercase() == "true"
    if all_match(known, ISO_DATE):
        dates = values.str.to_date("%Y-%m-%d", strict=False)
        wrong = dates.is_null() & values.is_not_null()
        if not wrong.any():
            return dates
        told = f"{int(wrong.sum())} of {len(known)}, {first_row(wrong)}"
        typed.note("CHECK: kept as text, because dates do not exist", values.name, f"({told})")
        return None
    if all_match(known, ISO_TIME):
        return _times(values, typed)
    return dates_of(values, known, typed.orders, typed) if typed.orders is not None else None


def _times(values: pl.Series, typed: Typed) -> pl.Series | None:
    times = times_of(values)
    if times is None:
        typed.note("times kept as text (not all of them exist, or some have a zone and some none)", values.name)
    elif str(times.dtype).endswith("'UTC')"):
        typed.note("times with a zone read as UTC", values.name)
    return times


def counted(values: pl.Series, tokens: tuple[str, ...] | list[str]) -> str:
    counts = ((token, int((values == token).sum())) for token in dict.fromkeys(tokens))
    return "(" + ", ".join(f"{count} × {token}" for token, count in counts if count) + ")"


def sentinels_of(column: pl.Series) -> list[tuple[float, int]]:
    """Values of nines (-9, -99, -999, -999.25 ...) and their counts, where all other values lie far from them."""
    import polars as pl

    if not column.dtype.is_numeric():
        return []
    least = column.min()
    if least is None or float(least) > max(SENTINELS):  # type: ignore[arg-type]
        return []
    values = column.drop_nulls()
    # As floats also where they are integers: polars looks for no float among integers, nor for -9 among unsigned ones.
    values = values.cast(pl.Float64)
    hits = values.filter(values.is_in(SENTINELS))
    if hits.is_empty():
        return []
    rest = values.filter(~values.is_in(hits.unique().to_list()))
    lowest = float(rest.min()) if len(rest) else 0.0  # type: ignore[arg-type]
    found = ((float(value), int((hits == value).sum())) for value in hits.unique().sort())
    return [(value, count) for value, count in found if lowest >= 0 or (value <= -999 and lowest > value / 10)]
