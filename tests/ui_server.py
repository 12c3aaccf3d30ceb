"""The live view as it is served, and a client of it that says exactly what it is told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

OUTCROP = Path(sys.executable).with_name("outcrop")
PATIENCE = 60


@dataclass
class Answer:
    """What was answered to one request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Live:
    """A server of the live view."""

    process: subprocess.Popen[str]
    url: str
    port: int

    @property
    def root(self) -> str:
        """The path that everything lies beneath."""
        return self.url.removeprefix(f"http://127.0.0.1:{self.port}")

    def ask(self, path: str, method: str = "GET", *, root: str | None = None, **headers: str) -> Answer:
        """The answer to one request; in the name of a header `_` stands for `-`."""
        with self.begun(path, method, root=root, **headers) as answer:
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    @contextmanager
    def begun(
        self, path: str, method: str = "GET", *, root: str | None = None, **headers: str
    ) -> Iterator[HTTPResponse]:
        """An answer that is being read."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, (self.root if root is None else root) + path, skip_host=True)
            for name, value in {"host": f"127.0.0.1:{self.port}", **headers}.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            yield connection.getresponse()
        finally:
            connection.close()

    def post(self, path: str) -> Answer:
        """What a page of the server's own sends."""
        return self.ask(path, "POST", origin=f"http://127.0.0.1:{self.port}", sec_fetch_site="same-origin")

    def events(self, path: str, **headers: str) -> Iterator[tuple[str, str, Any]]:
        """Server-sent events: kind, id and data; the connection closes with the iterator."""
        with self.begun(path, **headers) as answer:
            assert answer.getheader("content-type", "").startswith("text/event-stream")
            event = {"event": "", "id": "", "data": ""}
            for line in iter(answer.readline, b""):
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name in event:
                    event[name] = value
                elif not name and event["data"]:
                    yield event["event"], event["id"], json.loads(event["data"])
                    event = {"event": "", "id": "", "data": ""}

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(workspace: Path, *options: str) -> Iterator[Live]:
    """`outcrop ui` in this workspace."""
    command = [OUTCROP, "ui", "--workspace", str(workspace), "--json", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        told = json.loads(process.stdout.readline())
        yield Live(process, told["url"], told["port"])
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
