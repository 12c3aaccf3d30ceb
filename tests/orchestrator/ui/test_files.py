"""Artifacts are served as a run names them, beneath the workspace, and nothing of them runs."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from made_runs import made, outcome
from starlette.requests import ClientDisconnect
from starlette.types import Message
from ui_server import Answer, Live

from outcrop.ui.files import FileAnswer, opened
from outcrop.workspace import Workspace

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
SCRIPT = b"<html><script>alert(1)</script></html>"
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
FILES = {
    "plot.png": PNG,
    "page.html": SCRIPT,
    "drawing.svg": SVG,
    "notes.txt": "Größe\n".encode(),
    "old notes.txt": "Größ".encode("latin-1"),
    "table.csv": b"a,b\n" + b"1,2\n" * 40_000,
    "table.parquet": b"PAR1\0\xff\xfe" + bytes(50),
    "no picture.png": SCRIPT,
    "od\"d'<b>\n;.txt": b"odd",
    "script.js": b"alert(1)",
}
WRONG = ("link.txt", "out/hostname", "pipe.txt", "gone.txt")
RUN = "20260101-000000-000000-aaaa"
Get = Callable[..., Answer]


def artifact(path: str) -> dict[str, object]:
    return {"path": path, "kind": "other", "title": "", "bytes": 1, "sha256": "0" * 64}


@pytest.fixture(scope="module")
def page(live: Live, home: Path) -> str:
    """The page of a run that names these files, and some that it must not."""
    (home / "results").mkdir()
    for name, content in FILES.items():
        (home / "results" / name).write_bytes(content)
    (home / "secret.csv").write_text("secret")
    (home / "results" / "link.txt").symlink_to("/etc/hostname")
    (home / "results" / "out").symlink_to("/etc")
    os.mkfifo(home / "results" / "pipe.txt")
    named = [*FILES, *WRONG]
    artifacts = [artifact(f"results/{name}") for name in named] + [
        artifact("../outside.txt"),
        artifact("/etc/hostname"),
    ]
    folder = made(home, [outcome(1, artifacts=artifacts)])
    return live.ask(f"run/{folder.run_id}/").text


def address(page: str, name: str) -> str:
    """Where the page says that a file is."""
    found = re.search(rf'href="(file/[0-9a-f]+/[^"]*{re.escape(quote(quote(name)))})"', page)
    assert found, name
    return found[1]


@pytest.fixture
def get(live: Live, page: str) -> Get:

    def ask(name: str, more: str = "") -> Answer:
        return live.ask(f"run/{RUN}/{address(page, name)}{more}")

    return ask


@pytest.mark.parametrize(
    ("name", "kind", "how"),
    [
        ("plot.png", "image/png", "inline"),
        ("drawing.svg", "image/svg+xml", "inline"),
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("script.js", "text/plain; charset=utf-8", "inline"),
        ("no picture.png", "text/plain; charset=utf-8", "inline"),
        ("notes.txt", "text/plain; charset=utf-8", "inline"),
        ("old notes.txt", "application/octet-stream", "attachment"),
        ("table.parquet", "application/octet-stream", "attachment"),
    ],
)
def test_a_file_is_a_picture_text_or_a_download_by_what_is_in_it(get: Get, name: str, kind: str, how: str) -> None:
    answer = get(name)
    assert answer.status == 200
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"].startswith(how)
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "allow-scripts" not in policy
    assert answer.body == FILES[name]


def test_of_a_table_the_first_rows_are_shown_and_all_of_it_is_to_be_had(get: Get) -> None:
    shown, whole = get("table.csv"), get("table.csv", "?download")
    assert 0 < len(shown.body) < 100_000
    assert shown.body.endswith(b"1,2\n")
    assert whole.body == FILES["table.csv"]
    assert whole.headers["content-disposition"].startswith("attachment")


def test_a_name_that_would_break_a_header_does_not(get: Get) -> None:
    answer = get("od\"d'<b>\n;.txt")
    assert answer.body == b"odd"
    assert "\n" not in answer.headers["content-disposition"]
    assert "<" not in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    "name", ["link.txt", "out/hostname", "pipe.txt", "gone.txt", "../outside.txt", "/etc/hostname"]
)
def test_what_is_no_file_beneath_the_workspace_is_not_served_though_it_is_named(get: Get, name: str) -> None:
    assert get(name).status == 404


def test_nothing_is_served_that_no_run_names(live: Live, page: str, home: Path) -> None:
    code = address(page, "notes.txt").split("/")[1]
    for path in ("secret.csv", "results/notes.txt%00", "./results/notes.txt", "results/../secret.csv", ".outcrop/lock"):
        assert live.ask(f"run/{RUN}/file/{code}/{path}").status == 404
    assert live.ask(f"run/{RUN}/file/{'0' * 32}/results/notes.txt").status == 404
    other = made(home, [outcome(1)], name="20260102-000000-000000-bbbb")
    assert live.ask(f"run/{other.run_id}/file/{code}/results/notes.txt").status == 404


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "..%2f..", "x", ".hidden", "20260101", "a" * 300, "%00", "%ff"])
def test_a_run_is_one_folder_of_the_runs_and_nothing_else(live: Live, page: str, name: str) -> None:
    assert live.ask(f"run/{name}/").status == 404


@pytest.mark.parametrize("spec", ["2.3", "2.4"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_file_is_closed_also_where_whoever_asked_is_gone_at_once(
    workspace: Path, spec: str, method: str
) -> None:
    (workspace / "a.txt").write_bytes(b"x" * 1_000_000)
    file = opened(Workspace(workspace), "a.txt", is_download=False)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise OSError("the connection is closed")

    scope = {"type": "http", "method": method, "asgi": {"spec_version": spec}}
    with contextlib.suppress(OSError, ClientDisconnect):
        await FileAnswer(file)(scope, receive, send)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file.descriptor)


def test_many_who_hang_up_leave_no_open_files_behind(live: Live, page: str) -> None:
    server = psutil.Process(live.process.pid)
    before = server.num_fds()
    request = f"GET {live.root}run/{RUN}/{address(page, 'plot.png')} HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\n\r\n"
    for _ in range(40):
        with socket.create_connection(("127.0.0.1", live.port)) as connection:
            connection.sendall(request.encode())
    # Answered in turn: those before are through by then, or nearly.
    for _ in range(200):
        live.ask("")
        if server.num_fds() <= before + 2:
            break
    assert server.num_fds() <= before + 2
