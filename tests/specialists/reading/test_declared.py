"""Missing values that a file declares itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_specialists.reading.declared import declared_nulls
from outcrop_specialists.reading.tables import Table

Read = Callable[..., Table]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# No data value: -9999", [-9999]),
        ("NODATA_value -999.25", [-999.25]),
        ("missing values are coded as -9", [-9]),
        ("-99 = not analysed", [-99]),
        ("-9 means missing; -8 means no data", [-9, -8]),
        ("Null: 99999", [99999]),
        ("Missing: 3 samples", []),
        ("5 missing", []),
        ("Datum -30 m, no data on slope", []),
        ("fill value = -1.5", [-1.5]),
    ],
)
def test_what_a_line_declares(line: str, expected: list[float]) -> None:
    assert sorted(declared_nulls([(3, [line])])) == sorted(expected)


def test_a_declared_value_becomes_missing_and_is_counted_with_its_line(read_lines: Read) -> None:
    table = read_lines("Survey of 2019", "No data: -9999", "", "id,v,w", "1,5.5,-9999", "2,-9999,7", "3,6,8")
    assert table.frame["v"].to_list() == [5.5, None, 6.0]
    assert table.frame["w"].to_list() == [None, 7, 8]
    assert "read as missing, because line 2 says that -9999 means so: 'v' (1), 'w' (1)" in table.notes


def test_a_line_below_the_table_declares_too(read_lines: Read) -> None:
    table = read_lines("id,v", "1,5.5", "2,-9", "3,6", "* -9 = not measured in the field")
    assert table.frame["v"].to_list() == [5.5, None, 6.0]


def test_what_is_not_declared_is_only_suspected(read_lines: Read) -> None:
    table = read_lines("id,v", "1,5.5", "2,-9999", "3,6")
    assert table.frame["v"].to_list() == [5.5, -9999, 6.0]
    assert any("SUSPECTED fill values" in note for note in table.notes)
