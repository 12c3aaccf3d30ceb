"""stack_tables: tables below each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.base import ToolResult

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


Write = Callable[..., str]


def test_tables_are_put_below_each_other_with_their_source(made: Made, write_rows: Write) -> None:
    one = write_rows("a.csv", ["id", "Cu", "when"], [["s1", 1, "2020-01-01"]])
    two = write_rows("b.csv", ["when", "ID", "Cu"], [["2020-01-02", "s2", 2.5], ["2020-01-03", "s3", None]])
    frame, found = made("stack_tables", paths=[one, two])
    assert frame.columns == ["source", "id", "Cu", "when"]
    assert frame.select("source", "id", "Cu").rows() == [
        ("a.csv", "s1", 1.0),
        ("b.csv", "s2", 2.5),
        ("b.csv", "s3", None),
    ]
    assert any("'ID' as 'id'" in note for note in found.notes)
    assert found.results["rows_of"] == {"a.csv": 1, "b.csv": 2}


def test_columns_that_not_every_file_has_are_refused_kept_or_left_out(made: Made, write_rows: Write) -> None:
    one, two = write_rows("a.csv", ["id", "Cu"], [["s1", 1]]), write_rows("b.csv", ["id", "Zn"], [["s2", 2]])
    with pytest.raises(ArgumentError, match=r"2 columns are not in every file: Cu, Zn \(b.csv lacks Cu\)"):
        made("stack_tables", paths=[one, two])
    assert made("stack_tables", paths=[one, two], columns="all")[0].columns == ["source", "id", "Cu", "Zn"]
    assert made("stack_tables", paths=[one, two], columns="common", source_column=None)[0].rows() == [("s1",), ("s2",)]


def test_numbers_beside_text_become_text_and_units_must_agree(made: Made, write_rows: Write) -> None:
    one, two = write_rows("a.csv", ["hole"], [[7]]), write_rows("b.csv", ["hole"], [["A1"]])
    frame, found = made("stack_tables", paths=[one, two])
    assert frame["hole"].to_list() == ["7", "A1"]
    assert any("'hole' became text" in note for note in found.notes)
    ppm = write_rows("p.csv", ["Au (ppm)", "id"], [[1, "a"]])
    assert made("stack_tables", paths=[ppm, write_rows("q.csv", ["Au (ppm)", "id"], [[2, "b"]])])[0].height == 2
    with pytest.raises(ArgumentError, match="named twice"):
        made("stack_tables", paths=[ppm, ppm])


def test_a_column_in_two_units_is_refused() -> None:
    from outcrop_specialists.tools.transform.stack_tables import _refuse_units

    frame = pl.DataFrame({"Au": [1.0]})
    tables = [Table(Path(f"{unit}.csv"), frame, units={"Au": unit}) for unit in ("ppm", "ppb")]
    with pytest.raises(ArgumentError, match=r"in ppm in ppm\.csv and in ppb in ppb\.csv"):
        _refuse_units(tables, ["Au"])
