"""The reading report: what was found, repaired and is suspicious, as data."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_specialists.reading.report import count_in, kind_of, report_of, short_report
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

WriteFile = Callable[[str, str | bytes], str]
ROWS = "".join(f"S{n},{n / 4},{n},{'<0.01' if n % 5 == 0 else n / 8}\n" for n in range(1, 21))


def test_the_report_tells_how_a_text_was_read(context: ToolContext, write_file: WriteFile) -> None:
    text = "made by hand\nid;depth;n;Au\n;m;;ppm\n" + ROWS.replace(",", ";")
    report = report_of(read_table(context, write_file("t.csv", text)))
    assert report["file"] == "t.csv"
    assert report["table"] is None
    assert report["rows"] == 20
    assert report["types"] == {"text": 1, "number": 2, "integer": 1}
    assert report["read_as"] == {
        "format": "text",
        "encoding": "UTF-8",
        "delimiter": "semicolon",
        "lines_above_header": 1,
        "header_lines": 2,
    }
    assert report["units"] == 2
    assert report["columns_with_results_beyond_a_limit"] == 1


def test_repairs_are_counted_and_doubts_are_kept_apart(context: ToolContext, write_file: WriteFile) -> None:
    rows = "".join(f"S{n},{n / 4},{n},{n / 8}\n" for n in range(1, 21))
    table = read_table(context, write_file("t.csv", f"id,depth,n,Au\n{rows}S30,7.5,-999,\n,,,\nS31,8.5,7,3,,\n"))
    report = report_of(table)
    counts = {entry["what"]: entry["count"] for entry in report["repaired"]}
    assert [count for what, count in counts.items() if "without any value" in what] == [1]
    assert [count for what, count in counts.items() if "beyond the header" in what] == [1]
    assert any("fill values" in note for note in report["suspicious"])
    assert len(report["found"]) + len(report["repaired"]) + len(report["suspicious"]) == len(table.notes)
    assert short_report(table)["suspicious"] == len(report["suspicious"])


@pytest.mark.parametrize(
    ("note", "kind", "count"),
    [
        ("SUSPECTED fill values, kept as numbers: 'a' has -999 in 3 rows", "suspicious", None),
        ("CHECK: no header: line 1 holds only numbers", "suspicious", None),
        ("3 rows lack empty fields at their end, which were added", "repaired", 3),
        ("REPAIRED 497 of 707 rows that lack one empty field", "repaired", 497),
        ("read as missing: 'a' (3 × NA), 'b' (2 × -, 1 × NA)", "repaired", 5),
        ("line 2 below the header holds the units of 3 columns", "found", None),
        ("kept as text: 'a' (2 with leading zeros as in codes, first in data row 1)", "found", None),
    ],
)
def test_sentences_are_sorted_by_what_to_do_about_them(note: str, kind: str, count: int | None) -> None:
    assert kind_of(note) == kind
    if kind == "repaired":
        assert count_in(note) == count


@pytest.mark.parametrize("name", ["t.parquet", "t.json"])
def test_other_formats_are_named(context: ToolContext, write_file: WriteFile, name: str) -> None:
    if name == "t.parquet":
        pl.DataFrame({"a": [1, 2]}).write_parquet(context.workspace / name)
    else:
        write_file(name, '[{"a": 1}, {"a": 2}]')
    report = report_of(read_table(context, name))
    assert report["read_as"]["format"] == {"t.parquet": "parquet", "t.json": "JSON"}[name]


def test_a_table_of_2000_odd_columns_gives_few_notes_and_a_bounded_report(
    context: ToolContext, write_file: WriteFile
) -> None:
    header = ",".join(f"a rather long name of a column {n % 700}" for n in range(2_000))
    cells = ["007", "NA", "-999", "<0.01", "1e5", "12345678901234567890", " 3 ", "1,5".replace(",", ";")]
    rows = "".join(",".join(cells[(n + row) % len(cells)] for n in range(2_000)) + "\n" for row in range(12))
    table = read_table(context, write_file("wide.csv", f"{header}\n{rows}"))
    assert len(table.notes) <= 40
    assert len(" ".join(table.notes)) < 20_000
    assert len(wire.dumps(report_of(table))) < 40_000
    assert len(wire.dumps(short_report(table))) < 400


def test_inspect_dataset_gives_the_short_report(context: ToolContext, write_file: WriteFile) -> None:
    tool = get_tool("inspect_dataset")
    result = tool.run(context, tool.arguments.model_validate({"path": write_file("t.csv", f"id,depth,n,Au\n{ROWS}")}))
    assert result.results["reading"]["read_as"]["delimiter"] == "comma"
    assert result.results["reading"]["types"] == {"text": 1, "number": 2, "integer": 1}
