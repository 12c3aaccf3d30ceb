"""The installed command, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

OUTCROP = Path(sys.executable).parent / "outcrop"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def outcrop(workspace: Path) -> Command:
    """Run `outcrop` with these arguments in the workspace."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        settings: dict[str, object] = {"cwd": workspace, "timeout": 150, **options}
        return subprocess.run([OUTCROP, *arguments], capture_output=True, text=True, **settings)  # type: ignore[call-overload,no-any-return]

    return run
