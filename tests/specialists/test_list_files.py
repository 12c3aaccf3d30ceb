"""The list of files, and the columns of tables without their rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import PathError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.list_files import Arguments, run

WriteFile = Callable[[str, str], str]


def test_data_files_and_results_are_listed_sorted_without_hidden_ones(
    context: ToolContext, write_file: WriteFile
) -> None:
    for name in (
        "b.csv",
        "sub/a.parquet",
        "results/p.png",
        "results/r.json",
        ".outcrop/runs/x.csv",
        ".hidden.csv",
        "code.py",
    ):
        write_file(name, "12345")
    found = run(context, Arguments())
    assert found.results["files"] == [
        {"path": "b.csv", "kind": "table", "bytes": 5},
        {"path": "results/p.png", "kind": "plot", "bytes": 5},
        {"path": "results/r.json", "kind": "report", "bytes": 5},
        {"path": "sub/a.parquet", "kind": "table", "bytes": 5},
    ]
    assert found.notes == ["1 files of other kinds are not listed"]
    assert [entry["path"] for entry in run(context, Arguments(folder="sub")).results["files"]] == ["sub/a.parquet"]


def test_a_long_list_is_cut_and_counted(context: ToolContext, write_file: WriteFile) -> None:
    for number in range(limits.LIST_FILES_ENTRIES + 3):
        write_file(f"f{number:04}.csv", "a")
    found = run(context, Arguments())
    assert len(found.results["files"]) == limits.LIST_FILES_ENTRIES
    assert found.results["count"] == limits.LIST_FILES_ENTRIES + 3
    assert found.notes == ["3 more files are not listed; name a folder"]


def test_tables_are_described_by_columns_and_never_by_rows(context: ToolContext, write_file: WriteFile) -> None:
    write_file("a.csv", "SampleID,Au_ppm\nsecret-1,0.5\nsecret-2,0.7\n")
    write_file("bad.csv", "a,b\nsecret-3,2,3\n4,5\n")
    found = run(context, Arguments(tables=["a.csv", "bad.csv", "no.csv"]))
    good, bad, missing = found.results["tables"]
    assert good == {
        "path": "a.csv",
        "rows": 2,
        "columns": [
            {"name": "SampleID", "type": "text", "role": "sample_id"},
            {"name": "Au_ppm", "type": "number", "role": "element"},
        ],
    }
    assert "line 2 has 3" in bad["error"]
    assert "does not exist" in missing["error"]
    assert "secret" not in json.dumps(found.as_json())


def test_many_wide_tables_share_a_bound(context: ToolContext, write_file: WriteFile) -> None:
    names = ",".join(f"c{i}" for i in range(300))
    write_file("w.csv", f"{names}\n{names.replace('c', '')}\n")
    (one,) = run(context, Arguments(tables=["w.csv"])).results["tables"]
    assert (len(one["columns"]), one["more_columns"]) == (200, 100)
    notes = run(context, Arguments(tables=["w.csv"])).notes
    assert notes == ["w.csv: 100 more columns are not described; inspect_dataset does"]
    many = run(context, Arguments(tables=["w.csv"] * 20)).results["tables"]
    assert sum(len(table["columns"]) for table in many) <= 600
    with pytest.raises(ValidationError):
        Arguments(tables=["w.csv"] * 21)


def test_links_and_folders_outside_the_workspace_are_not_followed(context: ToolContext, write_file: WriteFile) -> None:
    outside = context.workspace.parent / "outside"
    outside.mkdir()
    (outside / "x.csv").write_text("a\n1\n")
    (context.workspace / "link").symlink_to(outside)
    (context.workspace / "x.csv").symlink_to(outside / "x.csv")
    assert run(context, Arguments()).results["files"] == []
    for folder in ("..", "link", "nowhere"):
        with pytest.raises(PathError):
            run(context, Arguments(folder=folder))
    with pytest.raises(PathError, match="is a file"):
        run(context, Arguments(folder=write_file("f.csv", "a")))


def test_names_that_are_not_utf8_are_counted_and_hide_nothing_else(context: ToolContext) -> None:
    (context.workspace / "a.csv").write_text("x\n1\n")
    Path(os.fsdecode(os.fsencode(context.workspace) + b"/donn\xe9es.csv")).write_text("x\n1\n")
    result = run(context, Arguments())
    assert [entry["path"] for entry in result.results["files"]] == ["a.csv"]
    assert any("not UTF-8" in note for note in result.notes)
    wire.dumps(result.as_json())
