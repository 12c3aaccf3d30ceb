"""Numbers that may be no measurements: fill values, substituted non-detects, two units in one column. Only reported."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from outcrop_specialists.columns.chemistry import is_oxide, symbol_of
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.columns.units import is_concentration, is_unit, split_unit
from outcrop_specialists.reading.plain import side_by_side
from outcrop_specialists.reading.types import sentinels_of

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.types import Typed

FEWEST_REPEATS = 3
FEWEST_REST = 10
FEWEST_DISTINCT = 5
FEWEST_AT_LIMIT = 5
SHARE_AT_LIMIT = 0.005
SPIKE = 5.0
"""A minimum that stands so many times as often as the next value is no accident of rounding."""
SAMPLE = 2_000
FINER_SHARE = 0.05
FACTORS = (0.5, 0.65, 2 / 3, 0.7, 0.75, math.sqrt(0.5))
"""Shares of a detection limit that people put in place of non-detects."""
UNIT_FACTORS = (1e3, 1e4, 1e6)
WITHIN = 2.5
GAP = 5.0
"""Values in two units leave a gap in which the next greater value is so many times the smaller one."""
SHARE_OF_UNIT = 0.1
SINGLE_LETTERS_NEED = 2
MOST_UNITS = 10
NEGATIVES_TOLD = 3
DERIVED = re.compile(
    r"(?:^|[^a-z])(?:z|z-?scores?|log[0-9]*|ln|[cai]lr|resid\w*|anom\w*|diff\w*|delta|change|scores?|std|standardi[sz]ed"
    r"|scaled|minmax|robust|cent(?:red|ered)|dev\w*|bias|rpd|err\w*|norm\w*|trend|slope|gradient)(?:$|[^a-z])",
    re.IGNORECASE,
)
"""Of what is computed from concentrations numbers below zero are nothing odd."""
NEGATIVE = (
    "SUSPECTED results below a limit written as negative numbers, kept as numbers (some laboratories write <0.01 as "
    "-0.01: replace them before computing)"
)


def note_suspects(typed: Typed, units: Mapping[str, str], limits: Mapping[str, float] | None = None) -> None:
    """Note what is suspected in each numeric column; nothing is changed. `limits` are those that the header gives."""
    columns = [column for column in typed.columns if column.dtype.is_numeric()]
    sure = sum(_is_element(column.name, units, lone=False) for column in columns)
    lone = sure >= SINGLE_LETTERS_NEED

    def of_one(column: pl.Series) -> tuple[Typed, float | None]:
        own = replace(typed, found={})
        limit = (limits or {}).get(column.name)
        return own, _note_column(column, own, limit, is_element=_is_element(column.name, units, lone=lone))

    gaps: dict[str, tuple[float, pl.Series]] = {}
    for column, (own, cut) in zip(columns, side_by_side(of_one, columns), strict=True):
        typed.take_notes_of(own)
        if cut is not None:
            gaps[column.name] = (cut, column)
    _note_units(gaps, typed)
    _note_unit_columns(typed)


def _note_column(column: pl.Series, typed: Typed, limit: float | None, *, is_element: bool) -> float | None:
    """Note what is suspected in one column; a number between two groups of it, where it falls apart into these."""
    values = _values(column, typed)
    if (is_element and not DERIVED.search(column.name)) or column.name in typed.qualifiers:
        _note_negative(values, column.name, typed, limit)
    if len(values) < FEWEST_REST:
        return None
    for value, count in far_constants(values):
        text = "SUSPECTED fill values, kept as numbers: one number far from all others that stands several times"
        typed.note(text, column.name, f"has {value!r} in {count} rows")
    if column.dtype.is_float():
        _note_spike(values, column, typed, is_element=is_element)
    if is_element:
        zeros = int((values == 0).sum())
        if zeros >= FEWEST_REPEATS and values.min() == 0 and zeros < len(values):
            typed.note("SUSPECTED non-detects written as 0", column.name, f"has {zeros}")
    return unit_cut(values)


def _note_negative(values: pl.Series, name: str, typed: Typed, limit: float | None) -> None:
    found = negatives_of(values)
    if found.is_empty():
        return
    same = int((found == -limit).sum()) if limit is not None else 0
    told = f"has {len(found)} ({values_told(found)})"
    told += f", {same} of them the limit {limit:g} that the header gives, with its sign changed" if same else ""
    typed.note(NEGATIVE, name, told)


def negatives_of(values: pl.Series) -> pl.Series:
    """The negative numbers of a column of concentrations that are no fill values."""
    import polars as pl

    least = values.min()
    if least is None or float(least) >= 0:  # type: ignore[arg-type]
        return values.clear()
    fill = [value for value, _ in sentinels_of(values)]
    fill += [value for value, _ in far_constants(values.cast(pl.Float64).fill_nan(None).drop_nulls())]
    return values.filter((values < 0) & ~values.cast(pl.Float64).is_in(fill))


def values_told(values: pl.Series) -> str:
    """`-0.02 and -0.01`, or how many different ones there are."""
    different = values.unique().sort().to_list()
    if len(different) <= NEGATIVES_TOLD:
        return " and ".join(f"{value:g}" for value in different)
    return f"{len(different)} different ones from {different[0]:g} to {different[-1]:g}"


def far_constants(values: pl.Series) -> list[tuple[float, int]]:
    """The least or greatest value where it stands at least three times and farther from the others than these span.

    Values of nines are found by `sentinels_of`. `values` has neither nulls nor NaN.
    """
    found: list[tuple[float, int]] = []
    for _ in range(FEWEST_REPEATS):
        hit = next((hit for least in (True, False) if (hit := _far(values, least=least)) is not None), None)
        if hit is None:
            return found
        value, count = hit
        values = values.filter(values != value)
        if not _is_nines(value):
            found.append((value, count))
    return found


def _far(values: pl.Series, *, least: bool) -> tuple[float, int] | None:
    if len(values) < FEWEST_REST:
        return None
    value = float(values.min() if least else values.max())  # type: ignore[arg-type]
    count = int((values == value).sum())
    if count < FEWEST_REPEATS or len(values) - count < max(FEWEST_REST, count):
        return None
    rest = values.filter(values != value)
    low, high = float(rest.min()), float(rest.max())  # type: ignore[arg-type]
    gap = low - value if least else value - high
    if gap <= high - low or rest.n_unique() < FEWEST_DISTINCT:
        return None
    return value, count


def spike_at_minimum(values: pl.Series) -> tuple[float, int, float | None] | None:
    """The least value where it looks put in: it stands five times as often as the next one, or has more digits than
    nearly all others; with the limit of which it is a usual share. `values` has no nulls.
    """
    value = float(values.min())  # type: ignore[arg-type]
    count = int((values == value).sum())
    if value <= 0 or count < max(FEWEST_AT_LIMIT, SHARE_AT_LIMIT * len(values)) or count == len(values):
        return None
    rest = values.filter(values != value)
    following = int((rest == rest.min()).sum())
    digits = _decimals(value)
    others = [_decimals(other) for other in rest.gather_every(max(1, len(rest) // SAMPLE)).to_list()]
    is_finer = sum(other >= digits for other in others) <= FINER_SHARE * len(others)
    if not is_finer and count < SPIKE * following:
        return None
    usual = sorted(others)[int((1 - FINER_SHARE) * (len(others) - 1))]
    return value, count, _limit_behind(value, usual) if is_finer else None


def _limit_behind(value: float, decimals: int) -> float | None:
    """The limit of which the value is a usual share: with as few decimals as the results, the roundest of several."""
    shares = (value / factor for factor in FACTORS)
    limits = [round(share, decimals) for share in shares if math.isclose(share, round(share, decimals), rel_tol=1e-9)]
    return min(limits, key=lambda limit: len(f"{limit:.10g}".strip("0.").replace(".", "")), default=None)


def unit_cut(values: pl.Series) -> float | None:
    """Where a column of positive numbers falls apart into two groups, a thousand (10 000, a million) times apart, with
    nothing between: a number in the gap. None where it does not. `values` has no nulls.
    """
    import numpy

    if len(values) > 2 * SAMPLE and unit_cut(values.gather_every(len(values) // SAMPLE)) is None:
        return None  # a gap in all of them is one in a sample, and sorting is slow
    positive = values.filter(values > 0)
    if len(positive) < FEWEST_REST:
        return None
    ordered = numpy.sort(positive.to_numpy())
    steps = ordered[1:] / ordered[:-1]
    at = int(steps.argmax()) + 1
    fewest = max(FEWEST_REPEATS, SHARE_OF_UNIT * len(ordered))
    if steps[at - 1] < GAP or min(at, len(ordered) - at) < fewest:
        return None
    ratio = float(numpy.median(ordered[at:]) / numpy.median(ordered[:at]))
    if not any(factor / WITHIN <= ratio <= factor * WITHIN for factor in UNIT_FACTORS):
        return None
    middle = math.sqrt(float(ordered[at - 1]) * float(ordered[at]))
    return float(f"{middle:.2g}")


def _values(column: pl.Series, typed: Typed) -> pl.Series:
    """The numbers of a column that are results, as floats."""
    import polars as pl

    name = typed.qualifiers.get(column.name)
    if name is not None:
        qualifiers = next(each for each in typed.columns if each.name == name)
        column = column.filter(qualifiers == "")
    return column.cast(pl.Float64).fill_nan(None).drop_nulls()


def _note_spike(values: pl.Series, column: pl.Series, typed: Typed, *, is_element: bool) -> None:
    found = spike_at_minimum(values)
    if found is None:
        return
    value, count, limit = found
    what = f"has {count} values at its minimum {value:.15g}"
    if limit is not None:
        what += f" ({value / limit:.2g} × {limit:.15g})"
    text = "SUSPECTED substituted non-detects" if is_element else "SUSPECTED placeholder or limit, kept as numbers"
    typed.note(text, column.name, what)


def _note_units(gaps: dict[str, tuple[float, pl.Series]], typed: Typed) -> None:
    """The columns with two clusters; those that fall apart in the same rows confirm each other."""
    masks = {name: (column < cut).fill_null(False) for name, (cut, column) in gaps.items()}
    for name, (cut, column) in gaps.items():
        low, high = column.filter(masks[name] & (column > 0)), column.filter(column >= cut)
        ends = [float(each) for part in (low, high) for each in (part.min(), part.max())]  # type: ignore[arg-type]
        same = [other for other in gaps if other != name and (masks[other] == masks[name]).all()]
        what = "has {} values of {:g} to {:g} beside {} of {:g} to {:g}".format(
            len(low), *ends[:2], len(high), *ends[2:]
        )
        what += f", in the same rows as {', '.join(map(repr, same))}" if same else ""
        text = (
            "SUSPECTED two units in one column, kept as they are (either the small values are in a unit a thousand or "
            "more times as large, such as mS/cm beside µS/cm, or they are another population; convert_units converts "
            "those below a cut)"
        )
        typed.note(text, name, f"{what}, cut {cut:g}")


def _note_unit_columns(typed: Typed) -> None:
    """Columns of text that give the unit of each row, and not the same in all."""
    import polars as pl

    for column in typed.columns:
        if column.dtype != pl.String or not is_unit_or_none(column.head(SAMPLE)):
            continue
        units = column.drop_nulls().unique(maintain_order=True).to_list()
        if 1 < len(units) <= MOST_UNITS and all(map(is_unit, units)):
            text = "CHECK: the rows are in several units, which this column gives (convert_units brings them to one)"
            typed.note(text, column.name, f"({', '.join(units)})")


def is_unit_or_none(column: pl.Series) -> bool:
    """Whether all values of a text column are units, at least one."""
    units = column.drop_nulls().unique().to_list()
    return 0 < len(units) <= MOST_UNITS and all(map(is_unit, units))


def is_measured_concentration(name: str, units: Mapping[str, str]) -> bool:
    """Whether a column holds concentrations of an element or oxide as measured, by its name and unit alone."""
    return _is_element(name, units, lone=False) and not DERIVED.search(name)


def _is_element(name: str, units: Mapping[str, str], *, lone: bool) -> bool:
    """Whether a column is a concentration by its name; single letters only where `lone` ones may be."""
    unit = unit_of(name, units)
    stem = split_unit(name)[0].split("(")[0].strip()
    word = stem.replace("_", " ").replace(".", " ").split(" ")[0] if stem else ""
    if unit is not None and not is_concentration(unit):
        return False
    if len(word) == 1:
        return symbol_of(word) is not None and (lone or unit is not None)
    return (symbol_of(word) is not None or is_oxide(word)) and (unit is not None or word == stem)


def _is_nines(value: float) -> bool:
    digits = f"{abs(value):.15g}".partition(".")[0]
    return set(digits) == {"9"}


def _decimals(value: float) -> int:
    """Digits behind the point that somebody wrote, negative for whole tens and hundreds; noise of binary floats
    (0.013000000000000001) is none."""
    text = f"{value:.10g}"
    if "e" in text:
        return 20
    whole, _, fraction = text.partition(".")
    return len(fraction) or len(whole.rstrip("0")) - len(whole)
