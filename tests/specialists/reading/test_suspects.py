"""Numbers that may be no measurements: reported with their counts, never changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.suspects import far_constants, note_suspects, spike_at_minimum, unit_cut
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.types import Typed

Read = Callable[..., Table]
RNG = np.random.default_rng(5)
GRADES = np.round(10 ** RNG.normal(0, 0.4, 300), 2) + 0.05


def test_a_number_far_from_all_others_that_stands_several_times_is_suspected() -> None:
    gamma = pl.Series([*RNG.uniform(10, 150, 200), *[-2324.28] * 4])
    assert far_constants(gamma) == [(-2324.28, 4)]
    assert far_constants(pl.Series([*RNG.uniform(10, 150, 200), *[1e30] * 3])) == [(1e30, 3)]


@pytest.mark.parametrize(
    "values",
    [
        [*RNG.uniform(10, 150, 200), -2324.28],
        [0.0] * 100 + [1.0] * 100,
        [*RNG.uniform(10, 150, 200), 400.0, 400.0, 400.0, 380.0],
        [*GRADES],
        [*RNG.uniform(10, 150, 200), -9999.0, -9999.0, -9999.0],
    ],
)
def test_single_extremes_flags_and_tails_are_not(values: list[float]) -> None:
    assert far_constants(pl.Series(values)) == []


def test_a_spike_at_the_minimum_is_a_share_of_a_limit() -> None:
    two = np.maximum(np.round(GRADES, 2), 0.03)
    assert spike_at_minimum(pl.Series([*two, *[0.013] * 20])) == (0.013, 20, 0.02)
    assert spike_at_minimum(pl.Series([*two, *[0.005] * 20])) == (0.005, 20, 0.01)
    tens = np.maximum(np.round(GRADES * 1000, -2), 200)
    assert spike_at_minimum(pl.Series([*tens, *[65.0] * 20])) == (65.0, 20, 100.0)


def test_rounded_results_make_no_spike() -> None:
    assert spike_at_minimum(pl.Series(np.maximum(np.round(GRADES, 1), 0.1))) is None or (GRADES < 0.25).sum() > 50
    assert spike_at_minimum(pl.Series(RNG.normal(50, 5, 500))) is None
    assert spike_at_minimum(pl.Series([0.5] * 100)) is None


def test_substituted_and_zero_results_are_suspected_in_elements_only() -> None:
    two = np.maximum(np.round(GRADES, 2), 0.03)
    typed = Typed([pl.Series("In", [*two, *[0.013] * 20]), pl.Series("Cu_ppm", [*two, *[0.0] * 20])])
    note_suspects(typed, {})
    assert typed.notes() == [
        "SUSPECTED substituted non-detects: 'In' has 20 values at its minimum 0.013 (0.65 × 0.02)",
        "SUSPECTED non-detects written as 0: 'Cu_ppm' has 20",
    ]
    other = Typed([pl.Series("pressure", [*two, *[0.0] * 20])])
    note_suspects(other, {})
    assert other.notes() == []


def test_two_units_in_a_column_leave_a_gap_and_confirm_each_other() -> None:
    micro, milli = RNG.uniform(400, 1700, 21), RNG.uniform(0.4, 1.7, 10)
    cut = unit_cut(pl.Series([*micro, *milli]))
    assert cut is not None
    assert 1.7 < cut < 400
    rows = [*micro, *milli]
    typed = Typed([pl.Series("conductivity", rows), pl.Series("tds", [value / 2 for value in rows])])
    note_suspects(typed, {})
    (note,) = typed.notes()
    assert "'conductivity' has 10 values" in note
    assert "in the same rows as 'tds'" in note
    assert unit_cut(pl.Series(GRADES)) is None
    assert unit_cut(pl.Series([*RNG.uniform(1, 2, 20), *RNG.uniform(100, 200, 20)])) is None


def test_a_column_that_gives_several_units_is_told(read_lines: Read) -> None:
    table = read_lines("sample,Cu,unit", "1,0.5,%", "2,4000,ppm", "3,0.45,%")
    assert any("the rows are in several units, which this column gives" in note for note in table.notes)
    assert not any("several units" in note for note in read_lines("a,unit", "1,ppm", "2,ppm").notes)


@pytest.mark.parametrize("limits", [[], ["Detection limit,0.01,5,1"]])
def test_negative_concentrations_are_suspected_with_their_count(read_lines: Read, limits: list[str]) -> None:
    rows = [f"S{i},{-0.01 if i % 3 else 0.4},{-5 if i % 4 == 0 else 30},{-7}" for i in range(12)]
    table = read_lines("Sample,Au,As,dip", ",ppm,ppm,°", *limits, *rows)
    assert table.frame["Au"].min() == -0.01
    (note,) = (note for note in table.notes if "negative" in note)
    assert note.startswith("SUSPECTED results below a limit written as negative numbers, kept as numbers")
    assert "'Au' has 8 (-0.01)" in note
    assert "'As' has 3 (-5)" in note
    assert "dip" not in note
    assert ("8 of them the limit 0.01 that the header gives" in note) == bool(limits)
    told = suspicions(table, ["Au", "As", "dip"])
    assert "8 negative numbers in Au (-0.01), suspected results below a limit" in told
    assert "in dip" not in told


def test_negative_fill_values_are_no_codes_of_limits(read_lines: Read) -> None:
    table = read_lines("Sample,Au_ppm", *(f"S{i},{-999 if i % 5 == 0 else i + 0.5}" for i in range(20)))
    assert not any("below a limit" in note for note in table.notes)
    assert not any("negative" in note for note in read_lines("id,d13C,clr_Au", "a,-25,-1", "b,-24,2").notes)


@pytest.mark.parametrize(
    "name", ["Au_ppm_z", "Au_ppm_log10", "Au_clr", "ln(Au)", "Au ppm residual", "Cu_ppm_diff", "Cu_robust"]
)
def test_what_is_computed_from_concentrations_may_be_negative(read_lines: Read, name: str) -> None:
    table = read_lines(f"Sample,{name}", *(f"S{i},{i / 7 - 1:.3f}" for i in range(20)))
    assert not any("negative" in note for note in table.notes)
    assert not suspicions(table, [name])
