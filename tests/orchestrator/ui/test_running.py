"""A run that is under way in another process than the server: followed, cancelled from its page, listed, searched."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import AT, made, outcome
from starlette.types import Message
from ui_server import Live, serving

from outcrop import Pool
from outcrop.batch_resume import STARTED
from outcrop.cli.main import run as command
from outcrop.journal import encode
from outcrop.ledger import RESERVED, SETTLED
from outcrop.records import WAITS
from outcrop.ui.app import Application
from outcrop.workspace import Workspace
from outcrop_schemas.journal import RecordType

Program = Callable[[str], list[str]]


@pytest.fixture
def server(workspace: Path) -> Iterator[Live]:
    with serving(workspace) as live:
        yield live


def first(events: Iterator[tuple[str, str, Any]], kind: str, holds: Callable[[Any], bool]) -> Any:
    """The data of the first event of a kind of which something holds."""
    return next(data["data"] for what, _, data in events if what == kind and "data" in data and holds(data["data"]))


def dispatches(text: object) -> bool:
    return isinstance(text, str) and 'id="dispatches"' in text


async def test_a_run_is_followed_and_a_dispatch_cancelled_from_its_page(
    server: Live, pool: Pool, program: Program, workspace: Path
) -> None:
    path = f"run/{pool.run_folder.run_id}/"
    slow = asyncio.ensure_future(pool.dispatch("mine", "wait", command=program("time.sleep(600)"), grace=0.1))
    events = await asyncio.to_thread(server.events, f"{path}events?since=x")
    told = await asyncio.to_thread(first, events, "part", lambda text: dispatches(text) and "data-cancel" in text)
    dispatch_id = told.split('data-cancel="cancel/')[1].split('"')[0]
    assert server.ask(path).status == 200
    answer = await asyncio.to_thread(server.post, f"{path}cancel/{dispatch_id}")
    assert (answer.status, "being cancelled" in answer.json()["told"]) == (202, True)
    ended = await asyncio.wait_for(slow, 60)
    assert ended.status == "cancelled"
    told = await asyncio.to_thread(first, events, "part", lambda text: dispatches(text) and "cancelled" in text)
    assert "data-cancel" not in told
    events.close()  # type: ignore[attr-defined]
    again = await asyncio.to_thread(server.post, f"{path}cancel/{dispatch_id}")
    assert (again.status, "not under way" in again.json()["told"]) == (409, True)
    for wrong in ("d9999-0", "..", "x" * 5_000, "%00"):
        assert (await asyncio.to_thread(server.post, f"{path}cancel/{wrong}")).status in (404, 409)
    assert not list(pool.run_folder.requests.iterdir())


async def test_progress_is_told_as_text_and_the_stream_ends_with_the_run(
    server: Live, workspace: Path, program: Program
) -> None:
    said = program("say(type='progress', text='counting \\x1b[31m<b>', done=3, total=40); time.sleep(600)")
    async with Pool(workers=1, workspace=workspace) as pool:
        path = f"run/{pool.run_folder.run_id}/events"
        work = asyncio.ensure_future(pool.dispatch("mine", "wait", command=said, grace=0.1))
        events = await asyncio.to_thread(server.events, path)
        doing = await asyncio.to_thread(first, events, "progress", lambda rows: any(r["text"] for r in rows.values()))
        assert [row["text"] for row in doing.values()] == ["counting \\x1b[31m<b> (3 of 40)"]
        work.cancel()
        await asyncio.wait([work])
    kinds = await asyncio.to_thread(lambda: [kind for kind, _, _ in events])
    assert kinds[-1] == "done"


def test_who_comes_back_with_the_last_event_is_not_told_it_again(server: Live, workspace: Path) -> None:
    folder = made(workspace, [outcome(1)])
    events = list(server.events(f"run/{folder.run_id}/events"))
    assert [kind for kind, _, _ in events].count("part") > 5
    last = next(mark for _, mark, _ in reversed(events) if mark)
    again = list(server.events(f"run/{folder.run_id}/events", last_event_id=last))
    assert [kind for kind, _, _ in again] == ["progress", "done"]


def test_the_list_is_paged_and_searched_and_shows_what_a_hostile_run_says_as_text(
    server: Live, workspace: Path
) -> None:
    for number in range(60):
        name = f"20260101-0000{number:02d}-000000-aaaa"
        made(workspace, [outcome(1)], name=name, objective=f"piece <script>alert({number})</script>")
    page = server.ask("").text
    assert page.count("<tr data-key") == 50
    assert "&lt;script&gt;alert(59)" in page
    assert "<script>alert" not in page
    assert server.ask("?page=2").text.count("<tr data-key") == 10
    assert server.ask("?page=99").text.count("<tr data-key") == 10
    assert server.ask("?q=alert(7)").text.count("<tr data-key") == 1
    assert "No run has" in server.ask("?q=%3Cb%3Enothing").text
    for odd in ("-1", "x", "9" * 50):
        assert server.ask(f"?page={odd}").status == 200


def test_two_runs_are_compared_and_no_other_number_of_them(server: Live, workspace: Path) -> None:
    names = ["20260101-000000-000000-aaaa", "20260102-000000-000000-bbbb"]
    for name in names:
        made(workspace, [outcome(1, summary=name)], name=name, objective=f"of {name}")
    told = server.ask(f"compare?run={names[0]}&run={names[1]}")
    assert told.status == 200
    assert "of 20260102" in told.text
    assert server.ask("compare").status == 400
    assert server.ask(f"compare?run={names[0]}").status == 400
    assert server.ask(f"compare?run={names[0]}&run=none").status == 404


def test_earlier_dispatches_are_had_by_pages_by_status_and_by_words(server: Live, workspace: Path) -> None:
    outcomes = [outcome(n, "failed" if n % 50 == 0 else "success") for n in range(1, 251)]
    path = f"run/{made(workspace, outcomes).run_id}/earlier"
    first_page = server.ask(path).text
    assert first_page.count('<tr><th scope="row">') == 100
    following = first_page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert ">d0150<" in server.ask(f"run/20260101-000000-000000-aaaa/{following}").text
    assert server.ask(f"{path}?status=failed").text.count('<tr><th scope="row">') == 5
    assert server.ask(f"{path}?q=analytics+d0077").text.count('<tr><th scope="row">') == 1
    assert "interrupted</span>" not in first_page
    assert server.ask(f"{path}?before=x&status=odd&q={json.dumps('x' * 900)[1:-1]}").status == 200


@pytest.mark.parametrize("kind", ["pool", "run", "batch"])
def test_a_run_whose_start_records_are_damaged_has_a_page(server: Live, workspace: Path, kind: str) -> None:
    folder = made(workspace, [outcome(1, summary="what came of it")], kind=kind)
    first_line, start, end = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(first_line + start.replace(b"piece", b"peace") + end)
    page = server.ask(f"run/{folder.run_id}/")
    assert (page.status, "damaged" in page.text) == (200, True)
    assert server.ask("").status == 200


ODD = {
    "answer": [("event", {"kind": "answer"})],
    "objective": [("run", {"kind": "run", "objective": ["a", 1], "jobs": {}, "at": 5})],
    "start": [("start", {}), ("end", {"status": "of another version"})],
    "job": [("event", {"kind": "job_ended", "job": "1"})],
    "money": [("event", {"kind": RESERVED, "call": 1}), ("event", {"kind": SETTLED, "usd": "x"})],
}


@pytest.mark.parametrize("records", ODD.values(), ids=ODD)
def test_the_command_lists_all_runs_beside_one_of_another_shape(
    workspace: Path, records: list[tuple[RecordType, dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    good = made(workspace, [outcome(1)])
    folder = made(workspace, name="20260102-000000-000000-bbbb", kind="run")
    first_of_its_own = records[0][0] == "run"
    lines = [encode(kind, number, "d1", AT, body) for number, (kind, body) in enumerate(records)]
    folder.journal.write_bytes(b"".join(lines if first_of_its_own else [folder.journal.read_bytes(), *lines]))
    assert command(["runs", "--workspace", str(workspace)]) == 0
    listed = capsys.readouterr().out
    assert good.run_id in listed
    assert folder.run_id in listed


@pytest.mark.parametrize("records", ODD.values(), ids=ODD)
def test_a_record_of_another_shape_takes_nothing_but_its_own_page_away(
    server: Live, workspace: Path, records: list[tuple[RecordType, dict[str, Any]]]
) -> None:
    good = made(workspace, [outcome(1)])
    folder = made(workspace, name="20260102-000000-000000-bbbb", kind="pool")
    first_of_its_own = records[0][0] == "run"
    lines = [encode(kind, number, "d1", AT, body) for number, (kind, body) in enumerate(records)]
    folder.journal.write_bytes(b"".join(lines if first_of_its_own else [folder.journal.read_bytes(), *lines]))
    page = server.ask("")
    assert (page.status, good.run_id in page.text, folder.run_id in page.text) == (200, True, True)
    told = server.ask(f"run/{folder.run_id}/")
    assert told.status in (200, 500)
    assert "<h1>" in told.text


def test_the_list_has_only_what_can_be_opened_and_a_run_is_found_without_the_last_slash(
    server: Live, workspace: Path
) -> None:
    folder = made(workspace, [outcome(1)])
    for name in (b"no id", b"<b>", b"\xff\xfe", b"x" * 200):
        shutil.copytree(folder.path, workspace / ".outcrop" / "runs" / os.fsdecode(name))
    assert server.ask("").text.count("<tr data-key") == 1
    answer = server.ask(f"run/{folder.run_id}?x=1")
    assert (answer.status, answer.headers["location"]) == (307, f"{folder.run_id}/")
    assert server.ask("run/none").status == 404


def test_who_looks_at_a_run_that_is_removed_is_told(server: Live, workspace: Path) -> None:
    folder = made(workspace, pending=1)
    with folder.journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        events = server.events(f"run/{folder.run_id}/events")
        assert first(events, "part", lambda text: dispatches(text) and "data-cancel" in text)
        shutil.rmtree(folder.path)
        assert "removed" in first(events, "state", bool)
    events.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "left", "going"), [("batch", "1 job begun", "1 job"), ("pool", "1", "1")])
def test_nothing_is_under_way_in_a_run_whose_orchestrator_is_gone(
    server: Live, workspace: Path, kind: str, left: str, going: str
) -> None:
    started = {"kind": STARTED, "job": "a", "line": 1, "run_id": "none"}
    folder = made(workspace, kind=kind, pending=kind == "pool", events=[started] if kind == "batch" else [])
    page = server.ask("").text
    assert f">{left}<" in page
    assert "under way" not in page
    assert "under way" not in server.ask(f"run/{folder.run_id}/").text
    with folder.journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert f">{going}, 1 under way<" in server.ask("").text


@pytest.mark.parametrize("page", ["earlier", "jobs"])
def test_what_has_no_end_is_found_by_the_status_that_it_is_told_with(server: Live, workspace: Path, page: str) -> None:
    started = {"kind": STARTED, "job": "a", "line": 1, "run_id": "none"}
    folder = made(
        workspace,
        kind="batch" if page == "jobs" else "pool",
        pending=page == "earlier",
        events=[started] if page == "jobs" else [],
    )

    def found(status: str) -> bool:
        text = server.ask(f"run/{folder.run_id}/{page}?status={status}").text
        assert ("under way" in text) <= (status == "running")
        return "<tbody>" in text

    assert [found(status) for status in ("interrupted", "running", "success", "nonsense")] == [
        True,
        False,
        False,
        False,
    ]
    with folder.journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        again = [found(status) for status in ("interrupted", "running", "success", "nonsense")]
    assert again == [False, True, False, False]


def test_all_that_wait_are_had_by_pages_also_while_some_begin(server: Live, workspace: Path) -> None:
    folder = made(workspace, kind="pool")
    ids = [f"d{number:04d}-0" for number in range(1, 251)]
    waits = {"kind": WAITS, "specialist": "mine", "objective": "o"}
    with folder.journal.open("ab") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        journal.writelines(encode("event", number, name, AT, waits) for number, name in enumerate(ids, 1))
        journal.flush()
        found: list[str] = []
        page: str | None = "earlier?status=waiting"
        while page:
            text = server.ask(f"run/{folder.run_id}/{page}").text
            found += re.findall(r'<th scope="row">(d\d+)<', text)
            following = re.search(r'rel="next" href="([^"]+)"', text)
            page = following and following[1].replace("&amp;", "&")
            # Those of the first page have their places by now.
            begins = {"specialist": "mine", "objective": "o"}
            journal.write(encode("start", len(ids) + len(found), ids[len(found) // 100], AT, begins))
            journal.flush()
    assert found == [name.partition("-")[0] for name in ids]


async def test_what_is_logged_has_no_token(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = made(workspace, events=[{"kind": "answer"}], kind="pool")
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/a-token/run/{folder.run_id}/",
        "headers": [],
        "query_string": b"",
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await Application(Workspace(workspace), "a-token").asgi(scope, receive, send)
    assert sent[0]["status"] == 500
    assert folder.run_id in caplog.text
    assert "a-token" not in caplog.text
