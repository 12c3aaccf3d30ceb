"""Checks a log against its header: the index against STRT, STOP and STEP; fill values that are not declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop_specialists.reading.las_header import Item, number_of, value_of
from outcrop_specialists.reading.types import Typed, note_sentinels, sentinels_of

if TYPE_CHECKING:
    import polars as pl

STEP_TOLERANCE = 0.02
"""Of a step: depths are written rounded."""
FEWEST_REPEATS = 3
FEWEST_OTHERS = 3
MOST_FILL_VALUES = 3


def index_notes(index: pl.Series, curve: Item, well: Sequence[Item], null: float | None) -> list[str]:
    """What does not agree between the index of a log and its header."""
    name = index.name
    if not index.dtype.is_numeric():
        return [] if index.dtype.is_temporal() else [f"CHECK: the index {name!r} is not of numbers"]
    notes = []
    missing = index.null_count()
    if missing:
        notes.append(f"CHECK: {missing} rows have no value of the index {name!r}")
    steps = index.cast(float).drop_nulls().diff().drop_nulls()
    notes += _direction(name, steps)
    start, stop, step = (_known(value_of(well, word), null) for word in ("STRT", "STOP", "STEP"))
    notes += _units(curve, well)
    if start is None or stop is None or not len(index.drop_nulls()):
        return notes
    first, last = (float(value) for value in (index.drop_nulls()[0], index.drop_nulls()[-1]))
    tolerance = abs(step) / 2 if step else 1e-3 * max(1.0, abs(start), abs(stop))
    if abs(first - start) > tolerance or abs(last - stop) > tolerance:
        notes.append(f"CHECK: the index runs from {first:g} to {last:g}, the header says {start:g} to {stop:g}")
    if step:
        expected = round((stop - start) / step) + 1
        if expected != len(index):
            notes.append(f"CHECK: STRT, STOP and STEP give {expected} rows, there are {len(index)}")
        uneven = ((steps - step).abs() > STEP_TOLERANCE * abs(step)).arg_true()
        if len(uneven):
            notes.append(
                f"CHECK: {len(uneven)} steps of the index are not {step:g}, the first after row {uneven[0] + 1}"
            )
    return notes


def suspect_fill_values(typed: Typed) -> None:
    """Suspect fill values in all columns but the index; none is applied."""
    curves = typed.columns[1:]
    note_sentinels(curves, typed)
    for column in curves:
        known = {value for value, _ in sentinels_of(column)}
        for value, count in _outlying_repeats(column):
            if value not in known:
                text = "SUSPECTED fill values, kept as numbers (remove them before computing)"
                typed.note(text, column.name, f"has {value:g} in {count} rows")


def _direction(name: str, steps: pl.Series) -> list[str]:
    up, down, level = int((steps > 0).sum()), int((steps < 0).sum()), int((steps == 0).sum())
    notes = []
    if up and down:
        notes.append(f"CHECK: the index {name!r} turns back: {up} steps up, {down} down")
    if level:
        notes.append(f"CHECK: the index {name!r} repeats its value {level} times")
    return notes


def _units(curve: Item, well: Sequence[Item]) -> list[str]:
    unit = next((item.unit for item in well if item.mnemonic.upper() == "STRT"), "")
    if unit and curve.unit and unit.casefold() != curve.unit.casefold():
        return [f"CHECK: STRT is in {unit}, the index {curve.mnemonic!r} in {curve.unit}"]
    return []


def _known(text: str, null: float | None) -> float | None:
    number = number_of(text)
    return None if number == null else number


def _outlying_repeats(column: pl.Series) -> list[tuple[float, int]]:
    """The smallest or the largest value, where it is repeated and farther from the others than these are apart."""
    import polars as pl

    if not column.dtype.is_numeric():
        return []
    values = column.drop_nulls().cast(pl.Float64)
    found: list[tuple[float, int]] = []
    for _ in range(MOST_FILL_VALUES):
        if len(values) < FEWEST_REPEATS + FEWEST_OTHERS:
            break
        extremes = (values.min(), values.max())
        for extreme in extremes:
            repeated = values == extreme
            rest = values.filter(~repeated)
            count = int(repeated.sum())
            if count < FEWEST_REPEATS or len(rest) < FEWEST_OTHERS or rest.n_unique() < FEWEST_OTHERS:
                continue
            low, high = float(rest.min()), float(rest.max())  # type: ignore[arg-type]
            value = float(extreme)  # type: ignore[arg-type]
            if max(low - value, value - high) > high - low:
                found.append((value, count))
                values = rest
                break
        else:
            break
    return found
