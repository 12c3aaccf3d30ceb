"""`outcrop context`: what filled a window, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from outcrop_specialists.context.segments import SEGMENTS

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_context_shows_each_request_by_segment(outcrop: Command, workspace: Path, tmp_path: Path) -> None:
    (workspace / "assays.csv").write_text("sample,Au\na,1.5\nb,2.5\nc,0.5\n")
    done = outcrop("run", "summarise Au", "--data", "assays.csv", "--pin", "unit=ppm", "--model", "offline")
    assert done.returncode == 0, done.stderr
    shown = outcrop("context", "last")
    assert all(name in shown.stdout for name in ("tool results", "pins", "of window"))
    document = json.loads(outcrop("context", "last", "d0001", "--json").stdout)
    assert document["agent"].startswith("d0001-")
    for step in document["steps"]:
        assert sum(step[name] for name in SEGMENTS) == step["tokens"] > 0
        assert step["pins"] > 0
    written = tmp_path / "context.csv"
    assert outcrop("context", "last", "--csv", str(written)).returncode == 0
    with written.open() as file:
        assert next(row["step"] for row in csv.DictReader(file)) == "1"
    again = outcrop("context", "last", "--csv", str(written))
    assert again.returncode == 2
    assert "nothing is replaced" in again.stderr
    unknown = outcrop("context", "last", "d0099")
    assert unknown.returncode == 2
    assert "d0001" in unknown.stderr


def test_pins_of_a_workspace_are_listed_changed_and_refused(outcrop: Command, workspace: Path) -> None:
    assert "Nothing is pinned" in outcrop("pins").stdout
    assert outcrop("pins", "unit=ppm", "deadline=2026-12-04").stdout == "unit = ppm\ndeadline = 2026-12-04\n"
    assert json.loads(outcrop("pins", "unit=g/t", "--remove", "deadline", "--json").stdout) == {"unit": "g/t"}
    for arguments, words in (
        (("--remove", "nobody"), "'nobody' is not pinned"),
        (("x",), "KEY=VALUE"),
        (("k=" + "x" * 2_000,), "1000"),
    ):
        refused = outcrop("pins", *arguments)
        assert (refused.returncode, words in refused.stderr) == (2, True), refused.stderr
    assert json.loads(outcrop("pins", "--json").stdout) == {"unit": "g/t"}


BYTES = b"a=\xff"


def test_bytes_that_are_no_text_are_refused_before_anything_is_written(outcrop: Command, workspace: Path) -> None:
    for arguments in (("pins", "good=1", BYTES), ("memory", "a good fact", BYTES), ("run", "look", "--pin", BYTES)):
        refused = outcrop(*arguments)
        assert (refused.returncode, "not UTF-8" in refused.stderr) == (2, True), refused.stderr
        assert "Traceback" not in refused.stderr
        written = [path for path in (workspace / ".outcrop").rglob("*") if path.is_file()]
        assert written == [], arguments


def test_damaged_pins_are_told_by_their_line_and_can_be_mended(outcrop: Command, workspace: Path) -> None:
    outcrop("pins", "unit=ppm", "smile=\U0001f600")
    assert json.loads(outcrop("pins", "--json").stdout) == {"unit": "ppm", "smile": "\U0001f600"}
    path = workspace / ".outcrop" / "pins.toml"
    path.write_text(path.read_text() + "half of\n")
    for arguments in (("pins",), ("pins", "--remove", "unit"), ("pins", "x=1"), ("run", "look", "--model", "offline")):
        refused = outcrop(*arguments)
        assert refused.returncode == 2
        assert "line 3" in refused.stderr
        assert "Mend or remove that line" in refused.stderr
        assert "outcrop pins KEY=VALUE" in refused.stderr
    path.unlink()
    assert outcrop("pins", "unit=g/t").stdout == "unit = g/t\n"


def test_an_attached_text_is_counted_and_the_run_is_the_same_from_its_record(outcrop: Command, workspace: Path) -> None:
    (workspace / "assays.csv").write_text("sample,Au\na,1.5\nb,2.5\nc,0.5\n")
    (workspace / "notes.txt").write_text("The laboratory repeats each tenth sample; its batch is LB-2291.\n")
    done = outcrop("run", "summarise Au", "--data", "assays.csv", "--attach", "notes.txt", "--model", "offline")
    assert done.returncode == 0, done.stderr
    document = json.loads(outcrop("context", "last", "--json").stdout)
    assert all(step["attachments"] > 0 for step in document["steps"])
    assert "LB-2291" in outcrop("show", "last", "--prompt").stdout
    assert "Attached: notes.txt" in outcrop("show", "last").stdout
    assert outcrop("replay", "last", "--verify").returncode == 0
    assert "there is no checkpoint" in outcrop("context", "last", "--checkpoints").stdout
    arguments = ("--objective", "summarise Au", "--data", "assays.csv", "--model", "offline")
    assert outcrop("dispatch", "analytics", *arguments, "--attach", "notes.txt").returncode == 0
    document = json.loads(outcrop("context", "last", "d0001", "--json").stdout)
    assert document["steps"][0]["attachments"] > 0
    for missing in (("run", "summarise Au"), ("dispatch", "analytics", "--objective", "summarise Au")):
        refused = outcrop(*missing, "--model", "offline", "--attach", "nots.txt")
        assert (refused.returncode, "did you mean notes.txt" in refused.stderr) == (1, True), refused.stderr
