"""What a client may read: files of the workspace within our bounds, and of runs their answer and their report.

`workspace:///PATH` is a file: of a data file the first lines and the total, of a text one page, of an image
(PNG, JPEG, GIF) all of it.
`run://RUN/answer` and `run://RUN/report.html` are what came of a run.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from outcrop.mcp_server import answers, files, past
from outcrop.mcp_server.host import Host
from outcrop.runs import all_runs
from outcrop.workspace import HOME
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, DataError, PathError, UnknownNameError
from outcrop_specialists.guard.places import PRIVATE

WORKSPACE, RUN, ANSWER = "workspace", "run", "answer"
JSON, TEXT, HTML = "application/json", "text/plain", "text/html"
_URI_CHARS = 8_000


@dataclass(frozen=True)
class Listed:
    """A resource as it is listed."""

    uri: str
    name: str
    title: str
    kind: str
    bytes: int | None = None


@dataclass(frozen=True)
class Template:
    uri: str
    name: str
    description: str


@dataclass(frozen=True)
class Content:
    """What a resource holds: text, or bytes."""

    uri: str
    kind: str
    data: str | bytes


TEMPLATES = (
    Template(
        "workspace:///{+path}{?start_line}",
        "file",
        "A file of the workspace. Of a data file the first lines and how many there are, never all of its rows; of a "
        "text one page, from `start_line` on; an image as it is.",
    ),
    Template("run://{run_id}/answer", "answer", "The answer of a run, with the verdict on each of its figures."),
    Template("run://{run_id}/report.html", "report", "The report of a run, where it has one."),
)


async def listed(host: Host, cursor: str | None) -> tuple[list[Listed], str | None]:
    """A page of the resources, the reports of runs first, and where the next begins. Raises ArgumentError."""
    after = _decoded(cursor) if cursor else ""
    reports = [] if cursor else await host.shared.hands.do(_reports, host)
    room = limits.LIST_FILES_ENTRIES - len(reports)
    found, has_more = await host.shared.hands.do(files.page, host.workspace.folder, after, room)
    shown = [
        Listed(answers.uri_of(each.path), each.path, each.path.rpartition("/")[2], each.kind, each.bytes)
        for each in found
    ]
    following = base64.urlsafe_b64encode(found[-1].path.encode()).decode() if has_more and found else None
    return [*reports, *shown], following


def _reports(host: Host) -> list[Listed]:
    newest = all_runs(host.workspace)[::-1][: limits.MCP_RUNS_LISTED]
    return [
        Listed(f"run://{run.run_id}/{past.REPORT}", f"{run.run_id}/{past.REPORT}", f"Report of run {run.run_id}", HTML)
        for run in newest
        if past.has_report(run.path)
    ]


def _decoded(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise ArgumentError("cursor", "is none that this server gave") from error


async def read(host: Host, uri: str) -> Content:
    """What is at an address. Raises OutcropError for one that leads nowhere, or out of what is offered."""
    if len(uri) > _URI_CHARS:
        raise ArgumentError("uri", f"has {len(uri)} characters, {_URI_CHARS} are allowed")
    try:
        parts = urlsplit(uri)
        path = unquote(parts.netloc + parts.path, errors="strict").lstrip("/")
    except ValueError as error:
        raise ArgumentError("uri", f"is not an address: {error}") from error
    if parts.scheme == RUN:
        return await _of_run(host, uri, path)
    if parts.scheme != WORKSPACE:
        raise ArgumentError("uri", "begins with workspace:/// for a file, or with run:// for a run")
    if PRIVATE.intersection(path.split("/")):
        raise PathError(
            path, f"is Outcrop's own ({HOME} or its settings) and is not given; run:// has what came of runs"
        )
    name = host.workspace.data(path)
    if PRIVATE.intersection(name.split("/")):
        raise PathError(path, "is Outcrop's own and is not given")
    if await host.shared.hands.do(files.is_picture, host.workspace.folder, name):
        # Where a link led to, as far as it stays in the workspace.
        data = await host.shared.hands.do(files.whole, host.workspace.folder, name)
        return Content(uri, files.kind_of(name), data)
    return await _file(host, uri, name, _start_line(parts.query))


def _start_line(query: str) -> int:
    given = parse_qs(query).get("start_line", ["1"])[0]
    if not given.isascii() or not given.isdigit() or not int(given[:18]) > 0:
        raise ArgumentError("start_line", f"is the number of a line, not {given[:50]!r}")
    return int(given[:18])


async def _file(host: Host, uri: str, name: str, start_line: int) -> Content:
    outcome = await host.read(name, start_line)
    if not outcome.is_good:
        raise DataError("; ".join(outcome.errors) or f"{name}: {outcome.status}")
    results = outcome.results
    text = results.get("text")
    if results.get("kind") == "text" and isinstance(text, str):
        following = results.get("next")
        hint = _hint(name, following) if isinstance(following, Mapping) else ""
        return Content(uri, TEXT, text + hint)
    told = {"summary": outcome.summary, **results, **({"notes": outcome.findings} if outcome.findings else {})}
    return Content(uri, JSON, answers.as_text(told))


def _hint(name: str, following: Mapping[str, Any]) -> str:
    line = following.get("start_line")
    return f"\n[this is not all of it; it goes on at {answers.uri_of(name)}?start_line={line}]\n"


async def _of_run(host: Host, uri: str, path: str) -> Content:
    name, _, what = path.partition("/")
    folder = await host.shared.hands.do(past.named, host.workspace, name)
    if what == ANSWER:
        shown = await host.shared.hands.do(past.shown, host.workspace, folder.run_id)
        return Content(uri, JSON, wire.dumps(shown.model_dump(mode="json")).decode())
    if what != past.REPORT:
        raise UnknownNameError("resource of a run", what[:100], known=(ANSWER, past.REPORT))
    if not past.has_report(folder.path):
        raise PathError(f"run {folder.run_id}", "has no report")
    data = await host.shared.hands.do(files.whole, folder.path, past.REPORT)
    return Content(uri, HTML, data.decode("utf-8", "replace"))
