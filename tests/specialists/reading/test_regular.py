"""The quick way through a large regular file gives the table that the careful way gives, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading import layout, regular, text
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

WriteFile = Callable[[str, str | bytes], str]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Head, blocks and tail of a few rows, so that small files have all three."""
    for module in (text, layout):
        monkeypatch.setattr(module, "SAMPLED_RECORDS", 5)
    for name, value in (
        ("LARGE_BYTES", 0),
        ("SPARE_RECORDS", 2),
        ("FIRST_HEAD_BYTES", 16),
        ("BLOCK_BYTES", 80),
        ("TAIL_BYTES", 60),
    ):
        monkeypatch.setattr(regular, name, value)


def assert_same(quick: Table, careful: Table) -> None:
    assert quick.frame.schema == careful.frame.schema
    assert quick.frame.equals(careful.frame, null_equal=True)
    for each in fields(Table):
        if each.name != "frame":
            assert getattr(quick, each.name) == getattr(careful, each.name), each.name


def rows(count: int, separator: str = ",", end: str = "\n") -> str:
    lines = [
        separator.join([f"S{n:04d}", f"{n * 0.37:.2f}", str(n % 7), f"2020-01-{n % 28 + 1:02d}"]) for n in range(count)
    ]
    return end.join([separator.join(["id", "Au", "n", "taken"]), *lines]) + end


@pytest.mark.parametrize(
    ("content", "taken"),
    [
        (rows(60), True),
        (rows(60, ";"), True),
        (rows(60, "\t", "\r\n"), True),
        ("\ufeff" + rows(60), True),
        (rows(60) + "Source: somebody wrote this down by hand\n", True),
        (rows(60) + "\n\n\n", True),
        (rows(60).replace("S0030", "Größe"), True),
        (rows(60).replace("S0030", '"S,30"'), True),
        (rows(60).replace("S0030", '"S ""30"""'), True),
        (rows(60).replace("S0030", '"two\nlines"'), True),
        (rows(60).replace("2020-01-05", ""), True),
        (rows(60).replace(",4,", ",<4,"), True),
        (rows(60).replace("\n", ",\n"), True),
        ("made by hand\n" + rows(60), True),
        (rows(60).replace("\n", ",,\n").replace("taken,,", "taken"), True),
        (rows(60).replace("S0030", '5" pipe'), False),
        (rows(60).replace("S0030,", "\n"), False),
        (rows(60).replace("S0030,11.10,2,2020-01-03", ",,,"), False),
        (rows(60).replace("S0030", "a\x1cb"), False),
        (rows(60).replace("S0030", "caf\u00c3\u00a9"), False),
        (rows(60).replace("S0030", "Größe").encode("cp1252"), False),
        (rows(60).encode("utf-16"), False),
        (rows(60).replace("\n", "\r"), False),
        (rows(60) + "Total,1,2,\n", True),
    ],
)
def test_a_file_is_read_alike_both_ways_and_quickly_where_it_is_regular(
    context: ToolContext, write_file: WriteFile, content: str | bytes, taken: bool
) -> None:
    path = context.workspace / write_file("t.csv", content)
    quick = regular.read_regular(path)
    assert (quick is not None) == taken
    try:
        careful = text.read_carefully(path)
    except DataError:
        assert quick is None
    else:
        if quick is not None:
            assert_same(quick, careful)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("S0030,", "S0030,9,", "line 32 has 5 fields, 4 are expected"),
        ("S0030,", "", "line 32 has 3 fields, 4 are expected"),
    ],
)
def test_a_ragged_line_amid_a_large_file_is_named(
    context: ToolContext, write_file: WriteFile, old: str, new: str, reason: str
) -> None:
    name = write_file("t.csv", rows(60).replace(old, new))
    with pytest.raises(DataError, match=reason):
        read_table(context, name)


CELL = st.one_of(
    st.sampled_from(["", "1", "2.5", "-3", "0", "007", "1e5", "1E2", "+4", "nan", "NA", "<0.01", "x", "true", " 8 "]),
    st.sampled_from(["2020-01-31", "2020-01-31T10:00", "1,5", "1.234", "12345678901234567890", "-999", "total", "é"]),
    st.sampled_from(['"a,b"', '"a""b"', '""', '"a\nb"', '"a\n\nb"', 'a"b', '"', "#c", "~A", "\x1f", "\u00a0", "x\r"]),
)
COMMON = st.sampled_from(["1", "2.25", "-0.5", "word", "", "0.001", "2021-03-04", '"q,q"'])
EXTRA = st.sampled_from(["", "\n", ",", ",,", "one", "Note: below the table\n", "a,b,c\n", "\r\n", '"', "Total,9,9\n"])


@st.composite
def csv_texts(draw: st.DrawFn) -> str:
    """A table of some regularity in which a few things are odd."""
    width = draw(st.integers(1, 4))
    separator = draw(st.sampled_from([",", ",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    pattern = [draw(COMMON) for _ in range(width)]
    table = [[pattern[column] for column in range(width)] for _ in range(draw(st.integers(20, 60)))]
    for _ in range(draw(st.integers(0, 4))):
        table[draw(st.integers(0, len(table) - 1))][draw(st.integers(0, width - 1))] = draw(CELL)
    lines = [separator.join(row) for row in [[f"name{n}" for n in range(width)], *table]]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] += draw(EXTRA)
    if draw(st.booleans()) and draw(st.booleans()):
        lines[draw(st.integers(1, len(lines) - 1))] = lines[0]
    if draw(st.booleans()):
        lines += [draw(EXTRA) for _ in range(draw(st.integers(0, 2)))]
    return end.join(lines) + draw(st.sampled_from(["", end, end + end]))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=csv_texts())
@example(content="name0\n" + "a\n" * 30)
@example(content="name0,name1\n" + '"q,q",1\n' * 30 + ",\n" + "a,2\n" * 30)
def test_whatever_the_quick_way_reads_the_careful_way_reads_the_same(context: ToolContext, content: str) -> None:
    path = context.workspace / "random.csv"
    path.write_bytes(content.encode())
    quick = regular.read_regular(path)
    event("quick" if quick is not None else "careful")
    if quick is not None:
        assert_same(quick, text.read_carefully(path))
