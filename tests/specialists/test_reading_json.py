"""Reading JSON lines and arrays of objects."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

Read = Callable[..., Table]


@pytest.fixture
def read(context: ToolContext, write_file: Callable[[str, str], str]) -> Read:
    return lambda text, name="t.jsonl": read_table(context, write_file(name, text))


def test_lines_and_arrays_give_the_same_table(read: Read) -> None:
    first, second = '{"s": "a", "v": 1.5, "n": null}', '{"s": null, "v": 2, "n": 3}'
    expected = [("a", 1.5, None), (None, 2.0, 3)]
    assert read(f"{first}\n\n{second}\n").frame.rows() == expected
    assert read(f"[{first},\n {second}]", "t.json").frame.rows() == expected
    assert read(f"{first}\n{second}\n", "t.txt").frame.rows() == expected


def test_text_stays_text_and_long_integers_keep_their_digits(read: Read) -> None:
    table = read('{"uid": "184460001234567811", "site": "00010", "big": 99999999999999999999, "ok": true}\n')
    assert table.frame.row(0) == ("184460001234567811", "00010", "99999999999999999999", True)
    assert "numbers written as text kept as text: 'uid', 'site'" in table.notes


def test_integers_beside_floats_are_floats_unless_digits_would_go(read: Read) -> None:
    assert read('{"v": 1}\n{"v": 0.5}\n').frame["v"].to_list() == [1.0, 0.5]
    assert read('{"v": 9007199254740993}\n{"v": 0.5}\n').frame["v"].to_list() == ["9007199254740993", "0.5"]


def test_keys_come_in_order_of_first_appearance_and_gaps_are_counted(read: Read) -> None:
    table = read('{"b": 1}\n{"a": 2, "b": 3}\n')
    assert table.frame.columns == ["b", "a"]
    assert table.frame.rows() == [(1, None), (3, 2)]
    assert "1 of 2 records lack some of the 2 keys: read as missing" in table.notes


def test_mixed_and_nested_values_stay_text_with_a_note(read: Read) -> None:
    table = read('{"m": 1, "l": [1, 2]}\n{"m": "x", "l": null}\n')
    assert table.frame.rows() == [("1", "[1, 2]"), ("x", None)]
    assert len(table.notes) == 2


def test_dates_become_dates_and_empty_text_is_missing(read: Read) -> None:
    table = read('{"d": "2020-01-31", "t": ""}\n{"d": null, "t": "x"}\n')
    assert table.frame.schema == {"d": pl.Date, "t": pl.String}
    assert table.frame["t"].to_list() == [None, "x"]
    assert "empty text read as missing: 't' 1" in table.notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}\n{"a": \n', "line 2 is not a JSON object"),
        ('{"a": 1}\n[2]\n', "line 2 is no JSON object"),
        ("[1, 2]", "record 1 is no JSON object"),
        ("[]", "holds no records"),
        ('{"a": 1, "a": 2}\n', "a key stands twice"),
        ('{"a": Infinity}\n', "Infinity is not a value"),
        ('{"type": "x", "features": [1]}', "one JSON object and not a list of records"),
        ('{"a": "\\ud800"}\n', "line 1"),
        ("[" * 20_000, "nested too deeply"),
    ],
)
def test_what_is_no_list_of_records_is_refused(read: Read, text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read(text)


def test_nested_records_become_dotted_columns(read: Read) -> None:
    table = read('{"id": "a", "at": {"x": 1, "deep": {"y": 2.5}}}\n{"id": "b", "at": {"x": 3}}\n')
    assert table.frame.to_dict(as_series=False) == {"id": ["a", "b"], "at.x": [1, 3], "at.deep.y": [2.5, None]}
    assert "nested records became columns with dotted names: 'at'" in table.notes


def test_a_dotted_name_that_is_taken_leaves_records_as_they_are(read: Read) -> None:
    table = read('{"at.x": 9, "at": {"x": 1}}\n{"at.x": 8, "at": {"x": 3}}\n')
    assert table.frame.to_dict(as_series=False) == {"at.x": [9, 8], "at": ['{"x": 1}', '{"x": 3}']}


def test_points_of_geojson_are_rows_with_coordinates(read: Read) -> None:
    features = ",".join(
        f'{{"type": "Feature", "properties": {{"hole": "K{n}", "Au": {n}.5}}, '
        f'"geometry": {{"type": "Point", "coordinates": [118.{n}, -32.{n}]}}}}'
        for n in (1, 2)
    )
    table = read('{"type": "FeatureCollection", "features": [' + features + "]}", "t.geojson")
    assert table.frame.rows() == [("K1", 1.5, 118.1, -32.1), ("K2", 2.5, 118.2, -32.2)]
    assert table.frame.columns == ["hole", "Au", "longitude", "latitude"]
    assert any("2 points" in note for note in table.notes)


def test_lists_of_records_of_one_object_are_tables(read: Read) -> None:
    one = '{"site": "Kite",\n "samples": [{"id": "a", "Au": 1}, {"id": "b", "Au": 2}]}'
    table = read(one, "t.json")
    assert table.frame.rows() == [("a", 1), ("b", 2)]
    assert table.header == {"site": "Kite"}
    with pytest.raises(DataError, match=r"holds 2 tables, 'a' \(1 rows × 1 columns\), 'b' \(2 rows × 1 columns\)"):
        read('{"a": [{"x": 1}], "b": [{"x": 2}, {"x": 3}]}', "t.json")
