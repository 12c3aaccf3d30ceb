"""The model channel: any program may ask over it; nothing that it sends can hurt the orchestrator."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.channel import Channel
from outcrop.exchanges import read_exchanges
from outcrop.gateway import Gateway, QueueClock
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.rates import RateGovernor
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse

REQUEST = {"system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "tools": []}


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[Any]:
    (tmp_path / "exchanges").mkdir()
    model = ScriptedModel([turn(text="one", turn_id="m1"), turn(text="two", turn_id="m2")])
    gateway = Gateway(ModelTable(model), RunFolder(tmp_path), RateGovernor(1))
    ours, theirs = socket.socketpair()
    serving = asyncio.create_task(Channel("d1", gateway.line("d1", "analytics")).serve(ours))
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
    "line",
    [
        b"garbage",
        b"[]",
        b'{"id":3}',
        b'{"id":3,"request":{"messages":7}}',
        b"\xff\xfe",
        b"",
        *(json.dumps({"id": 3, "request": {**REQUEST, "max_tokens": most}}).encode() for most in (0, -1, -(10**9))),
    ],
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

    gateway = Gateway(ModelTable(Slow()), RunFolder(tmp_path), RateGovernor(1))
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


class Odd:
    """A model of someone else's, with one habit."""

    name = "odd"

    def __init__(self, habit: Callable[[], Any]) -> None:
        self._habit = habit

    async def create(self, request: ModelRequest) -> Any:
        return self._habit()


def raising(error: Exception) -> Callable[[], Any]:
    def habit() -> Any:
        raise error

    return habit


HABITS: dict[str, tuple[Callable[[], Any], str]] = {
    "RuntimeError": (raising(RuntimeError("boom")), "model 'odd' raised RuntimeError: boom"),
    "KeyError": (raising(KeyError("k")), "model 'odd' raised KeyError: 'k'"),
    "TypeError": (lambda: len(7), "model 'odd' raised TypeError"),  # type: ignore[arg-type]
    "UnicodeEncodeError": (lambda: "\ud800".encode(), "model 'odd' raised UnicodeEncodeError"),
    "a message that is no text": (raising(RuntimeError("\ud800")), "RuntimeError: \\ud800"),
    "a ModelError that is no text": (raising(ModelError("\udfff!", retryable=True)), "\\udfff!"),
    "a dict": (lambda: {"id": 1}, "model 'odd' gave a dict, not a ModelResponse"),
    "nothing": (lambda: None, "model 'odd' gave a NoneType"),
    "a lone surrogate in text": (lambda: turn(text="\ud800"), "model 'odd' gave a turn that cannot be recorded"),
    "a lone surrogate in a call": (
        lambda: turn(("pin", {"\udc00": 1})),
        "model 'odd' gave a turn that cannot be recorded",
    ),
    "an object in a call": (lambda: turn(("pin", {"a": object()})), "model 'odd' gave a turn that cannot be recorded"),
    "a call nested beyond all bounds": (
        lambda: turn(("pin", nested(5_000))),
        "model 'odd' gave a turn that cannot be recorded",
    ),
    "one id twice": (lambda: turn_with_ids("a", "a"), "two calls of one id"),
}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"k": value}
    return value


def turn_with_ids(*ids: str) -> ModelResponse:
    calls = turn(*[("pin", {"key": name, "value": "x"}) for name in "kl"])
    blocks = [block.model_copy(update={"id": one}) for block, one in zip(calls.content, ids, strict=True)]
    return calls.model_copy(update={"content": blocks})


@pytest.mark.parametrize("habit", HABITS)
async def test_whatever_a_model_does_becomes_a_model_error_and_is_recorded(tmp_path: Path, habit: str) -> None:
    (tmp_path / "exchanges").mkdir()
    does, words = HABITS[habit]
    places = RateGovernor(1)
    line = Gateway(ModelTable(Odd(does)), RunFolder(tmp_path), places).line("d1", "analytics")
    with pytest.raises(ModelError) as caught:
        await line.create(ModelRequest.model_validate(REQUEST))
    line.close()
    assert words in str(caught.value)
    assert places.under_way == 0
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.is_intact
    assert str(exchange.error) == str(caught.value)


@pytest.mark.parametrize("habit", HABITS)
async def test_a_run_whose_lead_has_an_odd_model_ends_with_the_reason(workspace: Path, habit: str) -> None:
    does, words = HABITS[habit]
    run = Run("clean", workspace=workspace, launcher=warm(), model={"lead": Odd(does)})
    outcome = await run.start()
    assert outcome.status == "error"
    assert words in outcome.errors[0]
    assert run.desk is not None
    [lead] = await asyncio.to_thread(verify, open_run(run.desk.folder))
    assert (lead.prompts, lead.difference) == (1, None)


@pytest.mark.parametrize("habit", ["RuntimeError", "a message that is no text", "a lone surrogate in text"])
async def test_a_specialist_whose_model_is_odd_says_why_it_failed(workspace: Path, habit: str) -> None:
    does, words = HABITS[habit]
    lead = ScriptedModel(
        [
            turn(("dispatch", {"specialist": "cleaning", "objective": "drop duplicates"})),
            turn(("complete", {"status": "error", "summary": "it failed"})),
        ]
    )
    run = Run("clean", workspace=workspace, launcher=warm(), model={"lead": lead, "cleaning": Odd(does)})
    await run.start()
    assert run.desk is not None
    record = open_run(run.desk.folder)
    [outcome] = record.outcomes
    assert outcome.status == "error"
    assert words in outcome.errors[0]
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None, None]


async def test_a_turn_becomes_what_its_record_says_before_anyone_acts_on_it(tmp_path: Path) -> None:
    (tmp_path / "exchanges").mkdir()
    given = turn(("pin", {"pair": (1, 2), "huge": 10**30, "small": 1e-7}))
    line = Gateway(ModelTable(Odd(lambda: given)), RunFolder(tmp_path), RateGovernor(1)).line("d1", "analytics")
    answer = await line.create(ModelRequest.model_validate(REQUEST))
    line.close()
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.is_intact
    assert exchange.response == answer
    assert answer.tool_uses()[0].input == {"pair": [1, 2], "huge": 10**30, "small": 1e-7}


async def test_a_wait_for_a_free_call_that_is_too_long_is_recorded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exchanges").mkdir()
    monkeypatch.setattr(limits, "QUEUED_MODEL_SECONDS", 0.0)
    line = Gateway(ModelTable("offline"), RunFolder(tmp_path), RateGovernor(0)).line("d1", "analytics")
    with pytest.raises(ModelError, match="no model call became free") as caught:
        await line.create(ModelRequest.model_validate(REQUEST))
    line.close()
    assert caught.value.retryable
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.error is not None
