"""A run done again with the recorded answers of its model makes the same files; what differs is named by its step."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import installed
import pytest

Command = Callable[..., CompletedProcess[str]]
ROWS = "".join(f"s{n},{n % 7 + n / 10:.1f},{(n * 13) % 11},{'granite' if n % 3 else 'shale'}\n" for n in range(60))
OBJECTIVE = "remove duplicates, cluster the samples into 2 groups on Cu_ppm and Zn_ppm and plot Cu_ppm against Zn_ppm"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one run."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "soils.csv").write_text(f"sample,Cu_ppm,Zn_ppm,rock\n{ROWS}")
    # What lies there besides is no part of the run, though its listing tells of it.
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "results").mkdir()
    (folder / "results" / "of_before.csv").write_text("a,b\n1,2\n")
    done = installed.outcrop(folder, "run", OBJECTIVE, "--data", "soils.csv", "--model", "offline")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(made: Path, workspace: Path) -> Path:
    """A copy of it in the test's own workspace: a run may be done again wherever its workspace was moved."""
    shutil.copytree(made, workspace, dirs_exist_ok=True)
    return workspace


def again(outcrop: Command, *more: str) -> dict[str, Any]:
    done = outcrop("replay", "last", "--with-model", "replay:last", "--json", *more)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["same"] else 1)
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_everything_is_made_anew_and_the_same(outcrop: Command, run: Path) -> None:
    before = files(run)
    found = again(outcrop)
    assert found["differences"] == []
    assert found["same"]
    assert len(found["files"]) >= 3
    assert any(path.endswith(".png") for path in found["files"])
    # Nothing of it stays, and nothing was touched.
    assert files(run) == before
    told = outcrop("replay", "last", "--with-model", "replay:last")
    assert "everything is the same" in told.stdout


def test_another_answer_is_named_by_the_step_from_which_all_is_otherwise(outcrop: Command, run: Path) -> None:
    other = outcrop("run", OBJECTIVE.replace("into 2", "into 3"), "--data", "soils.csv", "--model", "offline")
    assert other.returncode == 0
    first, second = (entry["run_id"] for entry in json.loads(outcrop("runs", "--json").stdout))
    done = outcrop("replay", first, "--with-model", f"replay:{second}", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert not found["same"]
    lead = next(each for each in found["differences"] if each["agent"] == "lead")
    assert lead["turn"] == 1
    assert "into 2 groups" in lead["told"]
    assert "changed" in found["files"].values() or "new" in found["files"].values()


def test_changed_data_is_refused_with_what_to_do(outcrop: Command, run: Path) -> None:
    with (run / "soils.csv").open("a") as file:
        file.write("s99,1,1,shale\n")
    done = outcrop("replay", "last", "--with-model", "replay:last")
    assert done.returncode == 2
    assert "changed since the run" in done.stderr
    assert "--on soils.csv" in done.stderr
    (run / "soils.csv").unlink()
    assert "no longer there" in outcrop("replay", "last", "--with-model", "replay:last").stderr


@pytest.mark.parametrize("more", [["--with-model", "claude-x"], ["--with-model", "replay:last", "--verify"]])
def test_what_makes_no_sense_is_refused(outcrop: Command, run: Path, more: list[str]) -> None:
    assert outcrop("replay", "last", *more).returncode == 2
