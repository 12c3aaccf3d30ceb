"""A real browser for pages of ours: what it complains of and whatever leaves the page is a failure."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DESK, PHONE = (1280, 900), (390, 844)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium; skips where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium is installed (on Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, address: str, size: tuple[int, int] = DESK, *, allowed: tuple[str, ...] = (), **options: Any
) -> Iterator[Page]:
    """A page at this address. Afterwards nothing may have been complained of, and nothing asked for but the address,
    what begins as one of `allowed`, and data: addresses."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    page, faults = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("console", lambda said: faults.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    fine = (address, "data:", *allowed)
    page.on("request", lambda asked: None if asked.url.startswith(fine) else faults.append(f"request: {asked.url}"))
    try:
        page.goto(address)
        yield page
    finally:
        context.close()
    assert faults == [], faults


def serious_faults(page: Page) -> list[str]:
    """What axe finds that keeps people from using a page."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]


def overflow(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
