"""What a page shows of files: never more than it may, never through a link, never what is not there any more."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import outcome, record

from outcrop.report.artifacts import ArtifactFact
from outcrop.report.facts import facts_of
from outcrop.report.links import FileLinks, relative_url
from outcrop.report.previews import Files, head
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def plot(path: str, data: bytes, **more: Any) -> dict[str, Any]:
    told = {"path": path, "kind": "plot", "title": "", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return {**told, **more}


def shown(workspace: Path, *artifacts: dict[str, Any]) -> list[ArtifactFact]:
    return list(facts_of(record(workspace, [outcome(1, artifacts=list(artifacts))])).artifacts)


def test_a_picture_is_told_by_its_bytes_and_embedded_as_it_is(workspace: Path) -> None:
    svg = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    files = {"a.txt": PNG, "b.svg": svg, "c.png": b"GIF89a", "d.jpg": b"\xff\xd8\xff\xe0more"}
    for name, data in files.items():
        (workspace / name).write_bytes(data)
    found = shown(workspace, *(plot(name, data) for name, data in files.items()))
    kinds = [fact.picture and fact.picture.partition(";")[0] for fact in found]
    assert kinds == ["data:image/png", "data:image/svg+xml", None, "data:image/jpeg"]
    assert found[2].note == "no picture that a browser shows"


def test_a_picture_that_is_not_what_was_recorded_is_said_to_be_another(workspace: Path) -> None:
    (workspace / "a.png").write_bytes(PNG)
    [fact] = shown(workspace, plot("a.png", PNG, sha256="0" * 64))
    assert fact.picture
    assert "changed" in fact.note


def test_large_pictures_are_linked_and_all_together_have_a_limit(workspace: Path) -> None:
    large = PNG + bytes(limits.REPORT_IMAGE_BYTES)
    most = large[: limits.REPORT_IMAGE_BYTES]
    for number in range(8):
        (workspace / f"{number}.png").write_bytes(large if number == 0 else most)
    found = shown(workspace, *(plot(f"{number}.png", most if number else large) for number in range(8)))
    assert [bool(fact.picture) for fact in found] == [False, *[True] * 6, False]
    assert "too large" in found[0].note


def test_nothing_is_read_through_a_link_or_out_of_a_pipe(workspace: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\nsecret,1\n")
    (workspace / "link.csv").symlink_to(secret)
    (workspace / "folder").symlink_to(tmp_path)
    os.mkfifo(workspace / "pipe.csv")
    for path in ("link.csv", "folder/secret.csv", "pipe.csv", "../secret.csv", str(secret), "gone.csv"):
        with pytest.raises(PathError):
            head(Files(workspace), path)
    found = shown(workspace, *(plot(name, b"x", kind="table") for name in ("link.csv", "pipe.csv")))
    assert [fact.head for fact in found] == [None, None]


def test_a_head_has_few_rows_and_columns_and_short_cells_however_large_the_table_is(workspace: Path) -> None:
    wide = ",".join(f"c{number}" for number in range(40))
    row = ",".join(["x" * 300] * 40)
    (workspace / "a.csv").write_text("\ufeff" + "\n".join([wide, *[row] * 4000]))
    found = head(Files(workspace), "a.csv")
    assert found is not None
    assert found.columns[0] == "c0"
    assert (len(found.columns), found.more_columns) == (limits.REPORT_TABLE_COLUMNS, 28)
    assert len(found.rows) == limits.REPORT_TABLE_ROWS
    assert all(len(cell) <= limits.REPORT_CELL_CHARS for cell in found.rows[0])


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b'"' * 70_000, b"x" * 200_000, b"a\tb\n1\t2\n", b"\r\n\r\n"])
def test_a_head_of_anything_is_rows_or_nothing(workspace: Path, content: bytes) -> None:
    for name in ("a.csv", "a.tsv"):
        (workspace / name).write_bytes(content)
        found = head(Files(workspace), name)
        assert found is None or all(isinstance(cell, str) for row in found.rows for cell in row)


@given(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
        lambda t: t not in (".", "..")
    )
)
def test_an_address_names_no_scheme_and_no_host_and_leads_to_the_file(name: str) -> None:
    links = FileLinks(Path("/w/.outcrop/runs/r/report.html"), Path("/w"), Path("/w/.outcrop/runs"))
    address = links.file(name)
    assert address is not None
    assert address.startswith("../../../")
    assert unquote(address).removeprefix("../../../") == name
    assert not set(address) & set(" \"'<>?#\n\r\t\\:")
    assert relative_url(name).startswith("./")
