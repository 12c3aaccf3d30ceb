"""A server of the live view in the workspace of the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ui_server import Live, serving


@pytest.fixture
def live(workspace: Path) -> Iterator[Live]:
    with serving(workspace) as server:
        yield server
