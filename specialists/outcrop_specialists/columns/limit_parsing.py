"""Makes numbers and qualifiers of a column of results, some of them beyond a detection limit. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outcrop_specialists.columns.censored import Censored, find_censored, has_decimal_commas
from outcrop_specialists.columns.censoring import SHARE_OF_LIMIT, CensoredColumn
from outcrop_specialists.columns.units import is_same_unit
from outcrop_specialists.reading.types import is_number

if TYPE_CHECKING:
    import polars as pl

Method = Literal["half", "zero", "value"]
COMMA_NUMBER = r"^[+-]?[0-9]*,[0-9]+$"
LIMITS_SHOWN = 20


@dataclass(frozen=True)
class Parsed:
    """One column as Float64 `values` and `qualifiers` (`<`, `>` or empty), what was counted, and notes."""

    values: pl.Series
    qualifiers: pl.Series
    counts: dict[str, Any]
    notes: list[str]


def parse_results(column: pl.Series, method: Method, unit: str | None = None) -> Parsed:
    """Parse a text column of results; a cell in another unit than `unit` (the column's, if known) is not parsed.

    Below a limit stands `method`'s share of it, above one the limit; below a limit that is not given 0 by method zero
    and nothing otherwise. What is none of these becomes missing and is counted as unparsed.
    """
    import polars as pl

    censored = find_censored(column)
    usable = censored.limits.is_not_null() & ~is_in_other_unit(censored.units, unit)
    below, above = censored.below & usable, censored.above & usable
    frame = pl.DataFrame({"plain": _plain_numbers(column), "limit": censored.limits, "below": below, "above": above})
    frame = frame.with_columns(censored.words.alias("word"))
    no_limit = pl.lit(0.0 if method == "zero" else None, dtype=pl.Float64)
    value = (
        pl.when("below")
        .then(pl.col("limit") * SHARE_OF_LIMIT[method])
        .when("above")
        .then("limit")
        .when("word")
        .then(no_limit)
    )
    qualifier = pl.when(pl.col("below") | pl.col("word")).then(pl.lit("<")).when("above").then(pl.lit(">"))
    done = frame.select(value.otherwise("plain").alias("value"), qualifier.otherwise(pl.lit("")).alias("qualifier"))
    values = done["value"].alias(column.name)
    unparsed = column.is_not_null() & values.is_null() & ~censored.words
    known = len(column) - column.null_count()
    counts = {
        "name": column.name,
        "below": int(below.sum()),
        "above": int(above.sum()),
        "special": int(censored.words.sum()),
        "numbers": known - int((below | above | censored.words | unparsed).sum()),
        "unparsed": int(unparsed.sum()),
        "missing": column.null_count(),
        "limits": censored.limits.filter(below).unique().sort().head(LIMITS_SHOWN).to_list(),
        "upper_limits": censored.limits.filter(above).unique().sort().head(LIMITS_SHOWN).to_list(),
        "share_censored": int((below | above | censored.words).sum()) / known if known else 0.0,
    }
    return Parsed(values, done["qualifier"], counts, _notes(column, values, censored, unparsed, method))


def replaced_results(name: str, results: CensoredColumn, method: Method) -> Parsed:
    """The same for a column that was read as numbers with limits: `method`'s share of the limit below, the limit above.

    Without a limit stands 0 by method zero and nothing otherwise.
    """
    import polars as pl

    words = results.below & results.values.is_null()
    below = results.below & ~words
    values = results.values.zip_with(~below, results.values * SHARE_OF_LIMIT[method])
    if method == "zero":
        values = values.set(words, 0.0)
    known = results.below | results.values.is_not_null()
    parts = pl.DataFrame({"below": results.below, "above": results.above})
    sign = pl.when("below").then(pl.lit("<")).when("above").then(pl.lit(">")).otherwise(pl.lit(""))
    counts = {
        "name": name,
        "below": int(below.sum()),
        "above": int(results.above.sum()),
        "special": int(words.sum()),
        "numbers": int((known & ~results.below & ~results.above).sum()),
        "unparsed": 0,
        "missing": int((~known).sum()),
        "limits": results.values.filter(below).unique().sort().head(LIMITS_SHOWN).to_list(),
        "upper_limits": results.values.filter(results.above).unique().sort().head(LIMITS_SHOWN).to_list(),
        "share_censored": results.count / int(known.sum()) if known.any() else 0.0,
    }
    notes = []
    if words.any():
        fate = "0" if method == "zero" else "missing, with the qualifier <"
        notes.append(f"{name!r}: {int(words.sum())} results are below a limit that is not given: {fate}")
    return Parsed(values.alias(name), parts.select(sign.alias("q")).to_series(), counts, notes)


def _plain_numbers(column: pl.Series) -> pl.Series:
    import polars as pl

    bare = column.str.strip_chars()
    if has_decimal_commas(column):
        with_comma = bare.str.contains(COMMA_NUMBER).fill_null(False)
        bare = bare.zip_with(~with_comma, bare.str.replace(",", ".", literal=True))
    numbers = bare.str.strip_prefix("+").cast(pl.Float64, strict=False)
    return numbers.set(~is_number(bare).fill_null(False), None)


def is_in_other_unit(units: pl.Series, unit: str | None) -> pl.Series:
    """True where a cell has a unit that is not the column's; without one, where cells disagree on the unit."""
    written = units.drop_nulls().unique(maintain_order=True).to_list()
    expected = unit or (written[0] if written else "")
    strange = [each for each in written if not is_same_unit(each, expected)]
    if unit is None and strange:
        strange = written
    return units.is_in(strange).fill_null(False)


def _notes(column: pl.Series, values: pl.Series, censored: Censored, unparsed: pl.Series, method: Method) -> list[str]:
    notes = []
    words = int(censored.words.sum())
    if words:
        fate = "0" if method == "zero" else "missing, with the qualifier <"
        example = column.filter(censored.words)[0]
        notes.append(
            f"{column.name!r}: {words} results such as {example!r} are below a limit that is not given: {fate}"
        )
    if unparsed.any():
        row = int(unparsed.arg_true()[0])
        what = f"{int(unparsed.sum())} values are no results in the column's unit and became missing"
        notes.append(f"{column.name!r}: {what}, the first in data row {row + 1}")
    negative = int((values < 0).sum())
    if negative:
        notes.append(
            f"{column.name!r}: {negative} negative numbers kept as they are; some laboratories write <0.01 as -0.01"
        )
    return notes
