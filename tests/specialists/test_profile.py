"""The profile of a table: types, units, roles, counts."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from outcrop_specialists.columns.chemistry import is_oxide, symbol_of
from outcrop_specialists.columns.profile import ColumnProfile, profile_table
from outcrop_specialists.columns.units import is_unit, split_unit
from outcrop_specialists.reading.tables import Table


def profiles(columns: dict[str, list[Any]], units: dict[str, str] | None = None) -> dict[str, ColumnProfile]:
    table = Table(Path("/w/a.csv"), pl.DataFrame(columns), (), units or {})
    return {profile.name: profile for profile in profile_table(table)}


def roles(columns: dict[str, list[Any]], units: dict[str, str] | None = None) -> dict[str, str]:
    return {name: profile.role for name, profile in profiles(columns, units).items()}


def numbers(*names: str) -> dict[str, list[Any]]:
    return {name: [0.5, 1.5, 2.5] for name in names}


def test_counts_and_ranges_are_those_of_the_values() -> None:
    found = profiles({
        "n": [3, None, 1, 3],
        "t": ["a", "b", None, "a"],
        "d": [date(2020, 1, 2), None, date(2019, 5, 6), None],
        "Au": ["<0.01", "0.5", ">10", "bdl"],
        "e": [None, None, None, None],
    })  # fmt: skip
    assert found["n"] == ColumnProfile("n", "integer", "measure", None, 1, 2, 1, 3, 0)
    assert found["t"] == ColumnProfile("t", "text", "text", None, 1, 2, None, None, 0)
    assert found["d"] == ColumnProfile("d", "date", "date", None, 2, 2, "2019-05-06", "2020-01-02", 0)
    assert found["Au"] == ColumnProfile("Au", "text", "element", None, 0, 4, None, None, 3)
    assert found["e"] == ColumnProfile("e", "text", "text", None, 4, 0, None, None, 0)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("Au_ppm", "ppm"),
        ("Au g/t", "g/t"),
        ("Cu (%)", "%"),
        ("SIO2(WT%)", "WT%"),
        ("tds_mg_l", "mg/l"),
        ("Culmen Length (mm)", "mm"),
        ("depth_m", "m"),
        ("Cu_ppm_pXRF", "ppm"),
        ("Cu_pct", "pct"),
        ("Total S", None),
        ("depth_min", None),
        ("Label", None),
        ("sample (fresh)", None),
    ],
)
def test_units_are_found_in_names(name: str, unit: str | None) -> None:
    assert profiles(numbers(name))[name].unit == unit


def test_a_row_of_units_comes_before_the_name() -> None:
    found = profiles(numbers("Au_ppm", "K"), {"Au_ppm": "ppb", "K": "%"})
    assert (found["Au_ppm"].unit, found["K"].unit) == ("ppb", "%")
    assert (found["Au_ppm"].role, found["K"].role) == ("element", "element")


def test_degrees_are_longitude_and_latitude_only_within_their_range() -> None:
    assert roles({"Longitude": [-180.0, 180.0], "Latitude": [-90.0, 90.0]}) == {
        "Longitude": "longitude",
        "Latitude": "latitude",
    }
    assert roles({"lon": [498889.5], "lat": [2144445.8]}) == {"lon": "x", "lat": "y"}
    assert roles({"long": ["a", "b"]}) == {"long": "id"}


def test_collar_tables_have_coordinates_and_hole_ids() -> None:
    columns: dict[str, list[Any]] = {
        "BHID": ["1", "A", "B"],
        **numbers("XCOLLAR", "YCOLLAR", "ZCOLLAR", "Easting", "Northing", "Elevation"),
    }
    assert list(roles(columns).values()) == ["hole_id", "x", "y", "z", "x", "y", "z"]


def test_interval_tables_have_from_to_and_elements() -> None:
    columns: dict[str, list[Any]] = {"HoleID": [1, 1, 2], **numbers("FROM", "TO", "CU", "S", "Depth_m", "MaxDepth")}
    assert list(roles(columns).values()) == [
        "hole_id",
        "depth_from",
        "depth_to",
        "element",
        "measure",
        "depth",
        "measure",
    ]
    assert roles(numbers("CU", "FE", "S"))["S"] == "element"


def test_y_is_yttrium_beside_elements_and_a_coordinate_beside_x() -> None:
    assert roles(numbers("W", "Y", "Zn", "Zr"))["Y"] == "element"
    assert roles(numbers("X", "Y", "Zn", "Zr"))["Y"] == "y"
    assert roles(numbers("x", "y", "Y", "Zn", "Zr")) == {
        "x": "x",
        "y": "y",
        "Y": "element",
        "Zn": "element",
        "Zr": "element",
    }
    assert roles(numbers("X", "Y_ppm", "Zn"))["Y_ppm"] == "element"
    assert roles(numbers("x", "y")) == {"x": "x", "y": "y"}


def test_single_letters_are_elements_only_among_elements() -> None:
    assert set(roles(numbers("A", "B", "C")).values()) == {"measure"}
    assert roles(numbers("B", "Cu", "Pb"))["B"] == "element"
    assert roles(numbers("B_ppm"))["B_ppm"] == "element"


@pytest.mark.parametrize(
    "name", ["Au", "au_ppm", "Au Check_ppm", "iron_mg_l", "SiO2", "FeOT(wt%)", "LOI_pct", "Au_2", "Au.1"]
)
def test_names_of_elements_and_oxides(name: str) -> None:
    assert roles(numbers(name))[name] == "element"


@pytest.mark.parametrize("name", ["At", "No", "bill_depth_mm", "nitrate_mg_l", "pH", "Delta 13 C (o/oo)", "Height"])
def test_names_that_are_no_elements(name: str) -> None:
    assert roles(numbers(name))[name] == "measure"


def test_identifiers_labels_categories_and_text() -> None:
    columns: dict[str, list[Any]] = {
        "SampleID": [f"S{i}" for i in range(10)],
        "site_no": [f"0{i}" for i in range(10)],
        "Serial No": [float(i) for i in range(10)],
        "cluster": [0, 1] * 5,
        "group": ["a", "b"] * 5,
        "rock": ["shale", "sand"] * 5,
        "iata": [f"0{i}M" for i in range(10)],
        "remark": [f"a long remark that is not a key at all {i}" for i in range(10)],
        "taken": ["08.03.2019"] * 10,
        "ok": [True, False] * 5,
    }
    assert list(roles(columns).values()) == [
        "sample_id",
        "id",
        "id",
        "cluster",
        "cluster",
        "category",
        "id",
        "text",
        "date",
        "category",
    ]


def test_units_and_symbols_by_themselves() -> None:
    assert [is_unit(text) for text in ("ppm", "(ppm)", " % ", "g/t", "Au", "unknown", "")] == [True] * 4 + [False] * 3
    assert split_unit("Au_ppm") == ("Au", "ppm")
    assert split_unit("plain") == ("plain", None)
    assert [symbol_of(word) for word in ("cu", "CU", "gold", "s", "S", "At")] == ["Cu", "Cu", "Au", None, "S", None]
    assert [is_oxide(word) for word in ("Al2O3", "FeO_T", "K2O", "CaO", "H2SO4", "NO2")] == [True] * 4 + [False] * 2
