"""Text is read in pages that are the file; of data only the first lines are given, whatever the file is called."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import resource
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, DataError, OutcropError, PathError
from outcrop_specialists.context.store import Store
from outcrop_specialists.reading.row_likeness import looks_like_rows
from outcrop_specialists.toolbox import SpecialistToolbox, run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.inspection.read_file import TOOL

Read = Callable[..., ToolResult]
Write = Callable[[str, str | bytes], str]
PROSE = "".join(f"Line {n}: the ridge of number {n} was walked by the crew, and nothing was seen{'.' * (n % 7)}\n"
                for n in range(1, 2_001))  # fmt: skip
ROWS = [f"S{n},{n / 7:.3f},{n % 5}" for n in range(200)]
LONG = pytest.mark.skipif("OUTCROP_LONG" not in os.environ, reason="a long form: OUTCROP_LONG=1 runs it")


@pytest.fixture
def read(context: ToolContext) -> Read:
    def call(path: str, **arguments: Any) -> ToolResult:
        return run_tool(TOOL, context, {"path": path, **arguments})

    return call


def pages_of(read: Read, path: str, **arguments: Any) -> list[dict[str, Any]]:
    """All pages, each begun where the one before said."""
    pages, going_on = [], {"start_line": 1}
    while going_on is not None:
        found = read(path, **arguments, **going_on).results
        assert found["text"], "a page without progress"
        pages.append(found)
        going_on = found.get("next")
    return pages


def test_pages_put_together_are_the_file(read: Read, write_file: Write) -> None:
    path = write_file("notes.md", PROSE)
    pages = pages_of(read, path)
    assert len(pages) > 1
    assert "".join(page["text"] for page in pages) == PROSE
    assert all(len(wire.dumps(page["text"]).decode()) <= limits.READ_CHARS + 2 for page in pages)
    assert len(pages[0]["text"]) > 0.9 * limits.READ_CHARS
    assert {page["total_lines"] for page in pages} == {2_000}
    assert all(page["text"].endswith("\n") for page in pages)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.one_of(
            st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
            st.sampled_from(["\n", "\r\n", "\n\n", "x" * 900, '"' * 300, "é" * 500, "\u2028", "\v", "🏔" * 50]),
        ),
        min_size=1,
        max_size=30,
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    lines=st.one_of(st.none(), st.integers(1, 7)),
)
def test_pages_of_any_text_are_the_text(
    context: ToolContext, pieces: list[str], encoding: str, lines: int | None
) -> None:
    text = "a" + "".join(pieces)
    (context.workspace / "any.txt").write_bytes(text.encode(encoding))
    small = replace(context, window_tokens=limits.WINDOW_TOKENS_LEAST)

    def read(path: str, **arguments: Any) -> ToolResult:
        return run_tool(TOOL, small, {"path": path, **arguments})

    first = read("any.txt").results
    if first["kind"] != "text":
        return
    asked = {"lines": lines} if lines else {}
    pages = pages_of(read, "any.txt", **asked)
    assert "".join(page["text"] for page in pages) == text
    assert {page["total_lines"] for page in pages} == {first["total_lines"]}
    assert all(len(page["text"]) <= 450 for page in pages)


def test_lines_and_characters_can_be_chosen(read: Read, write_file: Write) -> None:
    path = write_file("a.md", PROSE)
    found = read(path, start_line=11, lines=3).results
    assert found["text"] == "".join(PROSE.splitlines(keepends=True)[10:13])
    assert (found["start_line"], found["end_line"], found["next"]) == (11, 13, {"start_line": 14})
    assert read(path, start_line=2_000, start_char=5).results["text"].startswith("2000: the ridge")
    with pytest.raises(ArgumentError, match="no line 2001: it has 2000 lines"):
        read(path, start_line=2_001)
    with pytest.raises(ArgumentError, match="line 1 has"):
        read(path, start_char=500)


def test_a_line_longer_than_a_page_is_read_on_in_it(read: Read, write_file: Write) -> None:
    giant = "the word of the law, as it stands; " * 10_000
    path = write_file("law.txt", f"Title of it\n{giant}\nThe end\n")
    pages = pages_of(read, path)
    assert "".join(page["text"] for page in pages) == f"Title of it\n{giant}\nThe end\n"
    assert pages[0]["text"] == "Title of it\n"
    cut = pages[1]["line_cut"]
    assert cut == {"line": 2, "left_out_chars": len(giant) - len(pages[1]["text"])}
    assert pages[1]["next"] == {"start_line": 2, "start_char": len(pages[1]["text"])}
    assert read(path, start_line=3).results["text"] == "The end\n"


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.ndjson", "a.log", "a.dat", "a.las", "A.CSV", "a.geojson"]
)
def test_a_data_file_by_name_gives_its_first_lines_and_its_total(read: Read, write_file: Write, name: str) -> None:
    body = "".join(f"the words of entry number {n}{' and more' * (n % 9)}\n" for n in range(1_500))
    found = read(write_file(name, body))
    assert found.results["text"] == "".join(body.splitlines(keepends=True)[:5])
    assert (found.results["kind"], found.results["total_lines"]) == ("data", 1_500)
    assert found.results["read_with"] == "inspect_dataset"
    assert "inspect_dataset" in found.summary
    assert "next" not in found.results


FIXED = [f"{'H' + str(n // 9):<8}{n * 1.5:>9.2f}{('basalt', 'gabbro', '')[n % 3]:>12}   {n % 4}" for n in range(200)]
LIKE_DATA = {
    "commas": ROWS,
    "semicolons": [row.replace(",", ";").replace(".", ",") for row in ROWS],
    "tabs": [f"hole {n}\tsome words{' more' * (n % 3)}\tgranite" for n in range(200)],
    "pipes": [f"| a{n} | b | c{n} |" for n in range(200)],
    "quoted": [f'"Smith, J{n}","a, b, c",x' for n in range(200)],
    "fixed columns": FIXED,
    "figures": [f" {n * 0.1:.1f}  {n * n}" for n in range(200)],
    "single blanks": [f"H{n // 7} {('basalt', 'tuff', 'dolerite')[n % 3]} {n * 1.7:.1f} seen" for n in range(200)],
    "one column": [str(n * 0.1) for n in range(200)],
    "below a preamble": [*(f"# remark {n}, of some length" for n in range(80)), "Hole,Au,Class", *ROWS],
    "below prose": [*PROSE.splitlines()[:60], *ROWS],
    "JSON lines": [f'{{"a": {n}, "text": "{"w " * (n % 7)}"}}' for n in range(2_000)],
    "JSON": ["[", *(f'{{"a": {n}}},' for n in range(9_000)), '{"a": 1}]'],
    "wide rows of words": [";".join(f"word{n + m}" for m in range(4_000)) for n in range(60)],
    "LAS": ["~VERSION INFORMATION", " VERS. 2.0 :", " WRAP. NO :", "~A", *(f"{n} {n / 3:.3f}" for n in range(300))],
}


@pytest.mark.parametrize("kind", LIKE_DATA)
@pytest.mark.parametrize("name", ["notes.txt", "README", "code.py"])
def test_a_data_file_by_content_is_one_whatever_its_name(read: Read, write_file: Write, kind: str, name: str) -> None:
    lines = LIKE_DATA[kind]
    found = read(write_file(name, "\n".join(lines) + "\n")).results
    assert found["kind"] == "data"
    shown = found["text"].splitlines()
    assert len(shown) == 5
    assert all(line.startswith(text.removesuffix("…")) for line, text in zip(lines, shown, strict=False))
    assert found["total_lines"] == len(lines)


def test_prose_code_and_settings_are_text() -> None:
    from outcrop_specialists.tools import publish, registry

    sources = [__file__, publish.__file__, registry.__file__]
    for source in sources:
        assert not looks_like_rows(Path(source).read_text("utf-8"))
    assert not looks_like_rows(PROSE)


@pytest.mark.parametrize(
    "pattern",
    [
        "[part{n}]\nkey = value{n}; words, and more",
        "- item {n},",
        "line {n}",
        "{n}: paragraph {n}",
        "This is line {n} of the report.",
        "Chapter {n}, in which nothing happens, and it rains",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
        "    return x{n} + 1;",
        "* [[`{n}abc`](https://example.org/{n})] - **part**: mend what broke (Somebody) [#{n}](https://example.org/{n})",
        "typedef struct part_{n}_st PART_{n};",
        "key{n}: value",
        "2024-01-05 12:00:{n} INFO the work of part {n} begins now",
    ],
)
def test_sentences_of_one_pattern_are_text(pattern: str) -> None:
    assert not looks_like_rows("\n".join(pattern.replace("{n}", str(n)) for n in range(1, 400)))


RECORDS = {
    "YAML": lambda n: f"- hole: D{n}\n  au: {n / 7:.3f}\n",
    "YAML with lists": lambda n: f"- hole: D{n}\n  assays:\n    au: {n / 7:.3f}\n    lith: fresh granite\n",
    "HTML": lambda n: f"<tr><td>D{n}</td><td>{n / 7:.3f}</td></tr>\n",
    "HTML, a cell a line": lambda n: f"<tr>\n  <td>D{n}</td>\n  <td>the {n} th of many words in one cell</td>\n</tr>\n",
    "XML": lambda n: f"<sample>\n <hole>D{n}</hole>\n <au>{n / 7:.3f}</au>\n</sample>\n",
}


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("name", ["a.txt", "a.yml", "a.html", "README"])
def test_records_of_several_lines_are_rows(read: Read, write_file: Write, kind: str, name: str) -> None:
    found = read(write_file(name, "".join(RECORDS[kind](n) for n in range(400)))).results
    assert found["kind"] == "data"
    assert found["text"].count("\n") == limits.DATA_LINES_SHOWN


def test_rows_of_markup_amid_a_page_are_given_five_at_a_time(read: Read, write_file: Write) -> None:
    rows = "".join(RECORDS["HTML"](n) for n in range(200))
    words = "".join(f"<p>{line}</p>\n" for line in PROSE.splitlines()[:300])
    assert read(write_file("page.html", words)).results["kind"] == "text"
    found = read(write_file("report.html", words + rows), start_line=301).results
    assert found["text"] == "".join(rows.splitlines(keepends=True)[:5])


SETTINGS = """\
services:
  web:
    image: web:1.0
    ports: [80, 443]
    environment:
      LOG: debug
      LIMIT: 30 s
# what the web needs
volumes:
  data: {}
"""


def test_settings_in_yaml_are_text(read: Read, write_file: Write) -> None:
    text = SETTINGS + "".join(f"key_{n}: the value of key {n}\n" for n in range(100)) + SETTINGS * 3
    found = read(write_file("compose.yml", text)).results
    assert (found["kind"], found["text"]) == ("text", text)


def test_rows_amid_a_long_text_are_given_five_at_a_time(read: Read, write_file: Write) -> None:
    text = PROSE * 3 + "".join(f"{row}\n" for row in ROWS * 40) + PROSE
    path = write_file("report.md", text)
    found = read(path, start_line=6_001)
    assert found.results["text"].splitlines() == ROWS[:5]
    assert found.results["next"] == {"start_line": 6_006}
    assert any("rows of data" in note for note in found.notes)


def test_what_is_asked_for_does_not_lift_the_guard(read: Read, write_file: Write) -> None:
    path = write_file("a.csv", "\n".join(ROWS) + "\n")
    for asked in ({"start_line": 100}, {"lines": 500}, {"start_line": 4, "lines": 100}, {"start_line": 6}):
        shown = read(path, **asked).results["text"].splitlines()
        assert set(shown) <= set(ROWS[:5])
    assert any("not read line by line" in note for note in read(path, start_line=100).notes)
    assert read(path, start_line=2, lines=2).results["text"].splitlines() == ROWS[1:3]


@pytest.mark.parametrize("ends", ["\n", ""])
def test_the_guard_begins_at_51_lines(read: Read, write_file: Write, ends: str) -> None:
    short = read(write_file("a.csv", "\n".join(ROWS[:50]) + ends)).results
    assert short["text"].splitlines() == ROWS[:50]
    assert short["total_lines"] == 50
    longer = read(write_file("b.csv", "\n".join(ROWS[:51]) + ends)).results
    assert longer["text"].splitlines() == ROWS[:5]
    assert longer["total_lines"] == 51


def test_small_json_is_read_whole_and_larger_is_data(read: Read, write_file: Write) -> None:
    entries = [f'  "key{n}": "{"v" * 20}"' for n in range(1_000)]
    small = "{\n" + ",\n".join(entries) + "\n}\n"
    assert len(small) < limits.READ_JSON_BYTES
    assert read(write_file("a.json", small)).results["text"] == small
    figures = json.dumps({"a": list(range(60))}, indent=1)
    found = read(write_file("conf.json", figures)).results
    assert (found["kind"], found["text"]) == ("text", figures)
    records = "".join(f'{{"a": {n}}}\n' for n in range(60))
    for name in ("lines.jsonl", "lines.json", "lines.txt"):
        assert read(write_file(name, records)).results["text"].count("\n") == 5
    larger = "{\n" + ",\n".join(entries * 3) + "\n}\n"
    assert read(write_file("b.json", larger)).results["text"] == "".join(larger.splitlines(keepends=True)[:5])
    exact = small.rstrip("\n}") + " " * (limits.READ_JSON_BYTES - len(small.rstrip("\n}")) - 2) + "\n}"
    assert len(exact) == limits.READ_JSON_BYTES
    assert read(write_file("c.json", exact)).results["kind"] == "data"


def test_wide_rows_are_cut_counted_and_read_on(read: Read, write_file: Write) -> None:
    row = ",".join(f"{n / 3:.4f}" for n in range(3_000))
    path = write_file("wide.csv", f"{row}\n" * 60)
    found = read(path).results
    assert found["text"].count("\n") == 5
    assert len(found["text"]) <= 5 * (limits.READ_LINE_CHARS + 2)
    first = found["cut_lines"][0]
    assert first == {"line": 1, "start_char": 2_000, "left_out_chars": len(row) - 2_000}
    pieces, at = [found["text"].split("\n")[0].removesuffix("…")], 2_000
    while at < len(row):
        more = read(path, lines=1, start_char=at).results
        pieces.append(more["text"].rstrip("\n").removesuffix("…"))
        at += len(pieces[-1])
    assert "".join(pieces) == row


def test_json_in_one_giant_line_is_bounded(read: Read, write_file: Write) -> None:
    text = "[" + ",".join(f'{{"a":{n}}}' for n in range(100_000)) + "]"
    found = read(write_file("one.json", text)).results
    assert found["total_lines"] == 1
    (cut,) = found["cut_lines"]
    assert cut["start_char"] + cut["left_out_chars"] == len(text)
    assert len(found["text"]) <= limits.READ_LINE_CHARS + 2
    assert found["read_with"] == "inspect_dataset"


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-16-le", "utf-16-le"),
        ("utf-32", "utf-32-le"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings_are_those_of_the_other_tools(read: Read, write_file: Write, encoding: str, told: str) -> None:
    text = "".join(f"Zeile {n}: Höhe über dem Fluß, größer als zuvor{'!' * (n % 5)}\r\n" for n in range(900))
    path = write_file("a.txt", text.encode(encoding))
    found = read(path).results
    assert found["encoding"] == told
    assert "".join(page["text"] for page in pages_of(read, path)) == text
    assert found["total_lines"] == 900


def test_one_line_in_windows_1252_within_utf_8_is_read_and_told(read: Read, write_file: Write) -> None:
    data = ("Höhe über dem Fluß, hier\n" * 3_000).encode() + "Maß\n".encode("cp1252") + "Über allem\n".encode()
    found = read(write_file("a.txt", data), start_line=3_001)
    assert found.results["text"] == "Maß\nÜber allem\n"
    assert any("1 bytes are not UTF-8" in note for note in found.notes)


def test_line_ends_of_old_macs(read: Read, write_file: Write) -> None:
    text = "\r".join(PROSE.splitlines()[:300])
    path = write_file("a.txt", text)
    assert read(path).results["total_lines"] == 300
    assert read(path, start_line=300).results["text"] == PROSE.splitlines()[299]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a PNG image"),
        (b"%PDF-1.7\n" + bytes(range(256)), "a PDF document"),
        (b"II*\0" + bytes(100), "a TIFF image or raster"),
        (bytes(range(256)) * 40, "binary"),
        (b"text and then\0binary", "binary"),
        (bytes(range(1, 128)) * 40, "binary"),
    ],
)
def test_a_binary_file_is_told_as_such(read: Read, write_file: Write, data: bytes, told: str) -> None:
    found = read(write_file("file.txt", data))
    assert (found.results["kind"], found.results["what"], found.results["bytes"]) == ("binary", told, len(data))
    assert "text" not in found.results


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_unpacked(read: Read, write_file: Write, pack: Callable[[bytes], bytes]) -> None:
    text = write_file("notes.txt.z", pack(PROSE.encode()))
    assert "".join(page["text"] for page in pages_of(read, text)) == PROSE
    rows = read(write_file("a.csv.z", pack("\n".join(ROWS).encode()))).results
    assert (rows["kind"], rows["total_lines"], rows["text"].splitlines()) == ("data", 200, ROWS[:5])
    whole = pack(PROSE.encode())
    with pytest.raises(DataError, match="cannot be unpacked"):
        read(write_file("cut.txt.z", whole[: len(whole) // 2]), count=True)


def test_files_in_an_archive(read: Read, context: ToolContext) -> None:
    with zipfile.ZipFile(context.workspace / "two.zip", "w") as archive:
        archive.writestr("a/notes.md", PROSE)
        archive.writestr("rows.txt", "\n".join(ROWS))
    found = read("two.zip")
    assert found.results["members"] == ["a/notes.md", "rows.txt"]
    assert read("two.zip#a/notes.md", lines=1).results["text"] == PROSE.splitlines(keepends=True)[0]
    assert read("two.zip#rows.txt").results["kind"] == "data"
    with pytest.raises(DataError, match="has no 'c'"):
        read("two.zip#c")
    with zipfile.ZipFile(context.workspace / "one.zip", "w") as archive:
        archive.writestr("notes.md", PROSE)
    assert read("one.zip", lines=1).results["packed"] == "zip"


def test_a_workbook_gives_its_first_rows_and_its_total(read: Read, write_workbook: Any) -> None:
    rows = [["Hole", "Au"], *([f"H{n}", n / 7] for n in range(120))]
    found = read(write_workbook("book.xlsx", {"Assays": rows})).results
    assert (found["total_rows"], len(found["rows"])) == (120, 5)
    several = read(write_workbook("more.xlsx", {"A": rows, "B": rows}))
    assert [table["name"] for table in several.results["tables"]] == ["A", "B"]


def test_a_parquet_table_gives_its_first_rows_and_its_total(read: Read, context: ToolContext) -> None:
    import polars as pl

    pl.DataFrame({"a": range(1_000)}).write_parquet(context.workspace / "t.parquet")
    found = read("t.parquet").results
    assert (found["total_rows"], found["rows"]) == (1_000, [[0], [1], [2], [3], [4]])


def test_what_is_outcrops_own_or_outside_is_refused(read: Read, context: ToolContext, write_file: Write) -> None:
    own = [".outcrop/runs/r/journal.jsonl", ".outcrop/pins.toml", "outcrop.toml", "sub/.outcrop/memory/a.md"]
    for path in own:
        write_file(path, "secret")
    outside = context.workspace.parent / "outside.txt"
    outside.write_text("secret")
    (context.workspace / "link.txt").symlink_to(outside)
    (context.workspace / "inner.txt").symlink_to(context.workspace / "outcrop.toml")
    (context.workspace / "folder").symlink_to(context.workspace / ".outcrop")
    refused = [*own, "../outside.txt", str(outside), "link.txt", "inner.txt", "folder/pins.toml", "x/../outcrop.toml",
               "/etc/passwd", ".", "sub", "a\0b", "~/x"]  # fmt: skip
    for path in refused:
        with pytest.raises(PathError) as caught:
            read(path)
        assert "secret" not in str(caught.value)


def test_its_own_scratch_folder_is_the_agents_also_among_the_records(context: ToolContext) -> None:
    scratch = context.workspace / ".outcrop" / "runs" / "r" / "scratch" / "d1"
    scratch.mkdir(parents=True)
    (scratch / "output.txt").write_text("said")
    (scratch.parent / "journal").write_text("secret")
    own = replace(context, scratch=scratch)
    assert run_tool(TOOL, own, {"path": str(scratch / "output.txt")}).results["text"] == "said"
    assert run_tool(TOOL, own, {"path": ".outcrop/runs/r/scratch/d1/output.txt"}).results["text"] == "said"
    with pytest.raises(PathError):
        run_tool(TOOL, own, {"path": ".outcrop/runs/r/scratch/d1/../journal"})


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_said_to_be_empty(read: Read, write_file: Write, data: bytes) -> None:
    with pytest.raises(OutcropError, match=r"empty|nothing"):
        read(write_file("a.txt", data))


def test_a_page_goes_to_the_model_as_it_is_and_a_small_window_gets_less(
    context: ToolContext, write_file: Write
) -> None:
    import asyncio

    path = write_file("a.md", PROSE)
    toolbox = SpecialistToolbox([TOOL], context, lambda name: None, Store(None))
    told = wire.loads(asyncio.run(toolbox.call("read_file", {"path": path}, "1")))
    assert len(told["results"]["text"]) > limits.TOOL_RESULT_CHARS
    small = run_tool(TOOL, replace(context, window_tokens=20_000), {"path": path}).results
    assert len(small["text"]) <= 0.15 * 3 * 10_000


def write_large(context: ToolContext, name: str, bytes_wanted: int) -> int:
    """Text lines of some length; how many."""
    block = PROSE.encode() * 8
    times = bytes_wanted // len(block)
    with (context.workspace / name).open("wb") as file:
        for _ in range(times):
            file.write(block)
    return times * 2_000 * 8


@pytest.mark.parametrize("name", ["large.txt", "large.csv"])
def test_a_large_file_takes_little_memory(read: Read, context: ToolContext, name: str) -> None:
    lines = write_large(context, name, 64 << 20)
    tracemalloc.start()
    found = read(name, count=True).results
    deep = read(name, start_line=lines - 2, count=True).results
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["total_lines"] == deep["total_lines"] == lines
    assert peak < 12 << 20


def test_a_giant_line_takes_little_memory(read: Read, context: ToolContext) -> None:
    with (context.workspace / "one.txt").open("wb") as file:
        for _ in range(32):
            file.write(b"some words and no end " * 47_663)
    size = (context.workspace / "one.txt").stat().st_size
    tracemalloc.start()
    found = read("one.txt", count=True).results
    later = read("one.txt", start_char=size - 10).results
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["line_cut"]["left_out_chars"] == size - len(found["text"])
    assert later["text"] == "nd no end "[-10:]
    assert peak < 12 << 20


def test_where_counting_takes_too_long_the_total_is_an_estimate(
    read: Read, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write_large(context, "large.csv", 16 << 20)
    monkeypatch.setattr(limits, "READ_COUNT_SECONDS", 0.0)
    found = read("large.csv")
    assert found.results["is_estimate"] is True
    assert 0.8 * lines < found.results["total_lines"] < 1.2 * lines
    assert any("count=true" in note for note in found.notes)
    assert "about" in found.summary
    told: list[Any] = []
    reporting = replace(context, report=lambda *what: told.append(what))
    monkeypatch.setattr("outcrop_specialists.reading.long_text.REPORT_SECONDS", 0.0)
    counted = run_tool(TOOL, reporting, {"path": "large.csv", "count": True}).results
    assert counted["total_lines"] == lines
    assert "is_estimate" not in counted
    size = (context.workspace / "large.csv").stat().st_size
    assert told[-1][1:] == (size, size)


@LONG
@pytest.mark.parametrize("name", ["huge.csv", "huge.txt"])
def test_the_first_answer_on_10_gb_comes_within_a_second(read: Read, context: ToolContext, name: str) -> None:
    lines = write_large(context, name, 2 << 20)
    os.truncate(context.workspace / name, 10 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    found = read(name).results
    assert time.monotonic() - start < 1.0
    assert found["is_estimate"] is True
    assert read(name, count=True).results["total_lines"] == lines + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
