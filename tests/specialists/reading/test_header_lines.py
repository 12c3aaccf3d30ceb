"""Headers of several lines: groups, units, methods, detection limits, names that stand twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_specialists.reading.tables import Table

Read = Callable[..., Table]


def test_groups_over_names_give_units_and_tell_double_names_apart(read_lines: Read) -> None:
    table = read_lines(
        "Hole,Interval (m),,Fire assay,,ICP,",
        ",From,To,Au,Ag,Au,Cu",
        ",,,ppm,ppm,ppm,%",
        "K1,0,1,0.5,1,0.4,2",
        "K1,1,2,0.7,2,0.6,3",
    )
    assert table.frame.columns == ["Hole", "From", "To", "Au (Fire assay)", "Ag", "Au (ICP)", "Cu"]
    assert table.units == {
        "From": "m",
        "To": "m",
        "Au (Fire assay)": "ppm",
        "Ag": "ppm",
        "Au (ICP)": "ppm",
        "Cu": "%",
    }
    assert table.frame.height == 2


def test_a_sparse_line_of_groups_above_the_names_tells_double_names_apart(read_lines: Read) -> None:
    table = read_lines(
        ",,,Lab A (ppm),,Lab B (ppm),,,", "Hole,From,To,Au,Ag,Au,Ag,Rock,Colour", "K1,0,1,0.5,1,0.4,2,a,b",
        "K1,1,2,0.5,1,0.4,2,a,b",
    )  # fmt: skip
    assert table.frame.columns[3:7] == ["Au (Lab A (ppm))", "Ag (Lab A (ppm))", "Au (Lab B (ppm))", "Ag (Lab B (ppm))"]
    assert table.units["Au (Lab A (ppm))"] == "ppm"


def test_units_and_detection_limits_below_the_names_are_no_rows(read_lines: Read) -> None:
    table = read_lines(
        "Sample,Au,Cu,Zn",
        "Units,ppm,%,ppm",
        "Detection limit,0.01,0.001,2",
        "Method,AA24,ICP61,ICP61",
        "S1,<0.01,0.5,30",
        "S2,0.4,0.7,<2",
    )
    assert table.frame["Sample"].to_list() == ["S1", "S2"]
    assert table.units == {"Au": "ppm", "Cu": "%", "Zn": "ppm"}
    assert sum("below the header" in note for note in table.notes) == 3


def test_limits_without_a_label_are_known_by_the_results_below_them(read_lines: Read) -> None:
    table = read_lines("Sample,Au,Cu", ",ppm,ppm", ",0.01,5", "S1,<0.01,20", "S2,0.4,<5", "S3,<0.01,30")
    assert table.frame["Sample"].to_list() == ["S1", "S2", "S3"]
    assert any("holds detection limits of 2 columns" in note for note in table.notes)
    kept = read_lines("Sample,Au,Cu", ",0.4,20", "S1,<0.01,20", "S2,0.4,<5")
    assert kept.frame.height == 3


def test_methods_above_elements_leave_the_elements_as_names(read_lines: Read) -> None:
    table = read_lines("SAMPLE,AA24,ICP61,ICP61", "DESCRIPTION,Au,Cu,Au", ",ppm,ppm,ppm", "S1,0.1,20,3", "S2,0.4,5,4")
    assert table.frame.columns == ["SAMPLE DESCRIPTION", "Au (AA24)", "Cu", "Au (ICP61)"]
    assert table.units["Au (ICP61)"] == "ppm"
    assert table.frame.height == 2


def test_names_that_pandas_made_up_are_no_names(read_lines: Read) -> None:
    table = read_lines("Hole,Unnamed: 1,Au,Cu,Zn", "K1,x,1,2,3", "K2,y,4,5,6")
    assert table.frame.columns == ["Hole", "column_2", "Au", "Cu", "Zn"]


def test_a_header_that_stands_again_is_skipped_with_its_units_and_counted(read_lines: Read) -> None:
    page = ["Sample,Au", ",ppm", "S1,0.1", "S2,0.2"]
    table = read_lines(*page, *page, *page)
    assert table.frame.rows() == [("S1", 0.1), ("S2", 0.2)] * 3
    assert "the header stands again in 2 lines, which were skipped (lines 5, 9)" in table.notes


@pytest.mark.parametrize("first", ["DDH-000,granite,fresh", "granite,DDH-000,fresh", "hole=DDH-000,x,y"])
def test_a_first_line_of_the_form_of_those_below_is_a_row(read_lines: Read, first: str) -> None:
    rows = [first.replace("000", f"{n:03d}") for n in range(12)]
    table = read_lines(*rows)
    assert table.frame.columns == ["column_1", "column_2", "column_3"]
    assert table.frame.height == 12
    assert any("is a row like those below it" in note for note in table.notes)


@pytest.mark.parametrize(
    "header", ["Q1,Q2,P80 um", "Hole1,Lith2,Au_ppm", "S 1,S 2,S 3", "Cu ICP61,Zn ICP61,Au AA24", "x1,y1,z1"]
)
def test_names_with_figures_are_a_header(read_lines: Read, header: str) -> None:
    rows = [f"D{n},granite,{n / 7:.3f}" for n in range(12)]
    assert read_lines(header, *rows).frame.columns == header.split(",")


def test_words_beside_numbers_in_the_first_row_stay_a_row(read_lines: Read) -> None:
    table = read_lines("id,Cu,Zn,Rock", "S1,n.m.,n.m.,granite", "S2,1,2,shale", "S3,3,4,shale")
    assert table.frame.height == 3


def test_a_line_that_names_every_column_below_repeated_groups_is_a_header(read_lines: Read) -> None:
    groups = "Sample,Sample,Gold,Gold,Base metals,Base metals"
    rows = ["1,2020-01-03,0.1,0.11,0.5,100", "2,2020-02-03,0.2,,0.6,101", "3,2020-02-04,0.3,0.3,0.7,102"]
    for title in ([], ["Acme Mining,,,,,"]):
        table = read_lines(*title, groups, "ID,Date,FA,Repeat,Cu,Zn", ",,g/t,g/t,%,ppm", *rows)
        assert table.frame.columns == ["ID", "Date", "FA", "Repeat", "Cu", "Zn"]
        assert table.units == {"FA": "g/t", "Repeat": "g/t", "Cu": "%", "Zn": "ppm"}
        assert table.frame.height == 3
    terms = read_lines("rock,rock,n,n", "shale,tuff,a,b", "tuff,shale,1,2", "tuff,shale,3,4", "shale,tuff,a,b")
    assert terms.frame.height == 4
