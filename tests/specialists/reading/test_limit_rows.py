"""Rows of a laboratory's limits: taken into the header by any usual label, and suspected amid the samples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_specialists.reading.tables import Table

Read = Callable[..., Table]
SAMPLES = ["S1,<0.01,30", "S2,0.4,50", "S3,0.02,70", "S4,1.4,60", "S5,0.03,20", "S6,0.05,21"]
LOWER = [
    "LOR", "Limit of Reporting", "Limit of detection", "LOD", "LLOD", "L.O.D.", "LOQ", "DL", "D.L.", "MDL", "PQL",
    "MRL", "Detection", "Det Lim", "Det. Limit", "Detection Limits", "Lower Limit", "Lower detection", "Limit",
    "Min. detection", "Reporting limit", "Reporting level", "Nachweisgrenze", "Bestimmungsgrenze", "NWG",
    "Limite de détection", "lor (ppm)", "LLD:",
]  # fmt: skip
UPPER = ["UPPER", "Upper limit", "Upper Limit", "ULD", "Max", "Upper detection limit", "UDL", "Overlimit"]


@pytest.mark.parametrize("label", LOWER)
@pytest.mark.parametrize("units", [[",ppm,ppm"], []])
def test_a_row_of_lower_limits_is_no_sample(read_lines: Read, label: str, units: list[str]) -> None:
    table = read_lines("Sample,Au,Cu", *units, f"{label},0.01,5", *SAMPLES)
    assert table.frame["Sample"].to_list() == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert any("holds detection limits of 2 columns" in note for note in table.notes)


@pytest.mark.parametrize("label", UPPER)
def test_a_row_of_upper_limits_behind_lower_ones_is_no_sample(read_lines: Read, label: str) -> None:
    table = read_lines("Sample,Au,Cu", "Units,ppm,ppm", "LLD,0.01,5", f"{label},100,10000", *SAMPLES)
    assert table.frame["Sample"].to_list() == ["S1", "S2", "S3", "S4", "S5", "S6"]


def test_words_that_are_names_as_well_need_the_results_to_prove_them(read_lines: Read) -> None:
    strata = read_lines("unit,depth", "Lower,9", "Middle,5", "Upper,2", "Top,1", "Cover,1", "Soil,0.5")
    assert strata.frame.height == 6
    between = read_lines("Sample,Au,Cu", "Limit,0.3,40", *SAMPLES)
    assert between.frame.height == 7
    assert any("SUSPECTED limits of a laboratory" in note and "data row 1" in note for note in between.notes)


def test_a_term_of_the_second_column_is_no_label(read_lines: Read) -> None:
    table = read_lines("Hole,Rock,Cu", "K1,DL,5", "K2,DL,6", "K3,GR,7", "K4,DL,8")
    assert table.frame.height == 4
    assert not any("limits" in note for note in table.notes)


@pytest.mark.parametrize("label", ["LOR", "Detection limit", "D.L.", "Limit", "Upper limit", "UPPER"])
def test_limits_amid_the_samples_are_suspected(read_lines: Read, label: str) -> None:
    for lines in ([*SAMPLES[:3], f"{label},0.01,5", *SAMPLES[3:]], [*SAMPLES, f"{label},0.01,5"]):
        table = read_lines("Sample,Au,Cu", *lines)
        assert table.frame.height == 7
        assert any("SUSPECTED limits of a laboratory" in note and repr(label) in note for note in table.notes)


def test_results_without_a_number_are_below_the_limit_of_the_header(read_lines: Read) -> None:
    table = read_lines("Sample,Au,Cu", ",ppm,ppm", "LOR,0.01,5", "S1,bdl,30", "S2,0.4,<LOR", "S3,0.02,LOR", "S4,nd,6")
    assert table.frame["Au"].to_list() == [0.01, 0.4, 0.02, 0.01]
    assert table.frame["Au_q"].to_list() == ["<", "", "", "<"]
    assert table.frame["Cu"].to_list() == [30, 5, 5, 6]
    assert (
        "results below a limit without a number read as below the limit that a line of the header gives: 'Au' (2 below "
        "0.01), 'Cu' (2 below 5)"
    ) in table.notes


def test_an_upper_limit_is_not_what_results_are_below(read_lines: Read) -> None:
    table = read_lines("Sample,Au", "Upper limit,100", "S1,bdl", "S2,0.4", "S3,0.02", "S4,nd", "S5,1")
    assert table.frame["Au"].to_list() == [None, 0.4, 0.02, None, 1]
