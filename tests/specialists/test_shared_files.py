"""Real and messy files of ../shared/data: read right, or refused with the reason, or read with a loud note."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from outcrop_schemas.errors import DataError, PathError
from outcrop_specialists.columns import profile
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning import filter_rows, parse_detection_limits
from outcrop_specialists.tools.inspection import check_missing, detect_cleaning_issues

Read = Callable[[str], Table]


@pytest.fixture
def read(context: ToolContext, shared_file: Callable[[str], str]) -> Read:
    return lambda name: read_table(context, shared_file(name))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("files/airports.csv", (3376, 7)),
        ("files/als_an7_grab.csv", (18, 56)),
        ("files/babbitt_assay.csv", (35616, 7)),
        ("files/babbitt_collar.csv", (399, 4)),
        ("files/babbitt_survey.csv", (2628, 4)),
        ("files/breast_cancer_sk.csv", (569, 31)),
        ("files/colorado_soils.csv", (959, 42)),
        ("files/cpx_trace_regression.xlsx", (109, 47)),
        ("files/gswa_collars.csv", (4685, 22)),
        ("files/P-135_wrapped.LAS", (4951, 23)),
        ("files/P-135_cuttings_las3.las", (2, 3)),
        ("files/sample_utf16le_bom.las", (3, 8)),
        ("files/scorpio_e1_6038187.las", (2732, 9)),
        ("cases/depth_equals_null.las", (3, 2)),
        ("cases/more_curves_than_data.las", (3, 4)),
        ("cases/wrapped_multiple.las", (3, 16)),
        ("files/mw_borehole_lab.xlsx", (32, 53)),
        ("files/mw_borehole_lab_raw.csv", (32, 53)),
        ("files/p135_deviation_survey.xlsx", (19, 3)),
        ("files/penguins.jsonl", (344, 8)),
        ("files/penguins_raw.csv", (344, 17)),
        ("files/usgs_nwis_sites.rdb.txt", (206, 12)),
        ("files/waterinfo_dodewaard_cr.csv", (4, 41)),
        ("cases/late_string.xlsx", (1501, 2)),
        ("cases/quoted_newlines.csv", (3, 3)),
        ("cases/row_cap.csv", (1234, 2)),
        ("cases/trailing_delim.csv", (3, 4)),
        ("cases/unbounded_reply.csv", (20000, 4)),
        ("cases/unescaped_quotes.csv", (4, 3)),
    ],
)
def test_rows_and_columns_are_all_there(read: Read, name: str, shape: tuple[int, int]) -> None:
    table = read(name)
    assert (table.frame.height, table.frame.width - len(table.qualifiers)) == shape


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("files/dino_B33F0080_002.csv", r"holds 2 tables, '1' \(4 rows × 13 columns\), '2' \(3873 rows × 8 columns\)"),
        ("cases/hidden_and_two_sheets.xlsx", r"holds 3 tables, .*'old' \(1 rows × 2 columns, hidden\)"),
        ("cases/missing_ascii_section.las", "no ~A section with data, but line 15"),
        ("cases/formulas_nocache.xlsx", r"3 formula cells of sheet 'S' hold no stored result \(D2, D3, D4\)"),
    ],
)
def test_what_cannot_be_read_right_yet_is_refused(read: Read, name: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read(name)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("files/breast_cancer_sk.csv", "CHECK: no header: line 2 holds only numbers"),
        ("files/mw_borehole_lab_raw.csv", "SUSPECTED fill values, kept as numbers (remove them before computing): "
         "'fluoride_mg_l' has -9 in 2 rows"),
        ("files/waterinfo_dodewaard_cr.csv", "'BEMONSTERINGSHOOGTE' has -999999999 in 4 rows"),
        ("cases/cp1252_german.csv", "read as Windows-1252"),
        ("cases/preamble_footer.csv", "the last row left out, being no rows but totals: 'Total' (of its 2 numbers"),
        ("cases/sentinels.csv", "'rain' has -999 in 1 rows, 'rain' has -99 in 1 rows"),
        ("cases/unescaped_quotes.csv", "a quote character stands inside fields"),
    ],
)  # fmt: skip
def test_what_was_repaired_or_is_odd_is_said(read: Read, name: str, note: str) -> None:
    assert any(note in found for found in read(name).notes)


def test_codes_that_look_like_numbers_stay_text(read: Read) -> None:
    iata = read("files/airports.csv").frame["iata"]
    assert iata.n_unique() == 3376
    assert {"0E0", "0E8"} <= set(iata)
    assert read("files/babbitt_assay.csv").frame["BHID"].to_list()[0] == "34873"
    assert read("cases/sci_ids.csv").frame["bag"].to_list() == ["12E4", "1E2", "1998E107", "100"]
    assert read("cases/mixed_ids.csv").frame["sample"].to_list() == ["000837", "837", "K77021", "00012"]
    assert read("cases/big_ids.jsonl").frame["uid"].to_list() == ["184460001234567811", "184460001234567822"]
    assert read("files/usgs_nwis_sites.rdb.txt").frame["site_no"][0] == "03161500"


def test_missing_values_of_real_files_are_counted(context: ToolContext, read: Read) -> None:
    raw = read("files/penguins_raw.csv").frame
    names = ["Culmen Length (mm)", "Sex", "Delta 15 N (o/oo)", "Delta 13 C (o/oo)", "Comments"]
    assert [raw[name].null_count() for name in names] == [2, 11, 14, 13, 290]
    lines = read("files/penguins.jsonl").frame
    assert [lines[name].null_count() for name in ("sex", "bill_length_mm")] == [11, 2]
    read("files/babbitt_assay.csv")
    found = check_missing.run(context, check_missing.Arguments(path="babbitt_assay.csv")).results
    assert {column["name"]: column["missing"] for column in found["columns"]} == {
        "CU": 11931,
        "NI": 12177,
        "S": 12071,
        "FE": 35592,
    }
    codes = read("cases/na_text.csv").frame
    assert [codes[name].null_count() for name in ("country", "element", "ppm")] == [0, 0, 1]


def test_every_number_of_the_colorado_soils_is_what_plain_python_reads(read: Read) -> None:
    table = read("files/colorado_soils.csv")
    with table.path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in table.frame.columns[1:]:
        assert table.frame[name].to_list() == [float(row[name]) for row in rows]
    roles = {found.name: found.role for found in profile_table(table)}
    assert [roles[name] for name in ("SampleID", "Longitude", "Latitude", "Y", "K")] == [
        "sample_id",
        "longitude",
        "latitude",
        "element",
        "element",
    ]
    assert sum(role == "element" for role in roles.values()) == 39


def test_decimal_commas_units_and_encodings_of_cases(read: Read) -> None:
    euro = read("cases/euro_numbers.csv").frame
    assert math.isclose(euro["Zn mg/kg"].sum(), 1378.2)
    assert math.isclose(euro["Preis"].sum(), 1019.5)
    assert read("files/waterinfo_dodewaard_cr.csv").frame["X"][0] == 680971.416970065
    units = read("cases/units_row.csv")
    assert fmean(units.frame["Au"].to_list()) == pytest.approx(0.4)
    assert (units.units["Au"], units.units["Cu"]) == ("g/t", "%")
    assert read("cases/utf16_tab.txt").frame["δ13C ‰"].to_list() == [-4.5, -6.5]
    assert read("cases/bom_key.csv").frame.filter(pl.col("Sample") == "Q2")["Sb"].item() == 9
    assert read("cases/cp1252_german.csv").frame.columns == ["Probe", "Höhe", "Gestein"]
    assert numeric(read("cases/huge_range.csv"), "v").max() == 1e12


def test_detection_limits_of_real_and_made_files(context: ToolContext, read: Read) -> None:
    read("files/als_an7_grab.csv")
    found = parse_detection_limits.run(
        context, parse_detection_limits.Arguments(path="als_an7_grab.csv", columns=["Au"])
    )
    values = numeric(read_table(context, found.artifacts[0].path), "Au")
    assert found.results["columns"][0]["below"] == 3
    assert values.max() == 6.37
    assert fmean(values.to_list()) == pytest.approx(0.4358333333333333, rel=1e-12)
    read("cases/dl_mixed.csv")
    mixed = parse_detection_limits.run(context, parse_detection_limits.Arguments(path="dl_mixed.csv"))
    (counts,) = mixed.results["columns"]
    assert (counts["below"], counts["special"], counts["above"], counts["missing"]) == (3, 1, 1, 1)
    assert any("negative numbers of the size of a limit read as results below it" in note for note in mixed.notes)


def test_censored_results_late_in_a_column_are_counted(read: Read) -> None:
    (column,) = (found for found in profile_table(read("cases/late_text.csv")) if found.name == "As")
    assert (column.censored, column.missing) == (2, 0)


def test_a_filtered_real_file_has_the_known_counts(context: ToolContext, read: Read) -> None:
    read("files/gswa_collars.csv")
    arguments = {"path": "gswa_collars.csv", "column": "HoleType", "operator": "==", "value": "RAB"}
    found = filter_rows.run(context, filter_rows.Arguments.model_validate(arguments))
    assert found.results["rows_after"] == 2479


def test_profiles_of_real_files_are_json_without_text_of_rows(read: Read) -> None:
    table = read("files/gswa_collars.csv")
    text = json.dumps([found.as_json() for found in profile.profile_table(table)])
    assert not any(str(value) in text for value in table.frame["HoleId"].head(50))
    assert Path(table.path).name == "gswa_collars.csv"


DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_every_file_that_can_be_read_can_be_checked_and_written_and_read_back(
    context: ToolContext, shared_file: Callable[[str], str]
) -> None:
    read_files = 0
    for path in sorted(found for folder in ("files", "cases") for found in (DATA / folder).iterdir()):
        if not path.is_file() or path.stat().st_size > 5_000_000:
            continue
        name = shared_file(f"{path.parent.name}/{path.name}")
        try:
            table = read_table(context, name)
        except (DataError, PathError):
            continue
        read_files += 1
        found = detect_cleaning_issues.run(context, detect_cleaning_issues.Arguments(path=name))
        assert found.results["rows"] == table.frame.height
        column = table.frame.columns[0]
        every = {"path": name, "column": column, "operator": "in", "value": ["no such value"], "keep": "others"}
        if table.frame.schema[column] == pl.String:
            kept = filter_rows.run(context, filter_rows.Arguments.model_validate(every))
            again = read_table(context, kept.artifacts[0].path)
            assert_frame_equal(again.frame, table.frame)
            assert again.units == table.units
    assert read_files > 30
