"""Reading a file of the workspace."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext


@pytest.fixture
def read(context: ToolContext) -> Callable[[str], Table]:
    """The table in a file by its path in the workspace."""
    return lambda name: read_table(context, name)


@pytest.fixture
def read_lines(context: ToolContext, write_file: Callable[[str, str], str]) -> Callable[..., Table]:
    """The table in a text of these lines."""
    return lambda *lines: read_table(context, write_file("t.csv", "\n".join(lines) + "\n"))
