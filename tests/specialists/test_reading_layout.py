"""From records to a table: lines above and below it, header, units, ragged rows, shifted rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

Read = Callable[[str], Table]


@pytest.fixture
def read(context: ToolContext, write_file: Callable[[str, str], str]) -> Read:
    return lambda text: read_table(context, write_file("t.csv", text))


def test_title_lines_above_the_header_are_skipped_and_counted_and_not_quoted(read: Read) -> None:
    table = read("Extract | portal v3\nProject;Kite Hill\n\nSite;Zn ppm;Pb ppm\nK1;120;35\nK2;95;41\n")
    assert table.frame.rows() == [("K1", 120, 35), ("K2", 95, 41)]
    assert table.notes == ("lines 1 to 2 above the header skipped (19, 17 characters)",)


def test_comment_lines_are_no_header_unless_the_last_one_is(read: Read) -> None:
    assert read("# made today\n# by me\na,b\n1,2\n").frame.columns == ["a", "b"]
    table = read("# made today\n# a,b\n1,2\n")
    assert table.frame.columns == ["a", "b"]
    assert "line 2 begins with # and was read as the header" in table.notes


def test_a_row_of_units_becomes_units(read: Read) -> None:
    table = read("Sample,Depth,Au,Cu\n,m,g/t,%\nA1,1.5,<0.2,0.1\nA2,3,0.4,0.3\n")
    assert table.frame.height == 2
    assert table.units == {"Depth": "m", "Au": "g/t", "Cu": "%"}
    assert "line 2 below the header holds the units of 3 columns" in table.notes


@pytest.mark.parametrize("row", ["x,a", "x,unknown", "x,<0.1", "x,bdl", "x,NA", "x,5"])
def test_a_row_of_data_is_never_taken_for_units(read: Read, row: str) -> None:
    table = read(f"hole,azimuth\n{row}\ny,1\nz,2\n")
    assert table.frame.height == 3
    assert table.units == {}


def test_a_second_line_of_names_below_groups_gives_the_names_and_units(read: Read) -> None:
    table = read("Hole,Interval,,Au\n,From,To,g/t\nK1,0,1,0.5\nK1,1,2,0.7\n")
    assert table.frame.columns == ["Hole", "From", "To", "Au"]
    assert table.units == {"Au": "g/t"}
    assert table.frame.height == 2
    assert any("line 2 is a second line of the header: 2 names from it" in note for note in table.notes)


def test_format_codes_below_the_header_are_skipped(read: Read) -> None:
    table = read("site\tvalue\n15s\t8n\n01\t2.5\n02\t3.5\n")
    assert table.frame.rows() == [("01", 2.5), ("02", 3.5)]
    assert any("format codes" in note for note in table.notes)


def test_a_file_without_names_says_so(read: Read) -> None:
    table = read("569,malignant\n1.5,2,3,4\n5,6,7,8\n")
    assert table.frame.columns == ["column_1", "column_2", "column_3", "column_4"]
    assert table.frame.rows() == [(1.5, 2, 3, 4), (5.0, 6, 7, 8)]
    assert table.notes[0] == "line 1 skipped (13 characters)"
    assert table.notes[1].startswith("CHECK: no header: line 2 holds only numbers")


def test_names_that_are_numbers_are_kept_with_a_warning(read: Read) -> None:
    table = read("site,1990,1991\na,1,2\nb,3,4\n")
    assert table.frame.columns == ["site", "1990", "1991"]
    assert table.notes == ("CHECK: 2 column names are numbers; is line 1 a header?",)


def test_data_below_a_header_with_few_names_is_not_taken_for_names(read: Read) -> None:
    with pytest.raises(DataError, match="line 1 has names for 2 of 5 columns"):
        read("a,b,,,\nk,1,2,3,4\nl,5,6,7,8\n")


def test_missing_and_double_names_are_made_unique_with_a_note(read: Read) -> None:
    table = read("Au,,Au,Au_2,\n1,2,3,4,5\n6,7,8,9,10\n")
    assert table.frame.columns == ["Au", "column_2", "Au_3", "Au_2", "column_5"]
    assert table.frame.row(0) == (1, 2, 3, 4, 5)
    assert "2 columns without a name: column_2, column_5" in table.notes
    assert any("1 names stand more than once" in note and "'Au_3'" in note for note in table.notes)


def test_empty_fields_at_the_end_are_dropped_or_added_and_counted(read: Read) -> None:
    table = read("a,b,c\n1,2,3,\n4,5,6,,\n7,\n8,9,1\n")
    assert table.frame.rows() == [(1, 2, 3), (4, 5, 6), (7, None, None), (8, 9, 1)]
    assert "2 rows end with empty fields beyond the header, which were dropped" in table.notes
    assert "1 rows lack empty fields at their end, which were added" in table.notes


def test_rows_without_values_are_skipped_and_counted(read: Read) -> None:
    table = read("a,b\n1,2\n,\n3,4\n,\n")
    assert table.frame.rows() == [(1, 2), (3, 4)]
    assert "2 rows without any value were skipped" in table.notes


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blanks", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "rows", [["site,Cu", "A,1", "B,2"], ["site;Cu", "A;1", "B;2"], ['"site","Cu"', '"A",1', '"B",2']]
)
def test_blank_lines_at_the_end_are_nothing(
    context: ToolContext, write_file: Callable[[str, str], str], rows: list[str], blanks: int, end: str
) -> None:
    table = read_table(context, write_file("t.csv", end.join(rows) + end * (blanks + 1)))
    assert table.frame.rows() == [("A", 1), ("B", 2)]
    assert not any("blank" in note or "quote" in note for note in table.notes)


def test_a_file_of_one_column_may_end_with_blank_lines_too(read: Read) -> None:
    assert read("Cu\n1\n2\n\n\n").frame["Cu"].to_list() == [1, 2]


def test_blank_lines_amid_the_table_are_skipped_and_counted(read: Read) -> None:
    table = read('a,b\n\n1,"x\n\ny"\n\n  \n3,z\n\n \n')
    assert table.frame.rows() == [(1, "x\n\ny"), (3, "z")]
    assert "3 blank lines amid the table were skipped" in table.notes


@pytest.mark.parametrize("word", ["n.m.", "see remark", "lost", "a"])
def test_a_first_row_with_remarks_in_several_columns_is_data(read: Read, word: str) -> None:
    table = read(f"id,Cu,Zn\nS1,{word},{word}\nS2,1,2\nS3,3,4\n")
    assert table.frame["id"].to_list() == ["S1", "S2", "S3"]
    assert table.frame["Cu"].to_list() == [word, "1", "3"]


@pytest.mark.parametrize(("row", "units"), [(",from,to", {}), ("hole,ppm,XRF", {"Cu": "ppm"})])
def test_a_row_without_an_identifier_or_with_units_beside_words_is_a_line_of_the_header(
    read: Read, row: str, units: dict[str, str]
) -> None:
    table = read(f"id,Cu,Zn\n{row}\nS2,1,2\nS3,3,4\n")
    assert table.frame.rows() == [("S2", 1, 2), ("S3", 3, 4)]
    assert table.units == units
    assert any("line 2 below the header holds a second name of 2 columns" in note for note in table.notes)


def test_remarks_below_the_table_are_skipped(read: Read) -> None:
    table = read("Site;Zn;Pb\nK1;120;35\nK2;12;3\n* values by XRF\n")
    assert table.frame.height == 2
    assert "1 lines below the table skipped, from line 4 (15 characters)" in table.notes


def test_a_short_line_amid_the_data_is_refused_and_not_taken_for_a_remark(read: Read) -> None:
    with pytest.raises(DataError, match="line 3 has 1 fields, 3 are expected"):
        read("Site;Zn;Pb\nK1;120;35\n* moved\nK2;1;2\n")


def test_a_truncated_last_line_is_refused(read: Read) -> None:
    with pytest.raises(DataError, match="line 4 has 1 fields, 3 are expected"):
        read("Site;Zn;Pb\nK1;120;35\nK2;95;41\nK3")


def test_a_second_table_in_the_file_is_refused(read: Read) -> None:
    with pytest.raises(DataError, match=r"holds 2 tables, '1' \(3 rows × 3 columns\), '2' \(1 rows × 2 columns\)"):
        read("a,b,c\n1,2,3\n4,5,6\n7,8,9\n\nd,e\n1,2\n")


def test_stray_quotes_lose_no_row(read: Read) -> None:
    table = read('hole,casing,depth\nB1,6" steel,40\nB2,none,55\nB3,4" pvc, 30\nB4,none,25\n')
    assert table.frame["casing"].to_list() == ['6" steel', "none", '4" pvc', "none"]
    assert table.frame["depth"].sum() == 150
    assert any("quote character" in note for note in table.notes)


def test_an_unclosed_quote_does_not_swallow_the_rest_of_the_file(read: Read) -> None:
    table = read('hole,casing,depth\nB1,"6 inch,40\nB2,none,55\nB3,"4 inch",30\n')
    assert table.frame.height == 3
    assert table.frame["depth"].to_list() == [40, 55, 30]
    assert any("quotes do not close" in note for note in table.notes)


def test_a_field_beyond_the_limit_is_refused(read: Read) -> None:
    with pytest.raises(DataError, match="cannot be split into fields"):
        read("a,b\n1," + "x" * 200_000 + "\n")


def test_a_column_filled_only_where_the_last_is_empty_is_no_shift_by_itself(read: Read) -> None:
    rows = [f"S{i},{i / 100},,{1000 + i},{10 + i},0.{i + 1:02}" for i in range(30)]
    rows += [f"T{i},{i / 100},7,{1000 + i},{10 + i}," for i in range(20)]
    assert read("\n".join(["sample,Au,check,Ba,Co,Cd", *rows])).frame.height == 50


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b,c\n1,2,3\n4,5,6,7\n", "line 3 has 4 fields, 3 are expected from the header;"),
        (
            "Survey\na,b,c,d\n1,2,3,4\n4,5,6\n1,2,3,4\n",
            "line 4 has 3 fields, 4 are expected from line 2, which was read as the header",
        ),
        (
            "a,b,c\n1,2,3,4,5\n4,5,6,7\n1,2,3,4,5\n",
            "line 3 has 4 fields, 5 are expected from line 2, the first with as many numbers",
        ),
    ],
)
def test_a_ragged_line_is_told_with_the_line_that_expects_otherwise(
    context: ToolContext, write_file: Callable[[str, str], str], text: str, told: str
) -> None:
    with pytest.raises(DataError, match=told):
        read_table(context, write_file("t.csv", text))
