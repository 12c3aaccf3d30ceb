"""Text whose columns are separated or aligned by blanks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

Read = Callable[[str], Table]


@pytest.fixture
def read(context: ToolContext, write_file: Callable[[str, str], str]) -> Read:
    return lambda text: read_table(context, write_file("t.txt", text))


def test_words_parted_by_blanks_are_fields(read: Read) -> None:
    table = read("hole  from to    Au\nK1    0    1    0.5\nK1    1    2.5  0.7\n")
    assert table.frame.to_dict(as_series=False) == {
        "hole": ["K1", "K1"],
        "from": [0, 1],
        "to": [1.0, 2.5],
        "Au": [0.5, 0.7],
    }
    assert "fields separated by blanks" in table.notes


def test_numbers_without_a_header_are_read_and_told(read: Read) -> None:
    table = read("1.0 2.0 3.0\n4.0 5.0 6.0\n")
    assert table.frame.rows() == [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]
    assert any("no header" in note for note in table.notes)


def test_a_header_that_lacks_the_name_of_row_names_gets_one(read: Read) -> None:
    table = read('"east" "north"\n"K 1" 10 20\n"K 2" 11 21\n"K 3" 12 22\n')
    assert table.frame.columns == ["row", "east", "north"]
    assert table.frame["row"].to_list() == ["K 1", "K 2", "K 3"]


def test_texts_with_blanks_are_cut_where_every_line_has_a_gap(read: Read) -> None:
    text = (
        "Station name      Zn ppm   Remark\n"
        "Kite Hill         120      near road\n"
        "Lower Boss Point           moved twice\n"
        "Elk               7\n"
    )
    table = read(text)
    assert table.frame.to_dict(as_series=False) == {
        "Station name": ["Kite Hill", "Lower Boss Point", "Elk"],
        "Zn ppm": [120, None, 7],
        "Remark": ["near road", "moved twice", None],
    }
    assert any("3 columns aligned by blanks were cut at fixed positions (2 fields are empty)" in n for n in table.notes)


def test_lines_above_and_below_stay_out(read: Read) -> None:
    table = read("Survey of 2024 by ACME\n\nx y z\n1 2 3\n4 5 6\n7 8 9\n\n* levelled again in May and June\n")
    assert table.frame.rows() == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]


@pytest.mark.parametrize(
    "text", ["Name\nHole 1\nHole 2\n", "Remark here\nnear road\nof old\n", "Sample ID\nK 1\nK 2\n"]
)
def test_one_column_of_text_is_not_cut(read: Read, text: str) -> None:
    assert read(text).frame.width == 1


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(2, 6).flatmap(
        lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=2, max_size=12)
    ),
    width=st.integers(1, 14),
)
def test_tables_of_numbers_read_back_the_same(context: ToolContext, rows: list[list[float]], width: int) -> None:
    names = [f"c{number}" for number in range(len(rows[0]))]
    lines = [" ".join(f"{cell!s:>{width}}" for cell in cells) for cells in [names, *rows]]
    (context.workspace / "h.txt").write_text("\n".join(lines) + "\n")
    assert [list(row) for row in read_table(context, "h.txt").frame.rows()] == rows
