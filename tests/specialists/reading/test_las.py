"""Reading well logs: LAS 1.2, 2.0 wrapped or not, 3.0."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

Read = Callable[..., Table]
HEAD = "~Version\nVERS. 2.0:\nWRAP. {wrap}:\n~Well\nSTRT.M {strt}:\nSTOP.M {stop}:\nSTEP.M {step}:\nNULL. -999.25:\n"
THREE = "~Version\nVERS. 3.0 :\nWRAP. NO :\nDLM. {dlm} :\n~Well\nNULL. -999.25 :\n"


@pytest.fixture
def read(context: ToolContext, write_file: Callable[[str, str | bytes], str]) -> Read:
    return lambda text, name="log.las", part="": read_table(context, write_file(name, text) + part)


def head(rows: int, wrap: str = "NO", strt: float = 1, step: float = 1) -> str:
    return HEAD.format(wrap=wrap, strt=strt, stop=strt + (rows - 1) * step, step=step)


def log(curves: str, data: str, rows: int, title: str = "~A", **more: object) -> str:
    return f"{head(rows, **more)}~Curve\n{curves}{title}\n{data}"  # type: ignore[arg-type]


def test_a_log_has_its_curves_units_nulls_and_header(read: Read) -> None:
    text = log("DEPT.M : depth\nGR.GAPI : gamma\n", "1.0 50.5\n2.0 -999.250\n3.0 60\n", 3)
    table = read(text.replace("NULL.", "WELL. Kite 1 : WELL\nSRVC. ACME: SERVICE COMPANY\nFLD. :\nNULL."))
    assert table.frame.to_dict(as_series=False) == {"DEPT": [1.0, 2.0, 3.0], "GR": [50.5, None, 60.0]}
    assert table.units == {"DEPT": "M", "GR": "GAPI"}
    assert (table.header["WELL"], table.header["SRVC"], table.header["STRT"]) == ("Kite 1", "ACME", "1 M")
    assert "FLD" not in table.header
    assert table.name == ""
    assert "the declared null -999.25 read as missing, 1 values: 'GR' 1" in table.notes
    assert not any("CHECK" in note for note in table.notes)


@pytest.mark.parametrize("name", ["log.las", "log.txt", "log.csv"])
def test_a_log_is_known_by_its_content_whatever_its_name(read: Read, name: str) -> None:
    text = "# written by hand\n\n" + log("DEPT.M :\nGR. :\n", "1 2\n2 3\n", 2)
    assert read(text, name).frame.rows() == [(1, 2), (2, 3)]


def test_in_las_1_2_value_and_description_of_a_well_line_are_exchanged(read: Read) -> None:
    text = (
        log("DEPT.M :\nGR. :\n", "1 2\n2 3\n", 2).replace("2.0", "1.20").replace("NULL.", "WELL. WELL: Kite 1\nNULL.")
    )
    assert read(text).header["WELL"] == "Kite 1"


def test_colons_in_values_and_descriptions_do_not_end_them(read: Read) -> None:
    lines = "DATE. 13:30 : logged (hh:mm)\nCLAB. Province:  : County Label\nNULL."
    header = read(log("DEPT.M :\nGR. :\n", "1 2\n2 3\n", 2).replace("NULL.", lines)).header
    assert (header["DATE"], header["CLAB"]) == ("13:30", "Province:")


def test_the_null_is_never_looked_for_in_the_index(read: Read) -> None:
    text = log("DEPT.M :\nGR. :\n", "999.0 999.25\n999.25 1\n999.5 2\n", 3, strt=999.0, step=0.25)
    table = read(text.replace("NULL. -999.25", "NULL. 999.25"))
    assert table.frame.rows() == [(999.0, None), (999.25, 1), (999.5, 2)]


def test_wrapped_values_are_counted_and_not_lines(read: Read) -> None:
    curves = "DEPT.M :\n" + "".join(f"C{n}. :\n" for n in range(1, 8))
    data = "1\n11 12 13\n14 15 16 17\n2\n21 22 23\n24 25 26 27\n"
    table = read(log(curves, data, 2, wrap="YES"))
    assert table.frame.rows() == [(1, 11, 12, 13, 14, 15, 16, 17), (2, 21, 22, 23, 24, 25, 26, 27)]


def test_wrapped_data_that_lack_a_value_are_refused_with_the_line(read: Read) -> None:
    with pytest.raises(
        DataError, match=r"hold 7 values, which is no multiple of the 4 curves: the last row, in line 18, has 3"
    ):
        read(log("DEPT.M :\nA. :\nB. :\nC. :\n", "1\n11 12\n2\n21 22 23\n", 2, wrap="YES"))


def test_rows_over_several_lines_are_read_although_the_header_denies_it(read: Read) -> None:
    table = read(log("DEPT.M :\nA. :\nB. :\n", "1\n11 12\n2\n21 22\n", 2))
    assert table.frame.rows() == [(1, 11, 12), (2, 21, 22)]
    assert "CHECK: WRAP says NO, but rows go over several lines; read as wrapped" in table.notes


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("1 2\n2 3\n4 3\n", "CHECK: STRT, STOP and STEP give 3 rows, there are 4"),
        ("1 2\n2 3\n4 3\n", "CHECK: 1 steps of the index are not 1, the first after row 2"),
        ("1 2\n3 3\n2 3\n", "CHECK: the index 'DEPT' turns back: 1 steps up, 1 down"),
        ("1 2\n2 3\n2 3\n", "CHECK: the index 'DEPT' repeats its value 1 times"),
        ("9 2\n10 3\n11 3\n", "CHECK: the index runs from 9 to 11, the header says 1 to 3"),
    ],
)
def test_an_index_that_disagrees_with_the_header_is_told(read: Read, data: str, note: str) -> None:
    text = log("DEPT.M :\nGR. :\n", data, 3)
    if "4 rows" in note or "there are 4" in note:
        text += "5 6\n"
    assert note in read(text).notes


def test_an_index_in_another_unit_than_its_header_is_told(read: Read) -> None:
    notes = read(log("DEPT.FT :\nGR. :\n", "1 2\n2 3\n", 2)).notes
    assert "CHECK: STRT is in M, the index 'DEPT' in FT" in notes


def test_downward_and_upward_logs_are_as_good(read: Read) -> None:
    table = read(log("DEPT.M :\nGR. :\n", "5 1\n4.5 2\n4 3\n", 3, strt=5, step=-0.5))
    assert not any("CHECK" in note for note in table.notes)


def test_nulls_that_are_not_declared_are_suspected_and_kept(read: Read) -> None:
    rows = [(n, -2324.28 if n <= 5 else 60 + n % 7, -9999 if n % 2 else 2.5) for n in range(1, 31)]
    table = read(
        log("DEPT.M :\nGR. :\nRHOB. :\n", "".join(f"{depth} {gamma} {density}\n" for depth, gamma, density in rows), 30)
    )
    assert table.frame.rows() == rows
    (note,) = (note for note in table.notes if "SUSPECTED" in note)
    assert "'GR' has -2324.28 in 5 rows" in note
    assert "'RHOB' has -9999 in 15 rows" in note


def test_curves_without_data_are_told_by_the_names_behind_the_a(read: Read) -> None:
    curves = "DEPT.M :\nGR.GAPI :\nSP.MV :\nDT.US/M :\n"
    table = read(log(curves, "1 50 300\n2 60 310\n", 2, title="~A  DEPT[M] GR DT"))
    assert table.frame.to_dict(as_series=False) == {
        "DEPT": [1, 2],
        "GR": [50, 60],
        "DT": [300, 310],
        "SP": [None, None],
    }
    assert any("no data for 'SP'" in note for note in table.notes)


@pytest.mark.parametrize("title", ["~A", "~ASCII LOG DATA", "~A DEPT X Y"])
def test_values_that_no_name_claims_are_refused(read: Read, title: str) -> None:
    with pytest.raises(DataError, match=r"line 15 has 3 values|name different columns"):
        read(log("DEPT.M :\nGR. :\nSP. :\nDT. :\n", "1 50 300\n2 60 310\n", 2, title=title))


def test_more_values_than_curves_are_refused_unless_they_are_named(read: Read) -> None:
    with pytest.raises(DataError, match="3 values but the header names 2 curves"):
        read(log("DEPT.M :\nGR. :\n", "1 50 300\n2 60 310\n", 2))
    table = read(log("DEPT.M :\nGR. :\n", "1 50 300\n2 60 310\n", 2, title="~A DEPT DT GR"))
    assert table.frame.columns == ["DEPT", "DT", "GR"]


def test_double_mnemonics_are_made_unique(read: Read) -> None:
    table = read(log("DEPT.M :\nGR.GAPI :\nGR.CPS :\n", "1 2 3\n2 3 4\n", 2))
    assert table.frame.columns == ["DEPT", "GR", "GR_2"]
    assert table.units["GR_2"] == "CPS"
    assert "1 mnemonics stand more than once: curve 3 'GR' is now 'GR_2'" in table.notes


def test_numbers_that_run_into_each_other_are_parted_and_counted(read: Read) -> None:
    table = read(log("DEPT.M :\nA. :\nB. :\n", "1 2.5-999.25\n2 3 4\n", 2))
    assert table.frame.rows() == [(1, 2.5, None), (2, 3.0, 4.0)]
    assert any("1 lines had numbers that run into each other" in note for note in table.notes)


def test_decimal_commas_are_decimals(read: Read) -> None:
    table = read(log("DEPT.M :\nA. :\n", "1,0 2,55\n2,0 3,5\n", 2))
    assert table.frame.rows() == [(1.0, 2.55), (2.0, 3.5)]


def test_a_file_without_data_says_where_they_may_begin(read: Read) -> None:
    text = head(2) + "~Curve\nDEPT.M :\nGR. :\n~Parameter\n1 50\n2 60\n"
    with pytest.raises(DataError, match="no ~A section with data, but line 13, in '~Parameter', holds 2 numbers"):
        read(text)
    with pytest.raises(DataError, match="without a section of data"):
        read(head(2))


def test_a_truncated_line_is_refused(read: Read) -> None:
    with pytest.raises(DataError, match="line 15 has 2 values for 3 curves"):
        read(log("DEPT.M :\nA. :\nB. :\n", "1 2 3\n2 3\n3 4 5\n", 3))


def test_sections_of_las_3_are_tables_of_their_own(read: Read) -> None:
    text = THREE.format(dlm="COMMA") + (
        "~Log_Definition\nDEPT.M : {F}\nGR.GAPI : {F}\n~Log_Data | Log_Definition\n1,50\n2,-999.25\n"
        "~Tops_Definition\nNAME. : {S}\nTOP.M : {F}\nDAY. : picked {DD/MM/YYYY}\n"
        '~Tops_Data | Tops_Definition\n"Boss, lower\nunit",10.5,3/12/2020\n007, 12,\n'
    )
    table = read(text)
    assert (table.name, table.frame.rows()) == ("Log", [(1, 50), (2, None)])
    assert "section 'Log' read; NOT read: 'Tops' (2 lines)" in table.notes
    tops = read(text, part="#tops")
    assert tops.frame.rows() == [("Boss, lower\nunit", 10.5, date(2020, 12, 3)), ("007", 12.0, None)]
    assert tops.units == {"TOP": "M"}
    assert tops.path.name == "log.las"


@pytest.mark.parametrize(("word", "mark"), [("SPACE", "  "), ("COMMA", ","), ("TAB", "\t"), ("", ","), ("SPACE", "\t")])
def test_every_separator_is_read_also_where_another_is_declared(read: Read, word: str, mark: str) -> None:
    text = THREE.format(dlm=word) + (
        "~Curve\nDEPT.M :\nTAG. : {S}\nAT. : {YYYY-MM-DD hh:mm}\nB. :\n~A\n"
        + f'1{mark}"two words"{mark}"2020-01-31 10:30"{mark}2.5\n3{mark}x{mark}"2020-02-01 00:00"{mark}-999.25\n'
    )
    assert read(text).frame.rows() == [
        (1, "two words", datetime(2020, 1, 31, 10, 30), 2.5),
        (3, "x", datetime(2020, 2, 1), None),
    ]


def test_numbered_sections_are_told_apart(read: Read) -> None:
    text = THREE.format(dlm="COMMA")
    for number in (1, 2):
        text += f"~Core_Definition[{number}]\nTOP.M : {{F}}\nK{number}.MD : {{F}}\n"
        text += f"~Core_Data[{number}] | Core_Definition[{number}]\n1,{number}\n2,{number}5\n"
    with pytest.raises(DataError, match=r"'Core_1' \(2 rows × 2 columns\), 'Core_2' \(2 rows × 2 columns\)"):
        read(text)
    assert read(text, part="#Core_2").frame.columns == ["TOP", "K2"]


def test_data_may_be_named_by_their_definition_alone(read: Read) -> None:
    text = THREE.format(dlm="COMMA") + (
        "~Curve\nDEPT.M : {F}\nGR. : {F}\n~Drilling_Definition\nDEPT.ft :\nCond..MS/M :\nI. Res..OHM-M :\n"
        "~Drilling | Drilling_Definition\n322.02,1.02,0.5\n~Core_Definition\nTOP.M : {F}\nTEXT. : {S}\n"
        "~Core[1] | Core_Definition\n1.5,long hunk of rock\n~Core[2] | CORE_Definition\n3.5,debris\n"
        "~Ascii | Curve\n1,50\n2,60\n"
    )
    assert read(text).frame.rows() == [(1, 50), (2, 60)]
    assert read(text, part="#Core_2").frame.rows() == [(3.5, "debris")]
    assert read(text, part="#Drilling").units == {"DEPT": "ft", "Cond.": "MS/M", "I. Res.": "OHM-M"}


def test_each_log_of_a_file_has_the_curves_and_parameters_above_it(read: Read) -> None:
    text = head(2) + "~Parameter\nSET. one :\n~Curve\nDEPT.M :\nGR. :\n~A\n1 50\n2 60\n"
    text += "~Parameter\nSET. two :\n~Curve\nMD.M :\nTVD.M :\nX.M :\n~A\n1 1 0\n2 1.9 0.5\n"
    with pytest.raises(DataError, match=r"'Log_1' \(2 rows × 2 columns\), 'Log_2' \(2 rows × 3 columns\)"):
        read(text)
    first, second = read(text, part="#1"), read(text, part="#2")
    assert (first.frame.columns, second.frame.columns) == (["DEPT", "GR"], ["MD", "TVD", "X"])
    assert (first.header["SET"], second.header["SET"]) == ("one", "two")


def test_a_log_by_time_has_times(read: Read) -> None:
    text = "~V\nVERS. 2.0 :\nWRAP. NO :\n~W\nSTRT.DD/MM/YYYY-HH:MM:SS 03/09/2021-00:00:00 : Start\nNULL. -999.25 :\n"
    text += "~C\nTIME.DD/MM/YYYY-HH:MM:SS :\nBIT.ft :\n~A\n03/09/2021-00:00:05 76.8\n03/09/2021-00:10:00 -999.25\n"
    table = read(text)
    assert table.frame.rows() == [(datetime(2021, 9, 3, 0, 0, 5), 76.8), (datetime(2021, 9, 3, 0, 10), None)]
    assert table.units == {"BIT": "ft"}


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 4)).filter(lambda v: v != -999.25)
SHAPES = st.integers(1, 12).flatmap(
    lambda width: st.lists(st.lists(st.none() | NUMBERS, min_size=width, max_size=width), min_size=2, max_size=15)
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=SHAPES,
    is_wrapped=st.booleans(),
    per_line=st.integers(1, 6),
    strt=st.integers(-200, 2000),
    step=st.sampled_from([0.125, 0.5, 1.0, -0.25]),
    blanks=st.integers(1, 5),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_is_written_as_las_2_reads_back_the_same(
    context: ToolContext,
    rows: list[list[float | None]],
    is_wrapped: bool,
    per_line: int,
    strt: int,
    step: float,
    blanks: int,
    ends: str,
) -> None:
    index = [strt + number * step for number in range(len(rows))]
    names = [f"C{number}" for number in range(len(rows[0]))]
    lines = head(len(rows), "YES" if is_wrapped else "NO", strt, step).splitlines()
    lines += ["~Curve", "DEPT.M : depth", *(f"{name}.X : a curve" for name in names), "~A"]
    for depth, values in zip(index, rows, strict=True):
        cells = ["-999.2500" if value is None else repr(value) for value in values]
        if is_wrapped:
            lines.append(f"{depth!r}")
            lines += [(" " * blanks).join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)]
        else:
            lines.append((" " * blanks).join(["", f"{depth!r}", *cells]))
    (context.workspace / "h.las").write_bytes(ends.join([*lines, ""]).encode())
    table = read_table(context, "h.las")
    assert table.frame["DEPT"].cast(pl.Float64).to_list() == index
    for position, name in enumerate(names):
        assert table.frame[name].to_list() == [values[position] for values in rows]
    assert not any("CHECK" in note for note in table.notes)
    missing = sum(value is None for values in rows for value in values)
    told = [note for note in table.notes if f"read as missing, {missing} values" in note]
    assert bool(told) == bool(missing)
