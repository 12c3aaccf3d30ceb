"""Factors between units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.columns.unit_factors import _GROUPS, conversion

UNITS = sorted({(quantity, unit) for quantity, groups in _GROUPS.items() for units in groups for unit in units.split()})


@pytest.mark.parametrize(
    ("one", "other", "value", "expected"),
    [
        ("%", "ppm", 0.45, 4500.0),
        ("ppm", "%", 4500, 0.45),
        ("g/t", "ppb", 1, 1000.0),
        ("oz/t", "g/t", 1, 34.285714285714285),
        ("mS/cm", "µS/cm", 0.44, 440.0),
        ("uS/cm", "mS/m", 1000, 100.0),
        ("dS/m", "μS/cm", 1, 1000.0),
        ("g/L", "mg/L", 0.27, 270.0),
        ("ft", "m", 100, 30.48),
        ("°F", "°C", 212, 100.0),
        ("K", "°C", 273.15, 0.0),
        ("psi", "kPa", 1, 6.894757293168361),
        ("us/ft", "us/m", 100, 328.0839895013123),
    ],
)
def test_known_conversions(one: str, other: str, value: float, expected: float) -> None:
    found = conversion(one, other)
    assert found is not None
    assert value * found.factor + found.offset == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("one", "other"), [("ppm", "mg/l"), ("m", "ppm"), ("furlong", "m"), ("mmol/l", "mg/l")])
def test_units_of_different_things_or_unknown_ones_are_not_converted(one: str, other: str) -> None:
    assert conversion(one, other) is None


def test_powers_of_ten_are_exact() -> None:
    assert [conversion(one, "ppm").factor for one in ("%", "ppb", "‰", "g/g")] == [1e4, 1e-3, 1e3, 1e6]  # type: ignore[union-attr]


@given(st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_there_and_back_changes_nothing(one: tuple[str, str], other: tuple[str, str]) -> None:
    there, back = conversion(one[1], other[1]), conversion(other[1], one[1])
    assert (there is None) == (back is None)
    if one[0] == other[0]:
        assert there is not None
    if there is not None and back is not None:
        assert there.factor * back.factor == pytest.approx(1, rel=1e-12)
