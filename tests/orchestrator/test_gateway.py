"""The model channel: any program may ask over it; nothing that it sends can hurt the orchestrator."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from outcrop import ScriptedModel
from outcrop.exchanges import read_exchanges
from outcrop.gateway import Gateway, QueueClock
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.runs import RunFolder
from outcrop_schemas.messages import ModelRequest, ModelResponse

REQUEST = {"system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "tools": []}


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[Any]:
    (tmp_path / "exchanges").mkdir()
    model = ScriptedModel([turn(text="one", turn_id="m1"), turn(text="two", turn_id="m2")])
    gateway = Gateway(ModelTable(model), RunFolder(tmp_path), asyncio.Semaphore(1))
    ours, theirs = socket.socketpair()
    serving = asyncio.create_task(gateway.line("d1", "analytics").serve(ours))
    reader, writer = await asyncio.open_unix_connection(sock=theirs)

    async def ask(line: bytes) -> Any:
        writer.write(line + b"\n")
        return json.loads(await asyncio.wait_for(reader.readline(), 10))

    yield ask
    writer.close()
    await asyncio.wait_for(serving, 10)


async def test_a_request_is_answered_with_a_message_under_its_number(channel: Any, tmp_path: Path) -> None:
    answer = await channel(json.dumps({"id": 7, "request": REQUEST}).encode())
    assert answer["id"] == 7
    assert answer["response"]["content"] == [{"type": "text", "text": "one"}]
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.is_intact
    assert json.loads(exchange.request)["messages"] == REQUEST["messages"]


async def test_tokens_can_be_counted(channel: Any) -> None:
    answer = await channel(json.dumps({"id": 1, "count_tokens": REQUEST}).encode())
    assert answer["response"]["input_tokens"] > 10


@pytest.mark.parametrize(
    "line", [b"garbage", b"[]", b'{"id":3}', b'{"id":3,"request":{"messages":7}}', b"\xff\xfe", b""]
)
async def test_nonsense_is_answered_and_the_line_stays_open(channel: Any, line: bytes) -> None:
    answer = await channel(line)
    assert answer["error"]["type"] == "invalid_request_error"
    assert answer["error"]["retryable"] is False
    assert (await channel(json.dumps({"id": 9, "request": REQUEST}).encode()))["id"] == 9


async def test_a_model_error_says_whether_to_try_again(channel: Any, tmp_path: Path) -> None:
    for _ in range(2):
        await channel(json.dumps({"id": 1, "request": REQUEST}).encode())
    answer = await channel(json.dumps({"id": 2, "request": REQUEST}).encode())
    assert answer["error"] == {"type": "script_exhausted", "message": "the script has no turn 3", "retryable": False}
    assert [exchange.response is None for exchange in read_exchanges(tmp_path / "exchanges" / "d1.jsonl")] == [
        False,
        False,
        True,
    ]


async def test_time_in_the_queue_is_counted_apart(tmp_path: Path) -> None:
    (tmp_path / "exchanges").mkdir()
    entered, release = asyncio.Event(), asyncio.Event()

    class Slow:
        name = "slow"

        async def create(self, request: ModelRequest) -> ModelResponse:
            entered.set()
            await release.wait()
            return turn(text="done", turn_id="x")

    gateway = Gateway(ModelTable(Slow()), RunFolder(tmp_path), asyncio.Semaphore(1))
    request = ModelRequest.model_validate(REQUEST)
    changes = asyncio.Event()
    waiting_clock = QueueClock(changes.set)
    first = asyncio.create_task(gateway.line("d1", "analytics").create(request))
    await asyncio.wait_for(entered.wait(), 10)
    second = asyncio.create_task(gateway.line("d2", "analytics", waiting_clock).create(request))
    await asyncio.wait_for(changes.wait(), 10)
    assert waiting_clock.is_waiting
    release.set()
    await asyncio.gather(first, second)
    assert not waiting_clock.is_waiting
    assert waiting_clock.seconds() > 0
