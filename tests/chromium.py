"""Debian's Chromium for tests that look at pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own; the test is skipped where there is none, or nothing to drive it with."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = which("chromium") or which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium on the PATH")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
