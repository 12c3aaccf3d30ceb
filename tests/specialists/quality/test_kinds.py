"""QA/QC rows told by what people write, misspelt or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.quality import flag_qaqc
from outcrop_specialists.tools.quality.kinds import kind_of, original_in

WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]


@pytest.mark.parametrize(
    ("text", "kind", "original"),
    [
        ("Blank", "blank", None),
        ("BLK-02", "blank", None),
        ("Coarse blank 3", "blank", None),
        ("Blanket peat", None, None),
        ("STD 5.2", "standard", None),
        ("OREAS 45d", "standard", None),
        ("CRM", "standard", None),
        ("Stdev", None, None),
        ("Stone", None, None),
        ("DUP of S2", "duplicate", "S2"),
        ("Duplicate of of (T2-TR4-013)", "duplicate", "T2-TR4-013"),
        ("Duplcate(T3-TR9-009)", "duplicate", "T3-TR9-009"),
        ("DUPL OF P3/D/BH1-020", "duplicate", "P3/D/BH1-020"),
        ("Field duplicate", "duplicate", None),
        ("Triplicate (T2-TR2-011)", "triplicate", "T2-TR2-011"),
        ("Duplex stainless", None, None),
        ("T2-TR1-001", None, None),
        ("ORIG", None, None),
        ("Replaced", None, None),
    ],
)
def test_a_text_tells_its_kind_and_its_original(text: str, kind: str | None, original: str | None) -> None:
    assert (kind_of(text), original_in(text)) == (kind, original)


QA = "sample,type,Au\nS1,ORIG,0.10\nS2,ORIG,0.30\nS2D,DUP of S2,0.50\nBL1,BLANK,<0.01\nST1,STD 5.2,5.15\nS3,ORIG,0.20\n"


def test_rows_are_flagged_counted_and_the_routine_ones_can_be_kept(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    path = write_file("qa.csv", QA)
    result = flag_qaqc.run(context, flag_qaqc.Arguments(path=path))
    assert result.results["counts"] == {"routine": 3, "blank": 1, "standard": 1, "duplicate": 1}
    header, *rows = read_rows(result.artifacts[0].path)
    assert [row[header.index("qaqc")] for row in rows] == [
        "routine", "routine", "duplicate", "blank", "standard", "routine",
    ]  # fmt: skip
    assert rows[2][header.index("qaqc_original")] == "S2"
    kept = flag_qaqc.run(context, flag_qaqc.Arguments(path=path, keep="routine"))
    assert [row[0] for row in read_rows(kept.artifacts[0].path)[1:]] == ["S1", "S2", "S3"]
    others = flag_qaqc.run(context, flag_qaqc.Arguments(path=path, keep="qaqc"))
    assert others.results["rows_written"] == 3


def test_short_codes_count_in_a_column_of_codes_only(context: ToolContext, write_file: WriteFile) -> None:
    path = write_file("c.csv", "id,qc,Au\na,N,1\nb,B,2\nc,D,3\nd,STD,4\ne,N,5\n")
    result = flag_qaqc.run(context, flag_qaqc.Arguments(path=path, type_column="qc"))
    assert result.results["counts"] == {"routine": 2, "blank": 1, "standard": 1, "duplicate": 1}


def test_two_columns_that_tell_different_rows_and_none_at_all_are_refused(
    context: ToolContext, write_file: WriteFile
) -> None:
    both = write_file("b.csv", "id,qc,Au\nBlank 1,N,1\nb,CRM,2\nc,N,3\n")
    with pytest.raises(ArgumentError, match="name the column") as refused:
        flag_qaqc.run(context, flag_qaqc.Arguments(path=both))
    assert refused.value.field == "type_column"
    none = write_file("n.csv", "id,Au\na,1\nb,2\n")
    with pytest.raises(ArgumentError, match="no text column names"):
        flag_qaqc.run(context, flag_qaqc.Arguments(path=none))


def test_the_trench_has_its_known_quality_control_rows(context: ToolContext, shared_file: Callable[[str], str]) -> None:
    result = flag_qaqc.run(context, flag_qaqc.Arguments(path=shared_file("files/als_an6_trench.csv")))
    assert result.results["counts"] == {"routine": 633, "blank": 35, "duplicate": 36, "triplicate": 3}
