"""Data that are one table of a file: `path#name` in a workspace and in the record of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop.about import hashes
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PathError


def test_a_table_of_a_file_keeps_its_name_and_is_hashed_as_its_file(workspace: Path) -> None:
    (workspace / "in").mkdir()
    (workspace / "in" / "b.csv").write_text("a,b\n1,2\n")
    (workspace / "c#1.csv").write_text("a,b\n1,2\n")
    found = Workspace(workspace)
    assert found.data("in/../in/b.csv#Sheet 1") == "in/b.csv#Sheet 1"
    assert found.data("c#1.csv") == "c#1.csv"
    one, other = hashes(found, ["in/b.csv#Sheet 1", "c#1.csv"])
    assert (one["path"], other["path"]) == ("in/b.csv#Sheet 1", "c#1.csv")
    assert (one["sha256"], one["bytes"]) == (other["sha256"], 8)
    assert found.results_of(["in/b.csv#a/b"]) == [workspace / "in" / "results"]
    with pytest.raises(PathError, match="does not exist"):
        found.data("none.csv#1")
