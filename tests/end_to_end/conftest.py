"""The command as a user runs it, in the test's workspace."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import installed
import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def outcrop(workspace: Path) -> Command:
    """Run `outcrop` with these arguments in the workspace."""
    return partial(installed.outcrop, workspace)
