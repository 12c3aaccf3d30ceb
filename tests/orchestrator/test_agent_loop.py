"""The agent loop by itself: calls of one turn stand and fall together, and its reasons count what they say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from outcrop import ScriptedModel
from outcrop.models.scripted import turn
from outcrop_schemas.messages import ModelResponse, ToolSchema
from outcrop_specialists.agent import Agent
from outcrop_specialists.completion import LeadAnswer

IDLE, INVALID = turn(text="hm"), turn(("complete", {}))


class Tools:
    """`break` breaks once `wait` is under way; `wait` takes a while to end even when it is cancelled."""

    def __init__(self) -> None:
        self.is_waiting, self.is_ended = asyncio.Event(), False

    def schemas(self) -> list[ToolSchema]:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        if name == "break":
            await self.is_waiting.wait()
            raise ZeroDivisionError("broken")
        try:
            self.is_waiting.set()
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            self.is_ended = True
        return ""


def agent(turns: list[ModelResponse], tools: Tools | None = None, **options: Any) -> Agent:
    return Agent(ScriptedModel(turns), tools or Tools(), system="s", opening=["o"], answer=LeadAnswer, **options)


@pytest.mark.parametrize("calls", [("wait", "break"), ("break", "wait"), ("wait", "wait", "break")])
async def test_when_one_call_breaks_the_others_have_ended_before_the_error_goes_on(calls: tuple[str, ...]) -> None:
    tools = Tools()
    before = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError, match="broken"):
        await asyncio.wait_for(agent([turn(*[(name, {}) for name in calls])], tools).run(), 10)
    assert tools.is_ended
    assert asyncio.all_tasks() == before


async def test_cancelling_the_work_waits_for_its_calls() -> None:
    tools = Tools()
    task = asyncio.create_task(agent([turn(("wait", {}))], tools).run())
    await asyncio.wait_for(tools.is_waiting.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tools.is_ended


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([INVALID] * 3, "was called 3 times with an invalid answer; last: status"),
        ([INVALID, IDLE, INVALID], "was called 2 times with an invalid answer and 1 of the turns called nothing; last"),
        ([IDLE, IDLE, INVALID], "was called once with an invalid answer and 2 of the turns called nothing; last"),
    ],
)
async def test_the_reason_counts_invalid_completions_and_idle_turns_apart(
    turns: list[ModelResponse], words: str
) -> None:
    end = await agent(turns).run()
    assert end.stop == "invalid_completion"
    assert words in end.reason


@pytest.mark.parametrize("turns", [[IDLE] * 3, [turn(("wait", {}), ("wait", {}), ("wait", {}))]])
async def test_the_tail_is_not_put_into_the_words_of_the_model(turns: list[ModelResponse]) -> None:
    worker = agent(turns, tail=lambda: ["TAIL"])
    await worker.run()
    last = worker.request().messages[-1]
    assert last.role == "assistant"
    assert "TAIL" not in last.model_dump_json()
