"""A prompt that an installation rebuilds otherwise is shown as a diff of the segment that differs, and of no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outcrop
import outcrop_schemas
import outcrop_specialists

ROWS = "sample,Cu_ppm,rock\n" + "".join(f"s{n},{n}.5,{'granite' if n % 2 else 'shale'}\n" for n in range(20))
PACKAGES = [Path(package.__file__).parent for package in (outcrop, outcrop_specialists, outcrop_schemas)]  # type: ignore[arg-type]
Verify = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of several dispatches, and pins."""
    workspace = tmp_path_factory.mktemp("verified")
    (workspace / "soils.csv").write_text(ROWS)
    command = [
        Path(sys.executable).parent / "outcrop",
        "run",
        "summarise Cu_ppm by rock and plot a histogram of Cu_ppm",
    ]
    more = ["--data", "soils.csv", "--model", "offline", "--pin", "limit=5 ppm"]
    subprocess.run([*command, *more], cwd=workspace, check=True, capture_output=True, timeout=120)
    return workspace


@pytest.fixture
def copied(tmp_path: Path, finished: Path) -> tuple[Path, Verify]:
    """The packages somewhere else, and `outcrop replay last --verify` as they do it."""
    place = tmp_path / "copied"
    for package in PACKAGES:
        shutil.copytree(package, place / package.name)

    def verify(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "outcrop.cli.main", "replay", "last", "--verify", *more]
        environment = {**os.environ, "PYTHONPATH": str(place)}
        return subprocess.run(command, cwd=finished, env=environment, capture_output=True, text=True, timeout=120)

    return place, verify


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def by_agent(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {one["agent"].partition("-")[0]: one for one in json.loads(done.stdout)}


def test_a_copy_that_is_the_same_rebuilds_every_prompt(copied: tuple[Path, Verify]) -> None:
    done = copied[1]("--json")
    assert done.returncode == 0, done.stdout
    found = by_agent(done)
    assert {"lead", "d0001"} <= set(found)
    assert [(one["difference"], one["step"], one["segments"]) for one in found.values()] == [(None, None, [])] * len(
        found
    )


def test_one_character_of_the_leads_prompt_is_shown_as_a_diff_of_its_system_segment(
    copied: tuple[Path, Verify],
) -> None:
    place, verify = copied
    change(place / "outcrop" / "lead" / "prompt.md", "You are the lead", "You are the Lead")
    done = verify("--json")
    assert done.returncode == 1
    found = by_agent(done)
    lead = found.pop("lead")
    assert lead["step"] == 1
    [segment] = lead["segments"]
    assert segment["segment"] == "system"
    changed = [line for line in segment["diff"] if line[:1] in "+-" and line[:3] not in ("---", "+++")]
    assert [line[0] for line in changed] == ["-", "+"]
    assert "the lead" in changed[0]
    assert changed[0][1:].replace("the lead", "the Lead", 1) == changed[1][1:]
    assert [one["difference"] for one in found.values()] == [None] * len(found)
    told = verify().stdout
    assert "lead: " in told
    assert "prompt 1: system differs" in told
    assert "tools" not in told.partition("d0001")[0]


def test_one_character_of_a_tools_description_is_shown_where_that_tool_is_offered(copied: tuple[Path, Verify]) -> None:
    place, verify = copied
    change(
        place / "outcrop_specialists" / "tools" / "plots" / "plot_histogram.py", "Number of bins;", "Numb3r of bins;"
    )
    found = by_agent(verify("--json"))
    differing = {name: one["segments"] for name, one in found.items() if one["segments"]}
    assert "lead" not in differing
    assert [[one["segment"] for one in segments] for segments in differing.values()] == [["tools"]]
    [[segment]] = differing.values()
    changed = [line for line in segment["diff"] if "of bins" in line]
    assert [line[0] for line in changed] == ["-", "+"]


def test_one_character_of_a_specialists_prompt_is_shown_for_its_dispatches_only(copied: tuple[Path, Verify]) -> None:
    place, verify = copied
    prompt = place / "outcrop_specialists" / "prompts" / "plotting.md"
    text = prompt.read_text("utf-8")
    prompt.write_text(text[:10] + ("x" if text[10] != "x" else "y") + text[11:], "utf-8")
    found = by_agent(verify("--json"))
    differing = {name: [one["segment"] for one in found[name]["segments"]] for name in found if found[name]["segments"]}
    assert list(differing.values()) == [["system"]]
    assert "lead" not in differing
