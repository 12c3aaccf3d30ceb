"""The example specialists, in three languages, through the command that users give."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from installed import outcrop

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ["a.csv", "two words, and a comma.csv"]
NODE = pytest.param("column_means.mjs", "node", [], marks=pytest.mark.skipif(which("node") is None, reason="no Node"))
ALL = [pytest.param("count_rows.sh", "sh", []), NODE, pytest.param("rare_values.py", sys.executable, ["rock"])]


def dispatch(workspace: Path, name: str, program: str, arguments: list[str], data: list[str]) -> dict[str, Any]:
    given = ["--data", *data] if data else []
    command = ["dispatch", "--objective", "try it", *given, "--json", "--", program, EXAMPLES / name]
    done = outcrop(workspace, *command, *arguments)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def tables(workspace: Path) -> Path:
    for name in NAMES:
        (workspace / name).write_text("rock,Au\n" + "".join(f"r{n % 4},{n}\n" for n in range(9)), "utf-8")
    return workspace


@pytest.mark.parametrize(("name", "program", "arguments"), ALL)
def test_an_example_does_its_work_and_names_a_file_that_is_there(
    tables: Path, name: str, program: str, arguments: list[str]
) -> None:
    outcome = dispatch(tables, name, program, arguments, NAMES)
    assert outcome["status"] == "success", outcome["errors"]
    assert outcome["warnings"] == []
    results = {
        "count_rows.sh": {"lines": 20},
        "column_means.mjs": {"Au": 4},
        "rare_values.py": {"values": 4, "rare": 0},
    }
    assert outcome["results"] == results[name]
    (artifact,) = outcome["artifacts"]
    assert (tables / artifact["path"]).stat().st_size == artifact["bytes"]


@pytest.mark.parametrize(("name", "program", "arguments"), ALL)
def test_an_example_without_its_file_ends_in_order(
    workspace: Path, name: str, program: str, arguments: list[str]
) -> None:
    outcome = dispatch(workspace, name, program, arguments, [])
    assert outcome["status"] in ("success" if name == "count_rows.sh" else "error",)


def test_the_examples_of_specialists_are_short() -> None:
    for name in ("count_rows.sh", "column_means.mjs"):
        assert len((EXAMPLES / name).read_text("utf-8").splitlines()) <= 35
