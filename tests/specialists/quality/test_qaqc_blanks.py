"""Blanks against multiples of the detection limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.quality import qaqc_blanks

WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]

TEXT = (
    "sample,type,Au,Cu\nS1,,0.5,30\nB1,Blank,<0.01,5\nB2,Blank,0.04,9\nB3,Blank,0.06,80\nB4,BLANK,,7\nS2,,<0.01,45\n"
    "S3,,0.7,50\nB5,blank,0.05,3\n"
)


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = qaqc_blanks.run(context, qaqc_blanks.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def test_a_blank_fails_above_five_detection_limits_and_not_at_them(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    result = run(context, write_file("a.csv", TEXT))
    assert (result.results["blanks"], result.results["failures"], result.results["blanks_that_fail"]) == (5, 1, 1)
    found = result.results["columns"]["Au"]
    assert found == {
        "blanks": 4,
        "failures": 1,
        "share": 0.25,
        "limit": pytest.approx(0.05),
        "detection_limit": 0.01,
        "below_limit": 1,
        "max": 0.06,
    }
    header, failure = read_rows(result.artifacts[0].path)
    assert dict(zip(header, failure, strict=True)) | {"limit": "", "times_limit": ""} == {
        "data_row": "4", "sample": "B3", "type": "Blank", "column checked": "Au", "value": "0.06", "limit": "",
        "times_limit": "",
    }  # fmt: skip
    assert any("no limit known, not checked: Cu" in note for note in result.notes)


def test_limits_can_be_given(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("a.csv", TEXT)
    result = run(context, path, factor=3, limits={"Cu": 8}, detection_limits={"Au": 0.02})
    assert {name: each["failures"] for name, each in result.results["columns"].items()} == {"Cu": 2, "Au": 0}
    for arguments, field in (({"limits": {"Cu": 0}}, "limits"), ({"limits": {"Zn": 1}}, "limits")):
        with pytest.raises(ArgumentError) as refused:
            run(context, path, **arguments)
        assert refused.value.field == field


def test_no_blanks_and_no_limits_are_refused(context: ToolContext, write_file: WriteFile) -> None:
    with pytest.raises(ArgumentError, match="no row is a blank") as refused:
        run(context, write_file("a.csv", "id,type,Au\na,DUP of b,1\nb,,2\nc,,3\n"))
    assert refused.value.field == "type_column"
    with pytest.raises(ArgumentError, match="give detection_limits") as refused:
        run(context, write_file("b.csv", "id,type,Au\na,Blank,1\nb,,2\nc,,3\n"))
    assert refused.value.field == "detection_limits"


def test_no_failure_still_gives_both_files(context: ToolContext, write_file: WriteFile, read_rows: ReadRows) -> None:
    result = run(context, write_file("a.csv", "id,type,Au\na,Blank,<0.01\nb,,2\nc,,3\nd,,4\n"))
    assert result.results["failures"] == 0
    assert len(read_rows(result.artifacts[0].path)) == 1
    assert "0 of 1 blanks fail" in result.summary
