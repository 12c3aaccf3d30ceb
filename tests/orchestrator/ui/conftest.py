"""A server of the live view for all tests of a module, in a workspace of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ui_server import Live, serving


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace that is served."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def live(home: Path) -> Iterator[Live]:
    with serving(home) as server:
        yield server
