"""Real logs, workbooks and texts with several tables: every question of the answer file that reading alone answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

Read = Callable[[str], Table]
close = pytest.approx


@pytest.fixture
def read(context: ToolContext, shared_file: Callable[[str], str]) -> Read:
    def read_shared(name: str) -> Table:
        file, mark, part = name.partition("#")
        return read_table(context, shared_file(file) + mark + part)

    return read_shared


@pytest.fixture(scope="session")
def answers(shared: Path) -> dict[str, Any]:
    found = json.loads((shared / "data" / "answers.json").read_text())
    return {each["id"]: each["answer"] for each in found}


def test_a_wrapped_log(read: Read, answers: dict[str, Any]) -> None:
    table = read("files/P-135_wrapped.LAS")
    frame = table.frame
    assert list(frame.shape) == answers["P-135_wrapped.LAS#1"]
    assert [frame["DEPT"].min(), frame["DEPT"].max()] == answers["P-135_wrapped.LAS#2"][:2]
    assert table.header["WELL"] == "Eastrock Lauren #1"
    for number, name in ((3, "GR"), (4, "RHOB"), (5, "DT")):
        curve = frame[name]
        found = [curve.null_count(), curve.mean(), curve.median(), curve.quantile(0.9, "linear")]
        assert found == close(answers[f"P-135_wrapped.LAS#{number}"], rel=1e-9)
    both = frame.drop_nulls(["GR", "RHOB"])
    correlation = both.select(pl.corr("GR", "RHOB")).item()
    assert [both.height, correlation] == close(answers["P-135_wrapped.LAS#6"], rel=1e-9)
    part = frame.filter(pl.col("DEPT").is_between(500, 600, "left"))["GR"].drop_nulls()
    assert [len(part), part.mean()] == close(answers["P-135_wrapped.LAS#7"], rel=1e-9)


def test_a_log_with_a_second_null_that_it_does_not_declare(read: Read, answers: dict[str, Any]) -> None:
    table = read("files/scorpio_e1_6038187.las")
    frame = table.frame
    key = "scorpio_e1_6038187.las"
    assert [*frame.shape, float(table.header["VERS"])] == answers[f"{key}#1"]
    assert [frame[name].null_count() for name in ("DFAR", "GAMN", "NEUT", "COND")] == answers[f"{key}#2"]
    gamma = frame["GAMN"].drop_nulls()
    valid = gamma.filter(gamma > -2324)
    second, count, least, mean, middle = answers[f"{key}#3"]
    assert (len(gamma) - len(valid), len(valid)) == (second, count)
    assert [valid.min(), valid.mean(), valid.median()] == close([least, mean, middle], rel=1e-9)
    assert any(f"'GAMN' has -2324.28 in {second} rows" in note for note in table.notes)
    assert (frame["CALI"] < 0).sum() == answers[f"{key}#4"]


def test_a_section_of_las_3_with_quoted_text_over_lines(read: Read, answers: dict[str, Any]) -> None:
    frame = read("files/P-135_cuttings_las3.las").frame
    assert [list(row) for row in frame.select("LITHT", "LITHB").rows()] == answers["P-135_cuttings_las3.las#1"]
    formations = [text.partition(".")[0] for text in frame["LITHD"]]
    assert formations == answers["P-135_cuttings_las3.las#2"]


def test_a_log_in_utf_16(read: Read, answers: dict[str, Any]) -> None:
    table = read("files/sample_utf16le_bom.las")
    assert list(table.frame.shape) == answers["sample_utf16le_bom.las#1"][1:]
    assert "read as UTF-16 (little-endian, with a byte-order mark)" in table.notes
    assert "CHECK: STRT, STOP and STEP give 81 rows, there are 3" in table.notes


def test_a_sheet_with_keys_above_and_units_below_its_header(read: Read, answers: dict[str, Any]) -> None:
    table = read("files/p135_deviation_survey.xlsx")
    key = "p135_deviation_survey.xlsx"
    assert table.frame.height == answers[f"{key}#1"]
    assert [table.frame["MD"][-1], table.frame["INC"].max()] == answers[f"{key}#2"]
    assert int(table.header["Total depth [m]"]) == answers[f"{key}#3"]
    assert table.units == {"MD": "m", "INC": "deg", "AZI": "deg"}


def test_a_sheet_with_unnamed_and_empty_columns_and_zeros(read: Read, answers: dict[str, Any]) -> None:
    frame = read("files/cpx_trace_regression.xlsx").frame
    key = "cpx_trace_regression.xlsx"
    empty = sum(column.null_count() == frame.height for column in frame)
    unnamed = sum(name.startswith("column_") for name in frame.columns)
    assert [*frame.shape, unnamed, empty] == answers[f"{key}#1"]
    names = ["TI(PPM)", "CR(PPM)", "NI(PPM)", "CR2O3(WT%)"]
    assert [frame[name].null_count() for name in names] == answers[f"{key}#2"]
    elements = [name for name in frame.columns if name.endswith("(PPM)")]
    assert frame.drop_nulls(elements).height == answers[f"{key}#3"]
    zeros = {name: int((frame[name] == 0).sum()) for name in elements}
    assert {name: count for name, count in zeros.items() if count} == answers[f"{key}#4"]


def test_a_sheet_that_another_library_cannot_open(read: Read, answers: dict[str, Any]) -> None:
    frame = read("files/mw_borehole_lab.xlsx").frame
    assert list(frame.shape) == answers["mw_borehole_lab.xlsx#1"]
    assert len(frame["fluoride_mg_l"].drop_nulls()) == answers["mw_borehole_lab.xlsx#2"]


def test_two_tables_below_a_block_of_keys(read: Read, answers: dict[str, Any]) -> None:
    key = "dino_B33F0080_002.csv"
    filters, readings = read(f"files/{key}#1"), read(f"files/{key}#2").frame
    assert [readings.height, filters.frame.height] == answers[f"{key}#1"]
    level = readings["Stand (cm t.o.v. NAP)"]
    assert [level.min(), level.max(), level.mean(), level.median()] == close(answers[f"{key}#2"], rel=1e-9)
    assert len(readings["Opmerking"].drop_nulls()) == answers[f"{key}#4"]
    assert filters.header["Referentie"] == "NAP"


def test_a_file_with_comments_and_a_line_of_formats(read: Read, answers: dict[str, Any]) -> None:
    key = "usgs_nwis_sites.rdb.txt"
    frame = read(f"files/{key}").frame
    altitude = frame["alt_va"]
    assert (frame.height, altitude.null_count()) == (answers[f"{key}#1"], answers[f"{key}#2"])
    assert [altitude.mean(), altitude.median(), altitude.max()] == close(answers[f"{key}#3"], rel=1e-6)
    counts = dict(frame["alt_datum_cd"].fill_null("").value_counts().rows())
    assert counts == answers[f"{key}#4"]
    assert frame["site_no"][0] == answers[f"{key}#5"]


def test_a_file_with_old_line_ends_and_decimal_commas(read: Read, answers: dict[str, Any]) -> None:
    key = "waterinfo_dodewaard_cr.csv"
    frame = read(f"files/{key}").frame
    assert list(frame.shape) == answers[f"{key}#1"]
    assert frame["NUMERIEKEWAARDE"].to_list() == answers[f"{key}#2"]
    assert frame["X"][0] == close(answers[f"{key}#3"], rel=1e-12)


def test_json_lines(read: Read, answers: dict[str, Any]) -> None:
    frame = read("files/penguins.jsonl").frame
    nulls = [frame[name].null_count() for name in ("sex", "bill_length_mm")]
    assert [frame.height, *nulls] == answers["penguins.jsonl#1"]
    counts = {f"{kind}|{place}": count for kind, place, count in frame.group_by("species", "island").len().rows()}
    assert counts == answers["penguins.jsonl#2"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cases/merged_header.xlsx", {"Hole": ["K1"] * 3 + ["K2"] * 2, "To": [1, 2, 3, 1, 2]}),
        ("cases/hidden_and_two_sheets.xlsx#*", {"Li": [10, 20, 30, 40], "sheet": ["2023", "2023", "2024", "2024"]}),
        ("cases/las_undeclared_null.las", {"GR": [50, -9999, 60, -9999, 70], "RHOB": [2.5, 2.52, None, 2.56, 2.58]}),
        ("cases/depth_equals_null.las", {"DEPT": [999.0, 999.25, 999.5], "GR": [40, 50, 60]}),
        ("cases/more_curves_than_data.las", {"DT": [300, 310, 320], "SP": [None] * 3}),
        ("cases/wrapped_multiple.las", {"DEPT": [1, 2, 3], "C15": [115, 215, 315]}),
        ("cases/big_ids.jsonl", {"site": ["00010", "00011"], "Zn": [5, 7]}),
    ],
)
def test_made_cases_give_the_values_that_are_right(read: Read, name: str, expected: dict[str, list[Any]]) -> None:
    frame = read(name).frame
    assert {column: frame[column].to_list() for column in expected} == expected
