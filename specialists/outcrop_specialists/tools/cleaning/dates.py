"""Reads dates of which the order of day, month and year is known. Pure functions over columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

Order = Literal["YMD", "DMY", "MDY", "excel_serial"]
ORDERS: tuple[Order, ...] = ("YMD", "DMY", "MDY")

PARTS: dict[Order, str] = {
    "YMD": r"^(?P<y>[0-9]{4})[-/. ](?P<m>[0-9]{1,2}|[A-Za-z]{3,9})[-/. ](?P<d>[0-9]{1,2})",
    "DMY": r"^(?P<d>[0-9]{1,2})[-/. ]+(?P<m>[0-9]{1,2}|[A-Za-z]{3,9})[-/., ]+(?P<y>[0-9]{4}|[0-9]{2})",
    "MDY": r"^(?P<m>[0-9]{1,2}|[A-Za-z]{3,9})[-/. ]+(?P<d>[0-9]{1,2})[-/., ]+(?P<y>[0-9]{4}|[0-9]{2})",
}
COMPACT: dict[Order, str] = {
    "YMD": r"^(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    "DMY": r"^(?P<d>[0-9]{2})(?P<m>[0-9]{2})(?P<y>[0-9]{4})",
    "MDY": r"^(?P<m>[0-9]{2})(?P<d>[0-9]{2})(?P<y>[0-9]{4})",
}
TIME = r"(?:[T ]+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:\s*[AaPp][Mm])?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\s*$"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CENTURY_TURNS_AT = 69
"""Years of two digits: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068, as POSIX has it."""
EXCEL_DAY_ZERO = (1899, 12, 30)
"""Day 1 of a workbook is 1 January 1900, and it has a 29 February 1900 that never was."""


@dataclass(frozen=True)
class Dates:
    """`values` as dates, null where a text is none; rows with years of two digits, and with a time of day dropped."""

    values: pl.Series
    short_years: int
    with_time: int


def dates_of(column: pl.Series, order: Order) -> Dates:
    """The dates of a text column in this order (or of a numeric one, for days of a workbook)."""
    import polars as pl

    if order == "excel_serial":
        days = column.cast(pl.Float64, strict=False)
        day_zero = pl.date(*EXCEL_DAY_ZERO)
        whole = days.floor().cast(pl.Int64, strict=False).set((days < 1).fill_null(False), None)
        values = pl.DataFrame({"d": whole}).select(day_zero + pl.duration(days="d")).to_series()
        return Dates(values.alias(column.name), 0, int((days % 1 != 0).sum()))
    text = column.cast(pl.String).str.strip_chars()
    parts = _parts(text, PARTS[order] + TIME)
    compact = _parts(text, COMPACT[order] + TIME)
    frame = pl.DataFrame({name: parts[name].fill_null(compact[name]) for name in ("y", "m", "d")})
    month = frame["m"].str.to_lowercase().str.slice(0, 3).replace({name: str(n + 1) for n, name in enumerate(MONTHS)})
    short = (frame["y"].str.len_chars() == 2).fill_null(False)
    year = frame["y"].cast(pl.Int32, strict=False)
    late = (year >= CENTURY_TURNS_AT).fill_null(False)
    century = year.zip_with(~short, year + 2000).zip_with(~(short & late), year + 1900)
    iso = (
        century.cast(pl.String).str.zfill(4)
        + "-"
        + month.cast(pl.Int32, strict=False).cast(pl.String).str.zfill(2)
        + "-"
        + frame["d"].str.zfill(2)
    )
    values = iso.str.to_date("%Y-%m-%d", strict=False)
    timed = values.is_not_null() & text.str.contains(r"[0-9]:[0-9]{2}").fill_null(False)
    return Dates(values.alias(column.name), int((short & values.is_not_null()).sum()), int(timed.sum()))


def fitting_orders(column: pl.Series) -> list[Order]:
    """The orders in which every value of a text column is a date."""
    filled = column.drop_nulls()
    return [order for order in ORDERS if len(filled) and not dates_of(filled, order).values.null_count()]


def _parts(text: pl.Series, pattern: str) -> dict[str, pl.Series]:
    groups = text.str.extract_groups(pattern).struct
    return {name: groups.field(name) for name in ("y", "m", "d")}
