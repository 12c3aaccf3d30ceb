"""A record of another version, or one that was changed by hand: the commands that read it say so, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_runs import made, outcome

OUTCROP = Path(sys.executable).parent / "outcrop"
ODD: dict[str, dict[str, Any]] = {
    "a status that there is none of": {"outcomes": [outcome(1, "paused")]},
    "an answer without most of it": {"events": [{"kind": "answer", "outcome": {"run_id": "x"}}]},
    "data that are no list": {"outcomes": [outcome(1)], "data": "a.csv", "models": ["x"], "limits": [1], "pins": "x"},
}


@pytest.mark.parametrize("command", [("show",), ("show", "--json"), ("report",), ("log",)], ids=" ".join)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_is_told_of_by_its_file_and_no_fault_of_ours(
    tmp_path: Path, odd: str, command: tuple[str, ...]
) -> None:
    folder = made(tmp_path, **ODD[odd])
    name, *options = command
    done = subprocess.run([OUTCROP, name, "last", *options], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "internal error" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1
    if done.returncode:
        assert done.returncode == 1
        assert f"{folder.journal}: a record is not as this version of Outcrop writes it" in done.stderr
