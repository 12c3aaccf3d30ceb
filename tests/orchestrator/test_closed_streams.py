"""An application that embeds a pool and has closed its standard streams, before or while the pool is open."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

APPLICATION = """
import asyncio, json, os, sys
from outcrop import Pool

workspace, said, when, launcher, numbers, *command = sys.argv[1:]

def close():
    for number in json.loads(numbers):
        os.close(number)

def make_noise(event):
    # What libraries do that know nothing of closed streams.
    for number in (1, 2):
        try:
            os.write(number, b"noise\\n")
        except OSError:
            pass

async def main():
    if when == "before":
        close()
    async with Pool(workspace=workspace, watcher=make_noise, launcher=launcher) as pool:
        if when == "while":
            close()
        outcomes = [await pool.dispatch("mine", command=command) for _ in range(2)]
        make_noise(None)
        journal = pool.run_folder.journal
    with open(said, "w") as file:
        json.dump([[outcome.status for outcome in outcomes], [o.errors for o in outcomes], str(journal)], file)

asyncio.run(main())
"""
SETS = [list(numbers) for count in (1, 2, 3) for numbers in combinations(range(3), count)]


@pytest.mark.parametrize("when", ["before", "while"])
@pytest.mark.parametrize("numbers", SETS, ids=str)
def test_no_descriptor_of_ours_gets_the_number_of_a_closed_stream(
    workspace: Path, tmp_path: Path, program: Any, numbers: list[int], when: str
) -> None:
    said = tmp_path / "said"
    arguments = [str(workspace), str(said), when, "cold", json.dumps(numbers), *program("complete()")]
    ran = subprocess.run([sys.executable, "-c", APPLICATION, *arguments], capture_output=True, timeout=60, check=False)
    assert said.exists(), ran.stderr
    statuses, errors, journal = json.loads(said.read_text())
    assert statuses == ["success", "success"], errors
    assert "noise" not in Path(journal).read_text()


NURSERY = """
import asyncio, os, sys
from outcrop import Pool

async def main():
    for number in (0, 1, 2):
        os.close(number)
    async with Pool(workspace=sys.argv[1], launcher="nursery") as pool:
        launcher = pool._open_desk().shared.launcher
        launcher.warm()
        await asyncio.wait_for(launcher.ready.wait(), 60)
        outcome = await pool.dispatch("analytics", "count the rows of a.csv", ["a.csv"])
    with open(sys.argv[2], "w") as file:
        file.write(f"{outcome.launch} {outcome.status} {outcome.errors}")

asyncio.run(main())
"""


def test_the_nursery_works_in_an_application_without_standard_streams(workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.csv").write_text("x\n1\n2\n")
    said = tmp_path / "said"
    arguments = [str(workspace), str(said)]
    ran = subprocess.run([sys.executable, "-c", NURSERY, *arguments], capture_output=True, timeout=120, check=False)
    assert said.exists(), ran.stderr
    assert said.read_text() == "nursery success []"
