"""Who is let in to the live view, and what nobody else is told."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import psutil
import pytest
from made_runs import made, outcome
from ui_server import OUTCROP, PATIENCE, Live, serving

FOREIGN = "http://evil.example"


@pytest.mark.parametrize("root", ["/", "/wrong/", "//", "/wrong/events", "/%00/", "/..%2f/", "/favicon.ico"])
def test_without_the_token_there_is_nothing(live: Live, root: str) -> None:
    answer = live.ask("", root=root)
    assert (answer.status, answer.body) == (404, b"Not found")
    assert live.root.strip("/") not in str(answer.headers)


def test_a_token_that_begins_or_ends_like_the_right_one_is_wrong(live: Live) -> None:
    token = live.root.strip("/")
    for wrong in (token[:-1], token + "x", token.swapcase(), token + "%20", ""):
        assert live.ask("", root=f"/{wrong}/").status == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", ""]
)
def test_another_name_for_this_machine_is_not_answered(live: Live, host: str) -> None:
    answer = live.ask("", host=host.format(port=live.port))
    assert (answer.status, answer.body) == (404, b"Not found")


def test_a_request_without_a_host_is_not_answered(live: Live) -> None:
    with socket.create_connection(("127.0.0.1", live.port), timeout=30) as plain:
        plain.sendall(f"GET {live.root} HTTP/1.0\r\n\r\n".encode())
        assert b" 404 " in plain.makefile("rb").readline()


def test_localhost_is_this_machine_too(live: Live) -> None:
    assert live.ask("", host=f"localhost:{live.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": FOREIGN},
        {"origin": "null"},
        {"origin": "http://localhost:{port}"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "cross-site"},
        {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "same-site"},
        {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "none"},
    ],
)
def test_only_a_page_of_its_own_changes_anything(
    live: Live, home: Path, headers: dict[str, str], request: pytest.FixtureRequest
) -> None:
    name = f"run-{abs(hash(request.node.name))}"
    folder = made(home, [outcome(1)], pending=1, name=name)
    sent = {name: value.format(port=live.port) for name, value in headers.items()}
    answer = live.ask(f"run/{folder.run_id}/cancel/d0002-0", "POST", **sent)
    assert answer.status == 403
    assert not folder.requests.exists()


def test_another_page_can_neither_read_nor_embed_it(live: Live) -> None:
    assert live.ask("", sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status == 403
    assert live.ask("", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200


@pytest.mark.parametrize("path", ["", "compare", "run/none/", "nothing/of/the/kind"])
def test_every_answer_says_that_it_is_not_kept_told_embedded_or_guessed(live: Live, path: str) -> None:
    headers = live.ask(path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers


def test_no_other_address_is_served(live: Live) -> None:
    listening = [c.laddr for c in psutil.Process(live.process.pid).net_connections() if c.status == "LISTEN"]
    assert listening == [("127.0.0.1", live.port)]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(live: Live, method: str) -> None:
    answer = live.ask("", method, origin=f"http://127.0.0.1:{live.port}", sec_fetch_site="same-origin")
    assert answer.status == 405


def test_two_servers_have_different_tokens_and_a_port_is_had_once(home: Path, live: Live) -> None:
    with serving(home) as other:
        assert other.root != live.root
    command = [OUTCROP, "ui", "--workspace", str(home), "--port", str(live.port)]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (refused.returncode, "choose another --port" in refused.stderr) == (1, True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_it_ends_at_once_also_with_open_streams(workspace: Path, number: int, code: int) -> None:
    made(workspace, [outcome(1)])
    with serving(workspace) as own, own.begun("events?since=x") as stream:
        assert stream.readline().startswith(b"retry")
        assert own.end(number) == code
        stream.read()
