"""Results that were cut before anybody saw them are recorded whole: a replay decides as the agent did then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Pool, ScriptedModel
from outcrop.exchanges import read_exchanges
from outcrop.logbook import tool_calls
from outcrop.models.scripted import turn
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.settings import Settings
from outcrop.steps import steps_of
from outcrop_schemas import limits, wire
from outcrop_schemas.messages import ModelRequest, ToolResultBlock
from outcrop_specialists.brief import EARLIER

DONE = {"status": "success", "summary": "done", "results": {}}
LEFT_OUT = "characters are left out here"


def looks(turns: int) -> list[Any]:
    return [turn(("read_file", {"path": "few.txt", "start": n}), turn_id=f"t{n}") for n in range(1, turns + 1)]


def many(count: int) -> Any:
    calls = [("read_file", {"path": f"long{n}.txt"}) for n in range(count)]
    return turn(*calls, turn_id="many")


async def work(workspace: Path, turns: list[Any], settings: Settings) -> tuple[RunRecord, str]:
    model = ScriptedModel([*turns, turn(("complete", DONE), turn_id="end")])
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm(), settings=settings) as pool:
        outcome = await pool.dispatch("plotting", "look", ["few.txt"])
        folder = pool.run_folder
    assert outcome.status == "success", outcome.errors
    return open_run(folder), outcome.dispatch_id


@pytest.mark.parametrize("before", [0, 3], ids=["alone", "with turns that are summed up"])
async def test_a_result_that_was_cut_as_it_arrived_is_replayed_byte_for_byte(workspace: Path, before: int) -> None:
    (workspace / "few.txt").write_text("".join(f"line {n} of few\n" for n in range(40)))
    for number in range(9):
        lines = (f"{number} {n} of a long text that fills what there is\n" for n in range(3_000))
        (workspace / f"long{number}.txt").write_text("".join(lines))
    record, agent = await work(workspace, looks(1), Settings())
    # The prompt itself takes half of the window.
    room = steps_of(record, agent)[0].total * 2 + limits.MODEL_OUTPUT_TOKENS
    settings = Settings(roles={"plotting": {"window_tokens": room, "tools": "all"}})
    record, agent = await work(workspace, [*looks(before), many(9)], settings)
    last = read_exchanges(record.folder.exchanges / f"{agent}.jsonl")[-1]
    request = ModelRequest.model_validate(wire.loads(last.request))
    results = [block for block in request.messages[-1].content if isinstance(block, ToolResultBlock)]
    assert any(LEFT_OUT in block.content for block in results)
    assert (EARLIER in last.request.decode()) == (before > 0)
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None]
    given = [call.content or "" for call in tool_calls(record, agent) if call.turn == before + 1]
    assert len(given) == 9
    assert not any(LEFT_OUT in content for content in given)
