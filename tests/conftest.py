"""What all tests share: where the real files are, and a workspace to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault: no deadline. CI takes the same examples each time; elsewhere new ones are tried.
settings.register_profile(
    "outcrop", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("outcrop")

# No test may spend anybody's money: the key and the server of whoever runs the tests are none of theirs.
for _name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
    del os.environ[_name]

# Test processes and specialists share the processors: a thread of scikit-learn that waits for another must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real files, exact answers and misbehaving specialists that lies beside the project."""
    if not SHARED.is_dir():
        pytest.skip("the shared folder with real files is not beside this checkout")
    return SHARED
