"""What the gateway does about a server that fails: tried again where that helps, paced, told where it does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MODELS, Fault, MessagesApi
from servers.turns import answer, text

from outcrop.exchanges import read_exchanges
from outcrop.gateway import Gateway, Line
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel
from outcrop.models.anthropic.faults import retry_after
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy
from outcrop.runs import RunFolder
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import Message, ModelRequest, TextBlock, Usage

REQUEST = ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text="hello")])])
QUICK = RetryPolicy(attempts=4, first_seconds=0.01, longest_seconds=0.05)
Serving = Callable[..., MessagesApi]


class Counting:
    """A ledger that writes down what it is told."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self.reserved: list[int | None] = []
        self.took: list[Usage | None] = []

    def spent_by(self, agent_id: str) -> None:
        return None

    async def reserve(self, agent_id: str, role: str, model: str, request: ModelRequest) -> Counting:
        self.reserved.append(request.max_tokens)
        return self

    def on_attempt(self, usage: Usage | None) -> None:
        self.took.append(usage)


def line_to(tmp_path: Path, ledger: Counting, policy: RetryPolicy = QUICK, model: Any = None) -> Line:
    (tmp_path / "exchanges").mkdir()
    models = ModelTable(model or AnthropicModel(MODELS[0], max_tokens=300))
    return Gateway(models, RunFolder(tmp_path), RateGovernor(8), ledger=ledger, retry=policy).line("d1", "analytics")


PASSING = {
    "429": (Fault("status", 429, headers={"retry-after": "0"}), Usage()),
    "529": (Fault("status", 529), Usage()),
    "500": (Fault("status", 500), None),
    "503": (Fault("status", 503), Usage()),
    "504": (Fault("status", 504), None),
    "a connection that breaks": (Fault("refuse_connection"), None),
    "a dropped stream": (Fault("drop"), 300),
    "a truncated stream": (Fault("truncate"), 300),
    "a malformed event": (Fault("malformed"), 300),
    "an error event": (Fault("error_event"), 300),
    "a stream of nothing": (Fault("no_events"), None),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_passing_fault_is_tried_again_and_what_it_took_is_counted(
    serving: Serving, tmp_path: Path, name: str
) -> None:
    fault, took = PASSING[name]
    api = serving(answer(text("done at last, after all this " * 9)), faults=[fault, fault])
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    response = await line.create(REQUEST)
    line.close()
    assert response.content == [TextBlock(text="done at last, after all this " * 9)]
    assert len(api.seen) == 3
    assert ledger.reserved == [300] * 3
    if isinstance(took, int):
        assert [usage.output_tokens for usage in ledger.took[:2] if usage] == [took] * 2
    else:
        assert ledger.took[:2] == [took] * 2
    assert ledger.took[2] == response.usage
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.is_intact
    assert exchange.response == response


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
async def test_a_request_that_is_wrong_is_never_tried_again_and_its_reason_is_told(
    serving: Serving, tmp_path: Path, status: int
) -> None:
    api = serving(faults=[Fault("status", status, "this is the reason")])
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    with pytest.raises(ModelError, match=rf"this is the reason \(HTTP {status}, request req_\d+\)"):
        await line.create(REQUEST)
    line.close()
    assert api.statuses == [status]
    assert ledger.took == [Usage()]


async def test_a_server_may_say_that_again_does_not_help(serving: Serving, tmp_path: Path) -> None:
    api = serving(faults=[Fault("status", 529, headers={"x-should-retry": "false"})])
    line = line_to(tmp_path, Counting())
    with pytest.raises(ModelError, match="overloaded_error"):
        await line.create(REQUEST)
    line.close()
    assert api.statuses == [529]


async def test_a_stream_that_falls_silent_is_asked_again(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MODEL_SILENCE_SECONDS", 0.3)
    api = serving(answer(text("at last")), faults=[Fault("stall", after_events=2)])
    line = line_to(tmp_path, Counting())
    async with asyncio.timeout(60):
        response = await line.create(REQUEST)
    line.close()
    assert response.content == [TextBlock(text="at last")]
    assert len(api.seen) == 2


async def test_a_turn_that_takes_too_long_is_asked_again(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MODEL_SECONDS", 0.3)
    serving(faults=[Fault("stall", after_events=2)] * 9)
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    async with asyncio.timeout(60):
        with pytest.raises(ModelError, match="the turn was not over after 0 s"):
            await line.create(REQUEST)
    line.close()
    assert [usage.output_tokens for usage in ledger.took if usage] == [300] * QUICK.attempts


async def test_attempts_end_and_the_last_reason_is_told(serving: Serving, tmp_path: Path) -> None:
    api = serving(faults=[Fault("status", 529, "Overloaded")] * 9)
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    with pytest.raises(ModelError, match="overloaded_error: Overloaded") as caught:
        await line.create(REQUEST)
    line.close()
    assert caught.value.retryable
    assert len(api.seen) == QUICK.attempts
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.error is not None


async def test_a_server_that_is_not_there_took_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-nobody-at-all")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{unused_tcp_port}")
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    with pytest.raises(ModelError, match="no connection to the Messages API") as caught:
        await line.create(REQUEST)
    line.close()
    assert caught.value.retryable
    assert ledger.took == [Usage()] * QUICK.attempts


async def test_retry_after_is_waited_for_up_to_a_maximum(serving: Serving, tmp_path: Path) -> None:
    serving(faults=[Fault("status", 529, headers={"retry-after": "0.6"})])
    line = line_to(tmp_path, Counting())
    started = time.monotonic()
    await line.create(REQUEST)
    assert time.monotonic() - started >= 0.6
    line.close()


@pytest.mark.parametrize("asked", ["0", "-3", "nan", "inf", "Mon, 30 Nov 2020 14:18:35 GMT", "soon"])
@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_server_that_asks_for_no_wait_does_not_use_up_all_attempts_at_once(
    serving: Serving, tmp_path: Path, asked: str, status: int
) -> None:
    api = serving(faults=[Fault("status", status, headers={"retry-after": asked})] * 3)
    policy = RetryPolicy(attempts=4, first_seconds=0.2, longest_seconds=0.4)
    line, started = line_to(tmp_path, Counting(), policy), time.monotonic()
    async with asyncio.timeout(30):
        await line.create(REQUEST)
    assert time.monotonic() - started >= 3 * 0.1
    assert api.statuses == [status] * 3 + [200]
    line.close()


async def test_a_retry_after_of_hours_does_not_hold_a_run_for_hours(serving: Serving, tmp_path: Path) -> None:
    serving(faults=[Fault("status", 529, headers={"retry-after": "36000"})])
    policy = RetryPolicy(attempts=2, first_seconds=0.01, longest_seconds=0.01, longest_retry_after_seconds=0.05)
    line = line_to(tmp_path, Counting(), policy)
    async with asyncio.timeout(60):
        await line.create(REQUEST)
    line.close()


async def test_a_call_that_is_cancelled_counts_as_the_worst_case(serving: Serving, tmp_path: Path) -> None:
    api = serving(faults=[Fault("stall", after_events=2)])
    ledger = Counting()
    line = line_to(tmp_path, ledger)
    asked = asyncio.create_task(line.create(REQUEST))
    async with asyncio.timeout(60):
        while not api.seen:
            await asyncio.sleep(0.01)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    line.close()
    assert ledger.took == [None]


def test_retry_after_may_be_seconds_milliseconds_or_a_date() -> None:
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "-3"}) == 0
    assert retry_after({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0
    assert (retry_after({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}) or 0) > 1e8
    assert retry_after({"retry-after": "soon"}) is None
    # Not finite is no time; nor is a date of a year that there is none of.
    for none in ("nan", "inf", "-inf", "1e309", "Mon, 30 Nov 99999 14:18:35 GMT", ""):
        assert retry_after({"retry-after": none}) is None
        assert retry_after({"retry-after-ms": none, "retry-after": "9"}) == 9
    assert retry_after({}) is None
