"""The misbehaving specialists that lie beside the project, through the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Those of this version; what needs a supervisor or confinement comes with them.
FAULTS = [
    "f01",
    "f02",
    "f03",
    "f05",
    "f06",
    "f07",
    "f09",
    "f10",
    "f11",
    "f20",
    "f21",
    "f23",
    "f24",
    "f25",
    "f27",
    "f30",
    "f31",
    "f32",
    "f33",
    "f35",
    "f36",
    "f38",
    "f40",
    "f41",
    "f44",
    "f46",
    "f48",
    "f63",
    "f73",
    "f74",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_misbehaving_specialist_gets_its_status_and_leaves_nothing_behind(shared: Path, fault: str) -> None:
    if not (shared / "faults" / "run_faults.py").is_file():
        pytest.skip("the fault injectors are not beside this checkout")
    environment = {key: value for key, value in os.environ.items() if key != "RUNNER"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [sys.executable, shared / "faults" / "run_faults.py", "--timeout", "2", "--slack", "20", fault]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stdout
