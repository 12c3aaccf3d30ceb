"""What all tests share: where the real files are, and a workspace to work in."""

from __future__ import annotations

from pathlib import Path

import pytest

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
