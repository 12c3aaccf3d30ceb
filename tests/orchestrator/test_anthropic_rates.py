"""The rate governor: sixteen specialists and one key. Few calls are refused, nobody starves, nobody polls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from servers.messages_api import MODELS, MessagesApi
from servers.rate_limits import RequestLimit
from servers.turns import Body, answer, call
from warm import warm

from outcrop import Pool
from outcrop.gateway import Gateway, QueueClock
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel
from outcrop.pace import Pace
from outcrop.rates import RateGovernor
from outcrop.runs import RunFolder
from outcrop_schemas.messages import Message, ModelRequest, TextBlock

REQUEST = ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text="hello")])])
Serving = Callable[..., MessagesApi]
AGENTS = 16


async def test_sixteen_specialists_share_five_requests_in_three_seconds(serving: Serving, workspace: Path) -> None:
    """The promise, with real processes: all succeed, two refusals at most, none ends for having queued."""

    def script(body: Body) -> dict[str, object]:
        if len(body["messages"]) == 1:
            return answer(call("list_files"))
        return answer(call("complete", status="success", summary="looked", results={}))

    api = serving(limit=RequestLimit(5, 3.0))
    api.script = script
    async with Pool(
        workers=AGENTS, model={"default": AnthropicModel(MODELS[0])}, workspace=workspace, launcher=warm()
    ) as pool:
        # Each has less time than it must queue.
        work = [pool.dispatch("analytics", f"look, number {number}", timeout=15) for number in range(AGENTS)]
        outcomes = await asyncio.gather(*work)
    assert [outcome.status for outcome in outcomes] == ["success"] * AGENTS, [o.errors for o in outcomes]
    assert api.statuses.count(200) == 2 * AGENTS
    assert api.statuses.count(429) <= 2
    assert api.refusals == []


@pytest.mark.parametrize("style", ["window", "sliding", "bucket"])
@pytest.mark.parametrize("tells", [True, False], ids=["with headers", "without headers"])
async def test_every_way_of_counting_is_learnt(serving: Serving, tmp_path: Path, style: str, tells: bool) -> None:
    if style == "bucket" and not tells:
        pytest.skip("what refills all along and says nothing can only be found out by being refused")
    api = serving(limit=RequestLimit(5, 1.0, style, tells=tells))  # type: ignore[arg-type]
    (tmp_path / "exchanges").mkdir()
    gateway = Gateway(ModelTable(AnthropicModel(MODELS[0])), RunFolder(tmp_path), RateGovernor(8))
    lines = [gateway.line(f"d{number}", "analytics") for number in range(AGENTS)]
    async with asyncio.timeout(120):
        await asyncio.gather(*(line.create(REQUEST) for line in lines))
    for line in lines:
        line.close()
    assert api.statuses.count(200) == AGENTS
    assert api.statuses.count(429) <= 2
    assert api.at_a_time <= 8


async def test_waiting_for_a_turn_is_queueing_and_the_call_itself_is_not(serving: Serving, tmp_path: Path) -> None:
    serving(limit=RequestLimit(1, 1.0), seconds=0.2)
    (tmp_path / "exchanges").mkdir()
    gateway = Gateway(ModelTable(AnthropicModel(MODELS[0])), RunFolder(tmp_path), RateGovernor(8))
    first, second = QueueClock(), QueueClock()
    lines = [gateway.line(f"d{number}", "analytics", clock) for number, clock in enumerate((first, second))]
    await asyncio.gather(*(line.create(REQUEST) for line in lines))
    for line in lines:
        line.close()
    assert not first.is_waiting
    assert not second.is_waiting
    assert second.seconds() >= 0.7


async def in_order(governor: RateGovernor, roles: list[str], model: str | None = None) -> list[str]:
    """Have one call of each role wait while the only place is taken, and tell in which order they went."""
    order: list[str] = []

    async def one(role: str) -> None:
        async with governor.turn(role, model):
            order.append(role)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(governor.turn("first", model))
        waiting = []
        for role in roles:
            waiting.append(asyncio.create_task(one(role)))
            await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await asyncio.gather(*waiting)
    assert governor.under_way == 0
    return order


async def test_roles_take_turns_and_the_lead_goes_first() -> None:
    roles = ["analytics"] * 4 + ["plotting", "cleaning", "lead"]
    assert await in_order(RateGovernor(1), roles) == [
        "lead", "analytics", "plotting", "cleaning", "analytics", "analytics", "analytics",
    ]  # fmt: skip


async def test_many_leads_do_not_starve_a_specialist() -> None:
    order = await in_order(RateGovernor(1), ["lead"] * 12 + ["cleaning"] * 2)
    assert order.index("cleaning") == 4
    assert order[5:9] == ["lead"] * 4


async def test_whoever_stops_waiting_leaves_no_trace() -> None:
    governor = RateGovernor(1)
    async with governor.turn("a", None):
        waiting = [asyncio.create_task(in_order(governor, [])) for _ in range(3)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
    assert governor.under_way == 0
    assert await in_order(governor, ["b"]) == ["b"]


async def test_a_large_prompt_is_not_overtaken_for_ever() -> None:
    """Tokens are short: small calls pass the large one a few times, then they wait until it was served."""
    loop, governor, order = asyncio.get_running_loop(), RateGovernor(4), []

    async def one(name: str, tokens: int) -> None:
        async with governor.turn(name, "m", tokens) as turn:
            order.append(name)
            turn.heard(headers(400, 0.05))

    def headers(left: int, seconds: float) -> dict[str, str]:
        from datetime import UTC, datetime, timedelta

        reset = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
        name = "anthropic-ratelimit-input-tokens"
        return {f"{name}-limit": "1000", f"{name}-remaining": str(left), f"{name}-reset": reset}

    await one("first", 1)
    big = asyncio.create_task(one("big", 900))
    until = loop.time() + 20
    while not big.done() and loop.time() < until:
        await one("small", 10)
        await asyncio.sleep(0)
    await asyncio.wait_for(big, 30)
    assert order[: order.index("big")].count("small") <= 9


def test_after_a_refusal_one_call_goes_alone() -> None:
    pace = Pace()
    first = pace.sent(0.0, 1)
    pace.heard(first, {}, 0.1)
    second, third = pace.sent(0.1, 1), pace.sent(0.1, 1)
    pace.refused(third, 5.0, {}, 0.2)
    assert pace.opens_at(0.2, 1) >= 5.2
    pace.heard(second, {}, 0.3)
    assert pace.opens_at(0.3, 1) >= 5.2, "an older call that was taken does not end the pause"
    at = pace.opens_at(0.3, 1)
    probe = pace.sent(at, 1)
    assert pace.opens_at(at + 100, 1) == float("inf")
    pace.heard(probe, {}, at + 100)
    assert pace.opens_at(at + 200, 1) <= at + 200


def test_a_retry_after_of_days_stops_nobody_for_days() -> None:
    pace = Pace()
    pace.refused(pace.sent(0.0, 1), 1e9, {}, 0.0)
    assert pace.opens_at(0.0, 1) < 200


@pytest.mark.parametrize("value", ["", "soon", "-", "1e999x"])
def test_headers_that_say_nothing_are_passed_over(value: str) -> None:
    pace = Pace()
    names = ("limit", "remaining", "reset")
    pace.heard(pace.sent(0.0, 1), {f"anthropic-ratelimit-requests-{name}": value for name in names}, 0.0)
    assert pace.opens_at(0.0, 1) <= 0.0
