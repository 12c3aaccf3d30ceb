"""Files that hold several tables: which one is read, and how one is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas.errors import DataError, PathError
from outcrop_specialists.reading.address import TablePath, addressed, table_of
from outcrop_specialists.reading.listing import list_tables
from outcrop_specialists.reading.several import Listed, SeveralTablesError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning import filter_rows
from outcrop_specialists.tools.inspection import inspect_dataset, list_files
from outcrop_specialists.tools.lineage import record_of

WriteFile = Callable[[str, str], str]
TWO = (
    "Client:,ACME,,\nDate:,2024-05-01,,\n\n"
    "Collars,,,\nhole,x,y,\nK1,10,20,\nK2,11,21,\n\n\n"
    "Assays,,,\nhole,from,to,Au\nK1,0,1,0.5\nK1,1,2,<0.01\nK2,0,1,0.7\n\nK2,1,2,0.9\n"
)
SHEETS = {
    "ReadMe": [["made by hand"]],
    "2023": [["hole", "Au"], ["K1", 1], ["K2", 2]],
    "2024": [["hole", "Au"], ["K1", 3]],
    "old": [["hole", "Au"], ["K9", 99]],
}


@pytest.fixture
def two(write_file: WriteFile) -> str:
    return write_file("two.csv", TWO)


def test_several_tables_of_a_text_are_listed_and_none_is_taken(context: ToolContext, two: str) -> None:
    with pytest.raises(SeveralTablesError) as caught:
        read_table(context, two)
    listed = [Listed("Collars", 2, 3), Listed("Assays", 4, 5)]
    assert list(caught.value.tables) == listed == list_tables(context, two)
    assert "'Collars' (2 rows × 3 columns), 'Assays' (4 rows × 5 columns)" in str(caught.value)
    assert "as in 'two.csv#Collars'" in str(caught.value)


@pytest.mark.parametrize("name", ["Assays", "assays", "2"])
def test_a_table_is_named_by_title_or_number(context: ToolContext, two: str, name: str) -> None:
    table = read_table(context, f"{two}#{name}")
    assert table.name == "Assays"
    assert table.frame["Au"].to_list() == [0.5, 0.01, 0.7, 0.9]
    assert table.qualifiers == {"Au": "Au_q"}
    assert table.header == {"Client": "ACME", "Date": "2024-05-01"}
    assert any("NOT read: 'Collars'" in note for note in table.notes)


def test_a_legend_or_keys_beside_the_data_are_no_rival(context: ToolContext, write_file: WriteFile) -> None:
    text = "hole,Au,rock\nK1,1,sh\nK2,2,co\n\ncode,meaning\nsh,shale\nco,coal\n"
    table = read_table(context, write_file("t.csv", text))
    assert (table.name, table.frame.rows()) == ("1", [("K1", 1, "sh"), ("K2", 2, "co")])
    assert any("NOT read: '2' (3 lines)" in note for note in table.notes)
    assert read_table(context, "t.csv#2").frame.rows() == [("sh", "shale"), ("co", "coal")]


@pytest.mark.parametrize(
    "text",
    [
        "hole,x,y\nK1,1,2\nK2,3,4\nhole,from,to,Au\nK1,0,1,0.5\nK2,1,2,0.7\n",
        "[collars]\nhole,x,y\nK1,1,2\nK2,3,4\n\n[assays]\nhole,from,to,Au\nK1,0,1,0.5\nK2,1,2,0.7\n",
        "# collars\nhole,x,y\nK1,1,2\nK2,3,4\n# assays\nhole,from,to,Au\nK1,0,1,0.5\nK2,1,2,0.7\n",
        "collars\n\nhole,x,y\n\nK1,1,2\nK2,3,4\n\nassays\n\nhole,from,to,Au\n\nK1,0,1,0.5\nK2,1,2,0.7\n",
        "$collars\nhole,x,y\nK1,1,2\nK2,3,4\n\n$assays\nhole,from,to,Au\nK1,0,1,0.5\nK2,1,2,0.7\n",
    ],
)
def test_blocks_are_found_by_new_headers_and_titles(context: ToolContext, write_file: WriteFile, text: str) -> None:
    name = write_file("t.csv", text)
    names = [each.name for each in list_tables(context, name)]
    assert names == (["collars", "assays"] if "collars" in text else ["1", "2"])
    assert read_table(context, f"{name}#{names[1]}").frame.rows() == [("K1", 0, 1, 0.5), ("K2", 1, 2, 0.7)]


def test_printed_tables_aligned_by_blanks_are_told_apart(context: ToolContext, write_file: WriteFile) -> None:
    text = (
        "$collar\n  hole east north\n1   K1 10.5  20.5\n2   K2 11.5  21.5\n\n"
        "$assay\n  hole from to  Au\n1   K1    0  1 0.5\n2   K1    1  2 0.7\n"
    )
    assert list_tables(context, write_file("t.txt", text)) == [Listed("collar", 2, 4), Listed("assay", 2, 5)]
    assert read_table(context, "t.txt#assay").frame["Au"].to_list() == [0.5, 0.7]


def test_keys_above_a_table_become_its_header(context: ToolContext, write_file: WriteFile) -> None:
    text = "Project,Kite Hill\nSamples,120\n\nSite,Zn,Pb\nK1,1,2\nK2,3,4\n"
    table = read_table(context, write_file("t.csv", text))
    assert table.frame.rows() == [("K1", 1, 2), ("K2", 3, 4)]
    assert table.header == {"Project": "Kite Hill", "Samples": "120"}


@pytest.mark.parametrize(
    "text",
    [
        "hole,Au\nK1,1\n\nK2,2\n\n\nK3,3\n",
        "hole,rock\nK1,shale\n\nK2,coal\n\nK3,chert\n",
        "title of it\n\nhole,Au\nK1,1\nK2,2\nK3,3\n",
        "hole,Au\n,ppm\n\nK1,1\nK2,2\nK3,3\n",
    ],
)
def test_blank_lines_alone_part_no_table(context: ToolContext, write_file: WriteFile, text: str) -> None:
    assert read_table(context, write_file("t.csv", text)).frame.height == 3
    assert [each.name for each in list_tables(context, "t.csv")] == [""]


def test_tables_with_the_same_columns_can_be_read_as_one(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    name = write_workbook("b.xlsx", SHEETS, hidden=["old"])
    with pytest.raises(SeveralTablesError, match=r"'old' \(1 rows × 2 columns, hidden\).*'b\.xlsx#\*'"):
        read_table(context, name)
    table = read_table(context, f"{name}#*")
    assert table.frame.rows() == [("K1", 1, "2023"), ("K2", 2, "2023"), ("K1", 3, "2024")]
    assert table.frame.columns == ["hole", "Au", "sheet"]
    assert any("'old' (2 lines, hidden)" in note for note in table.notes)
    assert read_table(context, f"{name}#old").frame.rows() == [("K9", 99)]


def test_results_beyond_a_limit_in_one_of_the_tables_are_kept_apart(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    sheets = {"a": [["hole", "Au"], ["K1", "<0.1"], ["K2", 0.5]], "b": [["hole", "Au"], ["K3", 0.7], ["K4", 1]]}
    table = read_table(context, write_workbook("b.xlsx", sheets) + "#*")
    assert table.frame.rows() == [
        ("K1", 0.1, "<", "a"),
        ("K2", 0.5, "", "a"),
        ("K3", 0.7, "", "b"),
        ("K4", 1.0, "", "b"),
    ]
    assert table.qualifiers == {"Au": "Au_q"}


def test_other_columns_cannot_be_read_as_one(context: ToolContext, two: str) -> None:
    with pytest.raises(DataError, match="table 'Assays' has other columns or units than 'Collars'"):
        read_table(context, f"{two}#*")


def test_a_name_that_is_not_there_is_refused_with_those_that_are(context: ToolContext, two: str) -> None:
    with pytest.raises(DataError, match="has no table 'Tops'; there are 'Collars', 'Assays'"):
        read_table(context, f"{two}#Tops")
    with pytest.raises(PathError, match=r"none\.csv#1: does not exist"):
        read_table(context, "none.csv#1")


def test_a_file_of_one_table_has_no_names(context: ToolContext, write_file: WriteFile) -> None:
    name = write_file("one.csv", "a,b\n1,2\n")
    assert read_table(context, f"{name}#1").frame.rows() == [(1, 2)]
    with pytest.raises(DataError, match=r"one\.csv: holds one table; leave out '#x'"):
        read_table(context, f"{name}#x")


def test_a_mark_may_stand_in_the_name_of_a_file(context: ToolContext, write_file: WriteFile) -> None:
    for name in ("a#1.csv", "#2.csv"):
        assert read_table(context, write_file(name, "a,b\n1,2\n")).frame.rows() == [(1, 2)]
    write_file("a#1.csv", TWO)
    assert addressed(context.workspace, "a#1.csv#Assays") == (context.workspace / "a#1.csv", "Assays")


def test_a_path_carries_the_table_and_is_a_path_still() -> None:
    path = TablePath.of(Path("/w/b.xlsx"), "S 1")
    assert (table_of(path), table_of(path.parent), table_of(Path("/w/b.xlsx"))) == ("S 1", "", "")
    assert path == Path("/w/b.xlsx")
    assert (path.name, path.with_suffix(".csv")) == ("b.xlsx", Path("/w/b.csv"))


def test_what_is_made_of_two_tables_of_a_file_never_gets_one_name(
    context: ToolContext, write_workbook: Callable[..., str]
) -> None:
    name = write_workbook("b.xlsx", {"S 1": SHEETS["2023"], "S/2": SHEETS["2023"]})
    arguments = {"column": "Au", "operator": ">", "value": 1}
    made = [
        filter_rows.run(context, filter_rows.Arguments.model_validate({"path": f"{name}#{sheet}", **arguments}))
        for sheet in ("S 1", "S/2")
    ]
    paths = [found.artifacts[0].path for found in made]
    assert [path[: path.index("_filter")] for path in paths] == ["results/b_S-1", "results/b_S-2"]
    record = record_of(context.workspace / paths[1])
    assert record is not None
    (source,) = record["inputs"]
    assert (source["path"], source["table"]) == ("b.xlsx", "S/2")


def test_the_tables_of_a_file_are_told_when_it_is_looked_at(
    context: ToolContext, write_workbook: Callable[..., str], two: str
) -> None:
    name = write_workbook("b.xlsx", SHEETS, hidden=["old"])
    (found,) = list_files.run(context, list_files.Arguments(tables=[name])).results["tables"]
    assert found["tables"] == [
        {"name": "2023", "rows": 2, "columns": 2},
        {"name": "2024", "rows": 1, "columns": 2},
        {"name": "old", "rows": 1, "columns": 2, "hidden": True},
    ]
    looked = inspect_dataset.run(context, inspect_dataset.Arguments(path=f"{two}#Collars")).results
    assert [each["name"] for each in looked["tables"]] == ["Collars", "Assays"]
    assert looked["header"] == {"Client": "ACME", "Date": "2024-05-01"}
    assert looked["rows"] == 2


WORD = st.text("abcdefgh", min_size=1, max_size=5)
CELL = st.integers(-999, 999).map(str) | st.floats(0, 99).map(lambda value: f"{value:.3f}")


@st.composite
def blocks(draw: st.DrawFn) -> list[tuple[list[str], list[list[str]]]]:
    """Some tables with names that differ, each of words and numbers, of two rows or more."""
    found = []
    for number in range(draw(st.integers(2, 4))):
        width = draw(st.integers(2, 5))
        names = [f"n{number}{index}" for index in range(width + 1)]
        row = st.tuples(WORD, *[CELL] * width).map(list)
        found.append((names, draw(st.lists(row, min_size=2, max_size=6))))
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables=blocks(), gaps=st.integers(1, 3), mark=st.sampled_from([",", ";", "\t"]), is_filled=st.booleans())
def test_every_table_of_a_text_is_found_with_all_its_rows(
    context: ToolContext, tables: list[tuple[list[str], list[list[str]]]], gaps: int, mark: str, is_filled: bool
) -> None:
    widest = max(len(names) for names, _ in tables)
    lines: list[str] = []
    for names, rows in tables:
        records = [names, *rows]
        lines += [mark.join(each + [""] * (widest - len(each) if is_filled else 0)) for each in records]
        lines += [mark * (widest - 1) if is_filled else ""] * gaps
    (context.workspace / "h.csv").write_text("\n".join(lines) + "\n")
    found = list_tables(context, "h.csv")
    assert [(each.rows, each.columns) for each in found] == [(len(rows), len(names)) for names, rows in tables]
    for number, (names, rows) in enumerate(tables, start=1):
        frame = read_table(context, f"h.csv#{number}").frame
        assert frame.columns == names
        for index in range(1, len(names)):
            assert [float(value) for value in frame[names[index]]] == [float(row[index]) for row in rows]
