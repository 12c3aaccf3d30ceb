"""Types a text column of results, some of them beyond a limit: the numbers, and beside them what qualifies each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from outcrop_specialists.columns.censored import find_censored, has_decimal_commas, looks_like_result
from outcrop_specialists.columns.censoring import ABOUT, ABOVE, BELOW, PLAIN, counts_told
from outcrop_specialists.columns.limit_parsing import is_in_other_unit
from outcrop_specialists.columns.units import is_unit_behind_number
from outcrop_specialists.reading.types import NUMBER, Comma, Typed

if TYPE_CHECKING:
    import polars as pl

    TypeNumbers = Callable[[pl.Series, pl.Series, Typed, Comma], pl.Series | None]

TRIED_VALUES = 1_000


def results_column(
    values: pl.Series,
    known: pl.Series,
    typed: Typed,
    comma: Comma,
    of_column: tuple[str | None, float | None],
    type_numbers: TypeNumbers,
) -> tuple[pl.Series, pl.Series] | None:
    """Float64 values, the limit where a result is beyond it, and qualifiers; None where some value is no result.

    `values` are trimmed texts, null where missing; `known` the same without nulls. `type_numbers` types texts that
    are numbers. What is in another unit than the column's is no result of the column.
    """
    import polars as pl

    unit, limit = of_column  # the limit that a line of the header gives
    # Numbers are left alone and what is not one is looked at closely: as a rule that is the smaller part.
    first = known.head(TRIED_VALUES)
    if not looks_like_result(first.filter(~first.str.contains(NUMBER))).all():
        return None
    is_odd = ~values.str.contains(NUMBER).fill_null(True)
    odd = values.filter(is_odd)
    if odd.is_empty() or not looks_like_result(odd).all():
        return None
    found = find_censored(odd, len(known) - len(odd))
    if not (found.count or found.about.any()) or is_in_other_unit(found.units, unit).any():
        return None
    if not all(map(is_unit_behind_number, found.units.drop_nulls().unique())):
        return None
    where = is_odd.arg_true()
    texts = odd.zip_with(found.texts.is_null(), found.texts).set(found.words, None)
    plain = values.clone().scatter(where, texts)
    if comma == "never" and known.str.contains(",", literal=True).any() and has_decimal_commas(values):
        comma = "certain"
    quiet = Typed()
    numbers = type_numbers(plain, plain.drop_nulls(), quiet, comma)
    if numbers is None or not numbers.dtype.is_numeric() or numbers.null_count() > plain.null_count():
        return None
    numbers = numbers.cast(pl.Float64)
    nowhere = pl.Series([False]).new_from_index(0, len(values))
    below, above, about = (nowhere.clone().scatter(where, each) for each in (found.below, found.above, found.about))
    if (numbers.filter(below | above) <= 0).any():
        return None  # nothing is below a limit of 0
    coded = _coded_below(numbers, below)
    words = nowhere.clone().scatter(where, found.words)
    below |= words
    if limit is not None and words.any():
        numbers = numbers.set(words, limit)
        told = "results below a limit without a number read as below the limit that a line of the header gives"
        typed.note(told, values.name, f"({int(words.sum())} below {limit:g})")
    if coded.any():
        numbers = numbers.zip_with(~coded, -numbers)
        below |= coded
        note = "negative numbers of the size of a limit read as results below it (some laboratories write <0.01 so)"
        typed.note(note, values.name, int(coded.sum()))
    parts = pl.DataFrame({"below": below, "above": above, "about": about})
    sign = pl.when("below").then(pl.lit(BELOW)).when("above").then(pl.lit(ABOVE)).when("about").then(pl.lit(ABOUT))
    qualifiers = parts.select(sign.otherwise(pl.lit(PLAIN)).alias("q")).to_series()
    typed.take_notes_of(quiet)
    typed.note(
        "results beyond a limit read as the limit, with a qualifier column beside",
        values.name,
        f"({counts_told(numbers, qualifiers)})",
    )
    return numbers.alias(values.name), qualifiers


def _coded_below(numbers: pl.Series, below: pl.Series) -> pl.Series:
    """Where a negative number is a limit of the same column with its sign changed: `-0.01` beside `<0.01`."""
    limits = numbers.filter(below).drop_nulls().unique()
    coded: pl.Series = ((numbers < 0) & (-numbers).is_in(limits.implode())).fill_null(False)
    return coded
