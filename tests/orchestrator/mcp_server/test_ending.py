"""What was asked for ends when it is cancelled, when the client goes, and when the server is told to end."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

GONE_SECONDS = 20
"""Far more than the ladder takes, on a machine that has other work."""


def long_command(seconds: str) -> dict[str, Any]:
    return {"command": f"sleep {seconds}"}


def assert_gone(process: psutil.Process) -> None:
    assert psutil.wait_procs([process], timeout=GONE_SECONDS)[1] == []


async def test_a_cancelled_call_over_stdio_leaves_no_process_and_is_recorded(raw: Any, the_sleep: Any) -> None:
    server = raw()
    server.begin()
    server.call(1, "run_command", long_command("86101"))
    sleeping = await the_sleep("86101")
    server.send(method="notifications/cancelled", params={"requestId": 1, "reason": "enough"})
    assert_gone(sleeping)
    # The process is gone a little before that is recorded.
    statuses, number = ["under way"], 2
    while statuses == ["under way"]:
        server.call(number, "show_run", {"run": "last"})
        shown = server.answer(number)["result"]["structuredContent"]
        statuses, number = [line["status"] for line in shown["dispatches"]], number + 1
    assert statuses == ["cancelled"]
    # It goes on serving, and nothing but the protocol was on stdout.
    server.call(number, "check_missing", {"path": "small.csv"})
    assert not server.answer(number)["result"]["isError"]
    told = [line["params"]["message"] for line in server.lines if line.get("method") == "notifications/progress"]
    assert any("check_missing" in line for line in told)
    assert server.end()[0] == 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_cancelled_call_over_http_leaves_no_process(served: Any, the_sleep: Any, mode: str) -> None:
    seconds = {"auto": "86102", "legacy": "86103"}[mode]
    async with served.client(mode) as client:
        call = asyncio.create_task(client.call_tool("run_command", long_command(seconds)))
        sleeping = await the_sleep(seconds)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        # In a thread: what tells the server is still to be sent.
        await asyncio.to_thread(assert_gone, sleeping)
        assert not (await client.call_tool("list_files", {})).is_error


async def test_a_client_that_closes_its_end_leaves_nothing_behind(raw: Any, the_sleep: Any) -> None:
    server = raw()
    server.begin()
    server.call(1, "run_command", long_command("86104"))
    sleeping = await the_sleep("86104")
    own = [sleeping, *psutil.Process(server.process.pid).children(recursive=True)]
    code, said = server.end()
    assert code == 0, said
    assert "Traceback" not in said
    assert psutil.wait_procs(own, timeout=GONE_SECONDS)[1] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_and_what_it_started(raw: Any, the_sleep: Any, number: int) -> None:
    server = raw()
    server.begin()
    server.call(1, "run_command", long_command("86105"))
    sleeping = await the_sleep("86105")
    own = [sleeping, *psutil.Process(server.process.pid).children(recursive=True)]
    server.process.send_signal(number)
    # Its stdin stays open: it must not wait for a line.
    assert server.process.wait(GONE_SECONDS) == 130
    assert "Traceback" not in server.process.stderr.read().decode()
    assert psutil.wait_procs(own, timeout=GONE_SECONDS)[1] == []


async def test_a_client_that_reads_no_more_does_not_keep_the_server(raw: Any) -> None:
    server = raw()
    server.begin()
    server.process.stdout.close()
    server.send(id=1, method="tools/list")
    assert server.process.wait(GONE_SECONDS) == 0
    assert "Traceback" not in server.process.stderr.read().decode()


async def test_a_busy_workspace_is_said_and_left_alone(raw: Any) -> None:
    first = raw()
    first.begin()
    code, said = raw().end()
    assert code == 1
    assert "another run is under way in this workspace" in said
    first.send(id=1, method="ping")
    assert first.answer(1)["result"] == {}


async def test_a_message_that_is_too_long_or_no_json_is_passed_over(raw: Any) -> None:
    server = raw()
    server.begin()
    server.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + b"y" * (5 << 20) + b'"}}\n')
    server.write(b"nothing\n\xff\xfe\n[]\n")
    server.send(id=2, method="ping")
    assert server.answer(2)["result"] == {}
    code, said = server.end()
    assert code == 0
    assert "was not read" in said


DEEP = "so deep that no parser goes to the end"
ODD = {
    "too long": {"x": "y" * (5 << 20)},
    "half of a character": {"x": "\ud800"},
    "deep": {"x": DEEP},
}


@pytest.mark.parametrize("params", ODD.values(), ids=ODD)
@pytest.mark.parametrize("order", ["the id first", "the id last"])
async def test_a_request_that_cannot_be_read_is_refused_and_not_left_waiting(
    raw: Any, params: dict[str, Any], order: str
) -> None:
    server = raw()
    server.begin()
    asked = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    inner = json.dumps({**params, "id": 8}).replace(f'"{DEEP}"', "[" * 3_000 + "]" * 3_000)
    first = json.dumps(asked)[:-1] + f', "params": {inner}}}'
    last = f'{{"method": "ping", "params": {inner}, "jsonrpc": "2.0", "id": 7}}'
    server.write((first if order == "the id first" else last).encode() + b"\n")
    server.send(id=9, method="ping")
    assert server.answer(7)["error"]["message"]
    assert server.answer(9)["result"] == {}


def test_without_the_extra_the_way_to_it_is_said(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
    program += "from outcrop.cli.main import main; main(['mcp', '--workspace', sys.argv[1]])"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "pip install 'outcrop[mcp]'" in done.stderr
    assert done.stdout == ""
