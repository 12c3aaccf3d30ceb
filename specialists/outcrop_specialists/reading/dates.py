"""Reads dates that are not ISO: which of two numbers is the day follows from all values of the file, or stays open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcrop_specialists.reading.plain import all_match

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.types import Typed

Order = Literal["day first", "month first"]
_CLOCK = r"(?:[ T]([0-9]{1,2}:[0-9]{2})(:[0-9]{2})?)?"
NUMBERS = rf"^([0-9]{{1,2}})([/.\-])([0-9]{{1,2}})[/.\-]([0-9]{{4}}){_CLOCK}$"
YEAR_FIRST = r"^([0-9]{4})[/.]([0-9]{1,2})[/.]([0-9]{1,2})$"
NAMED_MONTH = r"^([0-9]{1,2})[ \-](?i:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?[ \-]([0-9]{4})$"
FIRST_DAY_NO_MONTH = 13
TRIED_VALUES = 100


@dataclass(frozen=True)
class DateOrders:
    """For the columns that hold dates in numbers: the order that a column's own values prove, or its sisters' do.

    `open` are those for which nothing does, `contradictory` those in which some values prove each order.
    """

    proven: dict[str, Order]
    taken_over: dict[str, Order]
    open: frozenset[str]
    contradictory: frozenset[str]


def find_orders(columns: Sequence[pl.Series]) -> DateOrders:
    """Look at all values of all columns; sisters are columns with the same separator that agree with each other."""
    proven: dict[str, Order] = {}
    contradictory, doubtful = set(), []
    separators: dict[str, str] = {}
    for column in columns:
        first = column.head(TRIED_VALUES).str.strip_chars()
        if not first.str.contains(NUMBERS).any() and (first != "").any():
            continue
        known = column.str.strip_chars()
        known = known.filter((known != "").fill_null(False))
        if not known.head(TRIED_VALUES).str.contains(NUMBERS).any():
            continue
        known = known.filter(known.str.contains(NUMBERS))
        one, other = (known.str.extract(NUMBERS, group).str.to_integer() for group in (1, 3))
        separators[column.name] = str(known.str.extract(NUMBERS, 2)[0])
        has_day_first = bool((one >= FIRST_DAY_NO_MONTH).any())
        has_month_first = bool((other >= FIRST_DAY_NO_MONTH).any())
        if has_day_first and has_month_first:
            contradictory.add(column.name)
        elif has_day_first or has_month_first:
            proven[column.name] = "day first" if has_day_first else "month first"
        elif (one == other).all():
            proven[column.name] = "day first"
        else:
            doubtful.append(column.name)
    taken_over: dict[str, Order] = {}
    for name in doubtful:
        sisters = {order for sister, order in proven.items() if separators[sister] == separators[name]}
        if len(sisters) == 1:
            taken_over[name] = sisters.pop()
    left = frozenset(name for name in doubtful if name not in taken_over)
    return DateOrders(proven, taken_over, left, frozenset(contradictory))


def dates_of(values: pl.Series, known: pl.Series, orders: DateOrders, typed: Typed) -> pl.Series | None:
    """A column of such dates as Date, or Datetime where they have a time of day; None where it holds anything else."""
    if all_match(known, NUMBERS):
        return _in_numbers(values, orders, typed)
    for pattern, shape in ((YEAR_FIRST, "${1}-${2}-${3}"), (NAMED_MONTH, "${3}-${2}-${1}")):
        if all_match(known, pattern):
            plain = values.str.replace(pattern, shape)
            is_named = pattern == NAMED_MONTH
            plain = plain.str.to_titlecase() if is_named else plain
            return _whole(plain.str.to_date("%Y-%b-%d" if is_named else "%Y-%m-%d", strict=False), values, typed)
    return None


def _in_numbers(values: pl.Series, orders: DateOrders, typed: Typed) -> pl.Series | None:
    name = values.name
    order = orders.proven.get(name) or orders.taken_over.get(name)
    if order is None:
        if name in orders.contradictory:
            typed.note("CHECK: dates kept as text, some can only be day first and others only month first", name)
        elif name in orders.open:
            typed.note(
                "CHECK: dates kept as text, which may be day/month/year or month/day/year (no day beyond 12 tells)",
                name,
            )
        return None
    shape = "${4}-${3}-${1}" if order == "day first" else "${4}-${1}-${3}"
    clock = values.str.extract(NUMBERS, 5)
    if clock.null_count() == values.null_count() < len(values):
        seconds = values.str.extract(NUMBERS, 6).fill_null(":00")
        found = (values.str.replace(NUMBERS, shape) + "T" + clock + seconds).str.to_datetime(
            "%Y-%m-%dT%H:%M:%S", time_unit="us", strict=False
        )
    elif clock.null_count() < len(values):
        return None
    else:
        found = values.str.replace(NUMBERS, shape).str.to_date("%Y-%m-%d", strict=False)
    whole = _whole(found, values, typed)
    if whole is not None:
        day = "day/month/year" if order == "day first" else "month/day/year"
        own = "proven by days beyond 12" if name in orders.proven else "as other columns of the file prove"
        typed.note(f"dates read as {day}, {own}", name)
    return whole


def _whole(found: pl.Series, values: pl.Series, typed: Typed) -> pl.Series | None:
    if found.null_count() == values.null_count():
        return found.alias(values.name)
    typed.note("dates kept as text (not all of them exist)", values.name)
    return None
