"""A disk that fills up while work goes on: said plainly, and the outcome is still recorded."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool
from outcrop.recovery import open_run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


async def test_a_result_that_fits_nowhere_is_said_and_its_outcome_is_recorded(small_disk: Path, program: Any) -> None:
    async with Pool(workspace=small_disk) as pool:
        outcome = await pool.dispatch("mine", command=program("complete('x' * 5_000_000, n=1)"))
        folder = pool.run_folder
    assert outcome.status == "success"
    assert outcome.truncated is not None
    assert outcome.truncated.chars > 5_000_000
    assert outcome.truncated.spill is None
    said = " ".join(outcome.warnings)
    assert "could not be written" in said
    assert "No space left" in said
    assert open_run(folder).outcomes == [outcome]


async def test_a_disk_that_is_full_of_the_users_own_files_still_takes_the_outcome(
    small_disk: Path, program: Any
) -> None:
    async with Pool(workspace=small_disk) as pool:
        body = """
        try:
            open(request["results_dir"] + "/fill", "wb").write(b"x" * 10_000_000)
        except OSError as error:
            complete(error.strerror)
        """
        outcome = await pool.dispatch("mine", command=program(body))
        folder = pool.run_folder
    assert outcome.results == {"answer": "No space left on device"}
    assert open_run(folder).outcomes == [outcome]
