"""The tool that converts columns to other units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.cleaning.convert_units import Arguments, run

Convert = Callable[..., tuple[ToolResult, Table]]


@pytest.fixture
def convert(context: ToolContext) -> Convert:
    def done(path: str, **arguments: Any) -> tuple[ToolResult, Table]:
        found = run(context, Arguments.model_validate({"path": path, **arguments}))
        return found, read_table(context, found.artifacts[0].path)

    return done


def test_a_column_is_converted_from_the_unit_that_the_table_tells(
    convert: Convert, write_file: Callable[[str, str], str]
) -> None:
    name = write_file("a.csv", "id,Cu,Au\n,%,ppm\n1,0.5,<0.1\n2,,0.3\n3,1,>5\n")
    found, table = convert(name, columns=["Cu", "Au"], to_units=["ppm", "ppb"])
    assert table.frame["Cu"].to_list() == [5000.0, None, 10000.0]
    assert table.frame["Au"].to_list() == [100.0, 300.0, 5000.0]
    assert table.frame["Au_q"].to_list() == ["<", "", ">"]
    assert table.units == {"Cu": "ppm", "Au": "ppb"}
    assert found.results["columns"]["Cu"] == {
        "from": "%", "to": "ppm", "converted": 2, "unchanged": 0, "factor": 10000.0
    }  # fmt: skip
    assert found.summary.startswith("Cu: 2 values from % to ppm (× 10000)")


def test_each_row_is_converted_from_its_own_unit(convert: Convert, write_rows: Callable[..., str]) -> None:
    rows = [[1, 0.5, "%"], [2, 4000, "ppm"], [3, 0.45, "%"], [4, 5500, "ppm"]]
    found, table = convert(
        write_rows("a.csv", ["s", "Cu", "unit"], rows), columns=["Cu"], to_units=["ppm"], unit_column="unit"
    )
    assert table.frame["Cu"].to_list() == [5000.0, 4000.0, 4500.0, 5500.0]
    assert found.results["columns"]["Cu"]["converted"] == {"%": 2, "ppm": 2}


def test_several_columns_in_two_units_are_brought_together_by_the_rows_of_one(
    convert: Convert, write_rows: Callable[..., str]
) -> None:
    rows = [[0.44, 0.27], [658, 330], [1.02, 12.0]]
    found, table = convert(
        write_rows("a.csv", ["ec", "tds"], rows),
        columns=["ec", "tds"],
        to_units=["µS/cm", "mg/L"],
        from_units=["mS/cm", "g/L"],
        cut_column="ec",
        below=10,
    )
    assert table.frame["ec"].to_list() == [440.0, 658.0, 1020.0]
    assert table.frame["tds"].to_list() == [270.0, 330.0, 12000.0]
    assert "ec: 2 values from mS/cm to µS/cm (× 1000), 1 taken to be in µS/cm already" in found.summary


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({"columns": ["v"], "to_units": ["ppm"]}, "from_units", "unit of 'v' is not known"),
        ({"columns": ["v"], "to_units": ["m"], "from_units": ["ppm"]}, "to_units", "measure different things"),
        ({"columns": ["v"], "to_units": ["m", "ft"]}, "to_units", "2 units for 1 columns"),
        ({"columns": ["id"], "to_units": ["m"], "from_units": ["ft"]}, "columns", "not numbers"),
        ({"columns": ["x"], "to_units": ["m"]}, "columns", "no column 'x'"),
        ({"columns": ["v"], "to_units": ["m"], "from_units": ["ft"], "below": 1, "above": 2}, "above", "not both"),
        ({"columns": ["v"], "to_units": ["m"], "from_units": ["ft"], "cut_column": "v"}, "cut_column", "needs below"),
        ({"columns": ["v"], "to_units": ["ppm"], "unit_column": "w"}, "unit_column", "1 values of 'v' have no unit"),
        (
            {"columns": ["v"], "to_units": ["m"], "from_units": ["ft"], "cut_column": "z", "below": 5},
            "cut_column",
            "1 values of 'v' lie in rows without a value of 'z'",
        ),
    ],
)
def test_what_cannot_be_converted_is_refused(
    convert: Convert, write_rows: Callable[..., str], arguments: dict[str, Any], field: str, reason: str
) -> None:
    name = write_rows("a.csv", ["id", "v", "w", "z"], [["a", 1.5, "ppm", 1], ["b", 2.5, "", ""]])
    with pytest.raises(ArgumentError, match=reason) as caught:
        convert(name, **arguments)
    assert caught.value.field == field


def test_the_same_work_gives_the_same_file_and_many_columns_a_short_answer(
    context: ToolContext, convert: Convert, write_rows: Callable[..., str]
) -> None:
    names = [f"e{i}_ppm" for i in range(500)]
    path = write_rows("wide.csv", names, [[i for i in range(500)], [i + 0.5 for i in range(500)]])
    first, _ = convert(path, columns=names, to_units=["%"])
    again, _ = convert(path, columns=names, to_units=["%"])
    assert first.artifacts == again.artifacts
    assert len(wire.dumps(first.as_json())) <= 1_200
