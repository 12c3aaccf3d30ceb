"""The documentation site: it builds strictly, asks nobody for anything, and can be read and searched in a browser."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest
from browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("mkdocs", reason="mkdocs is not installed: it comes with outcrop[docs]")
ROOT = Path(__file__).resolve().parents[2]
# What a page loads by itself; where a link leads is for who follows it.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\b(?:src|srcset)=["']?([^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref=["']?([^"'\s>]+)|@import\s+["']([^"']+)|url\(["']?(https?:[^"')]+)"""
)
ELSEWHERE = re.compile(r"(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert len(pages) > 20
    for page in pages:
        loaded = ["".join(found) for found in LOADED.findall(page.read_text("utf-8"))]
        assert [one for one in loaded if ELSEWHERE.match(one)] == [], page


def test_every_page_is_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    pages = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert [page for page in sorted(pages) if f'href="{page}"' not in index and f"href={page}" not in index] == []


def test_no_page_stands_twice_in_the_navigation() -> None:
    named = re.findall(r"^ +- .*?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2], re.M)
    assert len(named) > 20
    assert [page for page in dict.fromkeys(named) if named.count(page) > 1] == []


def test_the_reference_has_every_public_name(site: Path) -> None:
    import outcrop

    api = "".join(path.read_text("utf-8") for path in (site / "api").glob("*.html"))
    missing = [name for name in outcrop.__all__ if not re.search(rf'id="outcrop[\w.]*\.{name}"', api)]
    assert missing == []


def documented() -> Iterator[tuple[str, Any]]:
    """What the reference shows: each name, and what it is."""
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for target, members in re.findall(
            r"^::: (\S+)(?:\n    options:(?:\n .*)*?\n      members: \[(.*)\])?", page.read_text(), re.M
        ):
            home = resolve_name(target)
            names = [name.strip() for name in members.split(",")] if members else []
            yield from ((f"{target}.{name}", getattr(home, name)) for name in names)
            if not names:
                yield target, home


def test_all_that_the_reference_shows_is_described() -> None:
    found = dict(documented())
    assert len(found) > 40
    bare = [name for name, thing in found.items() if not thing.__doc__]
    for name, kind in found.items():
        if inspect.isclass(kind):
            own = [(key, value) for key, value in vars(kind).items() if key[0] != "_" and inspect.isfunction(value)]
            bare += [f"{name}.{key}" for key, value in own if not value.__doc__]
    assert bare == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of this file."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site from a server on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[[str, int], Page]]:
    """Opens a page; at the end nothing was asked for elsewhere, and nothing went wrong."""
    asked: list[str] = []
    faults: list[str] = []
    contexts = []

    def open_page(url: str, width: int = 1280) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))] == []
    assert faults == []


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_open_without_a_fault_and_without_scrolling_sideways(
    site: Path, address: str, watched: Callable[[str, int], Page], width: int
) -> None:
    page = watched(f"{address}/index.html", width)
    for name in ("how-it-works.html", "start.html", "limits.html", "api/index.html", "cli.html"):
        page.goto(f"{address}/{name}")
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    page.goto(f"{address}/how-it-works.html")
    assert page.evaluate("document.querySelector('article img').naturalWidth") > 0


@pytest.mark.parametrize("where", ["server", "file"])
def test_what_is_searched_for_is_found(
    site: Path, address: str, watched: Callable[[str, int], Page], where: str
) -> None:
    page = watched(f"{address}/index.html" if where == "server" else f"{site.as_uri()}/index.html", 1280)
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially("capability_gap")
    result = page.locator(".md-search-result__link").first
    result.wait_for(timeout=30_000)
    page.locator(".md-search-result__link[href*=statuses]").first.click()
    page.wait_for_url("**/statuses.html*")
    assert page.locator("h3#capability_gap").count() == 1
