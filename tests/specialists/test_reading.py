"""Reading a data file as a table: formats, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import DataError, PathError
from outcrop_specialists.reading.tables import read_table, write_csv
from outcrop_specialists.tools.base import ToolContext

WriteFile = Callable[[str, str | bytes], str]


def test_a_plain_csv_is_read_with_types_decided_by_whole_columns(context: ToolContext, write_file: WriteFile) -> None:
    text = "id,name,depth,taken,dry\n1,a,0.5,2020-01-31,true\n2,b,7,2020-02-01,false\n"
    table = read_table(context, write_file("a.csv", text))
    assert table.frame.schema == {
        "id": pl.Int64,
        "name": pl.String,
        "depth": pl.Float64,
        "taken": pl.Date,
        "dry": pl.Boolean,
    }
    assert table.frame.row(1) == (2, "b", 7.0, date(2020, 2, 1), False)
    assert table.path == context.workspace / "a.csv"
    assert table.notes == ()


@pytest.mark.parametrize(("name", "delimiter"), [("a.tsv", "\t"), ("a.txt", ";"), ("a.dat", "|"), ("a.csv", ",")])
def test_the_delimiter_is_found_from_the_content(
    context: ToolContext, write_file: WriteFile, name: str, delimiter: str
) -> None:
    text = "\n".join(delimiter.join(row) for row in (["a", "b", "c"], ["1", "x y", "2"], ["3", "z", "4"]))
    assert read_table(context, write_file(name, text)).frame.rows() == [(1, "x y", 2), (3, "z", 4)]


def test_quoted_fields_may_hold_delimiters_quotes_and_line_breaks(context: ToolContext, write_file: WriteFile) -> None:
    table = read_table(context, write_file("q.csv", 'id,log\n1,"grey, ""hard""\n\nshale"\n2,coal\n'))
    assert table.frame.rows() == [(1, 'grey, "hard"\n\nshale'), (2, "coal")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(context: ToolContext, write_file: WriteFile, line_end: str) -> None:
    table = read_table(context, write_file("e.csv", line_end.join(["a,b", "1,2", "3,4"]) + line_end))
    assert table.frame.rows() == [(1, 2), (3, 4)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_or_without_a_byte_order_mark_is_read(
    context: ToolContext, write_file: WriteFile, encoding: str
) -> None:
    table = read_table(context, write_file("u.csv", "Probe,δ13C ‰\nä,-5.5\n".encode(encoding)))
    assert table.frame.columns == ["Probe", "δ13C ‰"]
    assert table.frame.row(0) == ("ä", -5.5)


def test_windows_text_is_read_with_a_note(context: ToolContext, write_file: WriteFile) -> None:
    table = read_table(context, write_file("w.csv", "Probe,Höhe\nGröße,1\n".encode("cp1252")))
    assert table.frame.columns == ["Probe", "Höhe"]
    assert "Windows-1252 (3 letters beyond ASCII)" in table.notes[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,b\n1,\x00\n", "NUL byte at offset 6"),
        (b"\x81\x8d,b\n1,2\n", "neither UTF-8 nor Windows-1252"),
        (b"   \n\n", "only blanks"),
        (b"a,b\n", "no rows"),
        (b"%PDF-1.7 text", "a PDF document"),
        (b"\x1f\x8b\x08", "cannot be unpacked"),
        (b"PK\x03\x04 no workbook", "not a workbook"),
        (b"PAR1 no parquet", "cannot be read"),
        (b"<!DOCTYPE html><table></table>", "HTML or XML"),
        (b"~Version\nVERS. 2.0:\n~A\n1 2\n", "no section that names the curves"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, 2 are expected"),
        (b"a,b,c\n1,2,3\n4,5\n", "line 3 has 2 fields, 3 are expected"),
        (b"x,y\nr1,1,2\nr2,3,4\n", "line 1 has 2 fields but line 2 has 3; a name is missing"),
    ],
)
def test_what_cannot_be_read_as_one_table_is_refused_with_the_reason(
    context: ToolContext, write_file: WriteFile, content: bytes, reason: str
) -> None:
    with pytest.raises(DataError, match=r"^bad\.csv: ") as caught:
        read_table(context, write_file("bad.csv", content))
    assert reason in str(caught.value)


def test_paths_that_are_no_data_file_are_refused(context: ToolContext, write_file: WriteFile) -> None:
    write_file("empty.csv", b"")
    (context.workspace.parent / "secret.csv").write_text("a,b\n1,2\n")
    (context.workspace / "link.csv").symlink_to(context.workspace.parent / "secret.csv")
    for path in ("empty.csv", "missing.csv", ".", "../secret.csv", "link.csv"):
        with pytest.raises(PathError):
            read_table(context, path)


def test_parquet_is_read_with_nan_as_missing(context: ToolContext) -> None:
    frame = pl.DataFrame({"id": ["0E0", "1"], "v": [float("nan"), 2.5]}).with_columns(
        pl.col("v").cast(pl.Float32).alias("s")
    )
    frame.write_parquet(context.workspace / "p.bin")
    table = read_table(context, "p.bin")
    assert table.frame.schema == {"id": pl.String, "v": pl.Float64, "s": pl.Float64}
    assert table.frame.rows() == [("0E0", None, None), ("1", 2.5, 2.5)]
    assert "2 NaN read as missing" in table.notes


def test_a_written_table_has_all_digits_and_empty_gaps(context: ToolContext) -> None:
    frame = pl.DataFrame(
        {"v": [0.1 + 0.2, 1e-300, None, float("nan")], "t": ["a,b", "ä", None, "x"], "i": [2**62, 1, 2, 3]}
    )
    write_csv(frame, context.workspace / "o.csv")
    assert (context.workspace / "o.csv").read_bytes() == (
        'v,t,i\n0.30000000000000004,"a,b",4611686018427387904\n1e-300,ä,1\n,,2\n,x,3\n'.encode()
    )


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
WORD = TEXT.map(lambda text: f"w {text}".replace("\r", "\n"))
CELLS = {
    "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "i": st.none() | st.integers(-(2**63), 2**63 - 1),
    "t": st.none() | WORD,
}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.just("key"), *CELLS.values()), min_size=1, max_size=12),
)
def test_what_is_written_reads_back_the_same(context: ToolContext, rows: list[tuple[str, float, int, str]]) -> None:
    schema = {"k": pl.String, "f": pl.Float64, "i": pl.Int64, "t": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    write_csv(frame, context.workspace / "round.csv")
    back = read_table(context, "round.csv").frame
    for name in schema:
        assert back[name].to_list() == frame[name].to_list()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_a_single_column_keeps_its_gaps_through_writing(context: ToolContext, values: list[float | None]) -> None:
    write_csv(pl.DataFrame({"only": values}, schema={"only": pl.Float64}), context.workspace / "one.csv")
    if not any(value is not None for value in values):
        return
    assert read_table(context, "one.csv").frame["only"].to_list() == values


def test_notes_never_quote_a_cell(context: ToolContext, write_file: WriteFile) -> None:
    text = "mixed,zeros,codes,empty,short\n" + "1,2,3,4,5\n" * 9 + "CANARY,0991,77E9,NA,\n" + "Total CANARY,1,2,3,4\n"
    table = read_table(context, write_file("c.csv", text))
    notes = " ".join(table.notes)
    assert len(table.notes) >= 4
    for value in ("CANARY", "0991", "77E9"):
        assert value not in notes
