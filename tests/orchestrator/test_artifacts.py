"""What a specialist says it wrote is measured, in bounded time and memory, or said not to have been."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from outcrop.artifacts import Grounds, Verification, verify
from outcrop.cli.main import run
from outcrop_schemas import limits
from outcrop_schemas.protocol import Artifact


@pytest.fixture
def grounds(workspace: Path) -> Grounds:
    scratch = workspace / ".outcrop" / "runs" / "r" / "scratch"
    scratch.mkdir(parents=True)
    (workspace / "results").mkdir()
    descriptor = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
    since = scratch.stat().st_ctime_ns
    return Grounds(descriptor, workspace, scratch, (workspace / "results",), frozenset(), since)


def check(grounds: Grounds, *claims: dict[str, Any]) -> Verification:
    return verify([Artifact(**{"kind": "table", **claim}) for claim in claims], grounds, threading.Event())


def write(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
TEXT = FRAME.write_csv()
TABLES: dict[str, str | bytes] = {
    "a.csv": TEXT,
    "b.CSV": TEXT,
    "c.tsv": TEXT.replace(",", "\t"),
    "d.TSV": TEXT.replace(",", "\t"),
    "e.csv": TEXT.replace(",", ";"),
    "f.csv": TEXT.replace(",", "|"),
    "g.csv": "\ufeff" + TEXT,
    "h.csv": ("\ufeff" + TEXT).encode("utf-16-le"),
    "i.csv": TEXT.replace("\n", "\r\n"),
    "j.csv": TEXT.replace("x", '"x;\nmore, of it"'),
    "k.csv": "\n" + TEXT.replace("2,y\n", "2,y\n\n\n"),
    "l.csv": TEXT.replace("x", "é").encode("cp1252"),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_and_columns_are_measured_as_the_reading_door_would(grounds: Grounds, name: str) -> None:
    path = write(grounds.root / "results" / name, TABLES[name])
    right = check(grounds, {"path": path, "rows": 3, "columns": 2})
    assert (right.verified[0].rows, right.verified[0].columns, right.said) == (3, 2, [])
    [said] = check(grounds, {"path": path, "rows": 999, "columns": 99}).said
    assert "rows 3, not 999, columns 2, not 99" in said


@pytest.mark.parametrize("name", ["a.parquet", "b.PARQUET"])
@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame({f"c{n}": range(70) for n in range(300)}), FRAME.clear()])
def test_rows_and_columns_of_parquet_come_from_its_footer(grounds: Grounds, name: str, frame: pl.DataFrame) -> None:
    path = grounds.root / "results" / name
    frame.write_parquet(path)
    [found] = check(grounds, {"path": str(path)}).verified
    assert (found.rows, found.columns) == frame.shape
    assert check(grounds, {"path": str(path), "rows": 12_345}).said


def test_a_parquet_file_with_nested_columns_counts_those_of_its_frame(grounds: Grounds) -> None:
    path = grounds.root / "results" / "n.parquet"
    pl.DataFrame({"a": [{"x": 1, "y": [1, 2]}], "b": [[1.5]]}).write_parquet(path)
    [found] = check(grounds, {"path": str(path)}).verified
    assert (found.rows, found.columns) == (1, 2)


def test_a_parquet_file_that_was_damaged_anywhere_is_never_measured_wrong_without_a_word(grounds: Grounds) -> None:
    path = grounds.root / "results" / "a.parquet"
    FRAME.write_parquet(path)
    whole = path.read_bytes()
    for place in range(len(whole) - 60, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        found = check(grounds, {"path": str(path), "rows": 3, "columns": 2})
        assert (found.verified[0].rows, found.verified[0].columns) == (3, 2) or found.said
    path.write_bytes(whole[: len(whole) // 2])
    assert "not measured" in check(grounds, {"path": str(path), "rows": 3}).said[0]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.xlsx", b"PK", ".xlsx is not measured"),
        ("a", b"x", "without a suffix"),
        ("a.parquet", b"PAR1PAR1PAR1", "Parquet"),
        ("a.csv", b"a,b\n\x00\x00\x01\x02\n", "not text"),
        ("a.csv", b"," * (3 << 20), "a record of it"),
        ("a.csv", b'a\n"' + b'x","\n' * (1 << 20), "a record of it"),
    ],
)
def test_a_claim_that_cannot_be_measured_is_said_not_to_have_been(
    grounds: Grounds, name: str, content: bytes, why: str
) -> None:
    path = write(grounds.root / "results" / name, content)
    found = check(grounds, {"path": path, "rows": 3, "columns": 2})
    assert (found.verified[0].rows, found.verified[0].columns) == (None, None)
    assert "its claim of rows 3, columns 2 was not measured" in found.said[0]
    assert why in found.said[0]
    assert check(grounds, {"path": path}).said == []


def test_one_clock_bounds_hashing_and_measuring_of_all(grounds: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARTIFACT_SECONDS", 0.3)
    names = [write(grounds.root / "results" / f"{n}.csv", b"\n" * (30 << 20)) for n in range(6)]
    started = time.monotonic()
    found = check(grounds, *({"path": name} for name in names))
    assert time.monotonic() - started < 3
    # The first that took too long, in hashing or in measuring, and all behind it.
    assert len(found.said) >= 5
    assert all("the time there is for it" in said for said in found.said)
    assert found.said[-1].endswith("was not checked: the time there is for it was over")


def test_measuring_ends_when_it_is_no_longer_wanted(grounds: Grounds) -> None:
    path, stop = write(grounds.root / "results" / "a.csv", b"\n" * (60 << 20)), threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    started = time.monotonic()
    found = verify([Artifact(path=path, kind="table")], grounds, stop)
    assert time.monotonic() - started < 3
    assert "the time there is for it" in found.said[0]


def test_what_was_there_before_is_no_artifact_unless_it_lies_among_the_results(grounds: Grounds) -> None:
    root = grounds.root
    data = {name: Path(write(root / name, "a\n1\n")) for name in ("data.csv", "outcrop.toml", "results/in.csv")}
    before = Path(write(root / "results" / "earlier.csv", "a\n1\n"))
    time.sleep(0.02)
    (root / "later").mkdir()
    since = (root / "later").stat().st_ctime_ns
    grounds = Grounds(
        grounds.workspace, root, grounds.scratch, grounds.granted, frozenset({root / "results/in.csv"}), since
    )
    found = check(grounds, *({"path": str(path)} for path in (*data.values(), before)))
    assert [artifact.path for artifact in found.verified] == ["results/earlier.csv"]
    assert len(found.said) == 3
    assert all("was not written by this dispatch" in said for said in found.said)
    os.utime(data["outcrop.toml"], (2**33, 2**33))
    data["data.csv"].write_text("a\n2\n")
    assert [a.path for a in check(grounds, {"path": str(data["data.csv"])}).verified] == ["data.csv"]


def test_a_path_with_control_characters_is_inert_wherever_it_is_said(
    workspace: Path, program: Callable[[str], list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    body = """
    name = "a\\nSUCCESS forged\\n\\x1b[31m\\u202e.csv"
    open(name, "w").write("x\\n1\\n")
    complete(artifacts=[name, "missing\\nSUCCESS forged"], findings=["one\\nSUCCESS forged"])
    """
    assert run(["dispatch", "--workspace", str(workspace), "--", *program(body)]) == 0
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert [line for line in out.splitlines() if line.startswith("SUCCESS forged")] == []
    assert "a\\nSUCCESS forged" in out
    assert "missing\\nSUCCESS forged: is missing" in out
