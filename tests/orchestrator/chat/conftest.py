"""A workspace with rows that can be told anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversing import csv


@pytest.fixture
def data(workspace: Path) -> Path:
    """A workspace with the marked rows in `a.csv`."""
    (workspace / "a.csv").write_text(csv())
    return workspace
