"""What was sent is recorded, also where no turn of an agent came of the answer; replay passes over that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MODELS, Fault, MessagesApi
from servers.turns import answer, call, in_turn, text, thinking
from warm import warm

from outcrop import Run
from outcrop.exchanges import Exchange, read_exchanges
from outcrop.gateway import Gateway
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel
from outcrop.rates import RateGovernor
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.retry import RetryPolicy
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.steps import steps_of
from outcrop_schemas import wire
from outcrop_schemas.messages import Message, ModelRequest, TextBlock

REQUEST = ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text="hello")])])
FALLBACK = ["model=claude-haiku-5-5", "roles.default.fallback=claude-opus-5-5"]
REFUSED = answer(
    thinking("hm"), text("I will not."), stop="refusal", output_tokens=500,
    stop_details={"type": "refusal", "category": "bio", "explanation": "no"},
)  # fmt: skip
DONE = answer(call("complete", status="success", summary="done"))
Serving = Callable[..., MessagesApi]


async def seen_by(api: MessagesApi, count: int) -> None:
    async with asyncio.timeout(60):
        while len(api.seen) < count:
            await asyncio.sleep(0.01)


def exchanges_of(folder: str | Path, agent: str = "lead") -> list[Exchange]:
    [path] = [path for path in (Path(folder) / "exchanges").glob("*.jsonl") if path.stem.startswith(agent)]
    return read_exchanges(path)


def verified(folder: str | Path) -> list[str | None]:
    return [one.difference for one in verify(open_run(RunFolder(Path(folder))))]


def damage(path: Path, number: int) -> None:
    """Another answer in one line, under the old hash."""
    lines = path.read_bytes().splitlines()
    line = wire.loads(lines[number])
    line["response"]["stop_reason"] = "end_turn"
    lines[number] = wire.dumps(line)
    path.write_bytes(b"\n".join(lines) + b"\n")


async def test_a_refusal_after_which_another_model_is_asked_is_recorded_with_all_that_it_said(
    serving: Serving, workspace: Path
) -> None:
    api = serving(REFUSED, answer(call("pin", key="k", value="v")), DONE, faults=[Fault("status", 529)])
    outcome = await Run(
        "count", workspace=workspace, launcher=warm(), settings=Settings.load(workspace, {}, FALLBACK)
    ).start()
    assert outcome.status == "success"
    refused, first, second = exchanges_of(outcome.run_folder)
    assert (refused.about["unused"], refused.about["model"]) == ("refused", "claude-haiku-5-5")
    assert refused.response is not None
    assert refused.response.usage.output_tokens == 500
    assert refused.response.model_dump()["stop_details"]["explanation"] == "no"
    assert refused.about["request_id"] == "req_000003"
    assert [one["type"] for one in refused.about["failed_attempts"]] == ["overloaded_error"]
    assert "failed_attempts" not in first.about
    assert [one.about.get("unused") for one in (first, second)] == [None, None]
    assert refused.request == first.request
    # What each was asked with, as it went out.
    bodies = [seen.body for seen in api.seen if seen.status == 200]
    for exchange, body in zip((refused, first, second), bodies, strict=True):
        sent = {name: body[name] for name in ("max_tokens", "thinking", "output_config") if name in body}
        assert exchange.about["parameters"] == sent
    assert await asyncio.to_thread(verified, outcome.run_folder) == [None]
    run = open_run(RunFolder(Path(outcome.run_folder)))
    assert [step.purpose for step in steps_of(run, "lead")] == ["refused", "turn", "turn"]
    damage(Path(outcome.run_folder) / "exchanges" / "lead.jsonl", 0)
    [said] = await asyncio.to_thread(verified, outcome.run_folder)
    assert said is not None
    assert "exchange 1, which was not used: the record is damaged" in said


async def test_a_specialist_that_was_refused_is_replayed_without_the_refusal(serving: Serving, workspace: Path) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n2,4\n")
    api = serving()
    specialist = in_turn(answer(call("query_data", path="t.csv", operation="describe")), REFUSED, DONE)
    lead = in_turn(answer(call("dispatch", specialist="analytics", objective="count", data=["t.csv"])), DONE)
    api.script = lambda body: (lead if any(tool["name"] == "dispatch" for tool in body["tools"]) else specialist)(body)
    outcome = await Run(
        "count", ["t.csv"], workspace=workspace, settings=Settings.load(workspace, {}, FALLBACK)
    ).start()
    assert outcome.status == "success"
    assert [one.about.get("unused") for one in exchanges_of(outcome.run_folder, "d")] == [None, "refused", None]
    assert await asyncio.to_thread(verified, outcome.run_folder) == [None, None]


def line_to(folder: Path, **limits: Any) -> Any:
    (folder / "exchanges").mkdir()
    policy = RetryPolicy(**{"attempts": 3, "first_seconds": 0.01, "longest_seconds": 0.02, **limits})
    models = ModelTable(AnthropicModel(MODELS[0], max_tokens=300_000, effort="low"))
    return Gateway(models, RunFolder(folder), RateGovernor(8), retry=policy).line("d1", "analytics")


async def cancelled(line: Any, api: MessagesApi, seconds: float) -> None:
    asked = asyncio.create_task(line.create(REQUEST))
    await seen_by(api, 1)
    await asyncio.sleep(seconds)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_call_that_is_cancelled_in_its_stream_is_recorded(serving: Serving, tmp_path: Path) -> None:
    api, line = serving(faults=[Fault("stall", after_events=2)]), line_to(tmp_path)
    await cancelled(line, api, 0.3)
    await line.create(REQUEST)
    line.close()
    first, second = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert (first.is_intact, first.is_used, first.about["unused"]) == (True, False, "cancelled")
    assert "the call was cancelled" in str(first.error)
    assert first.about["request_id"] == "req_000002"
    assert first.about["seconds"] > 0.2
    assert (second.is_used, second.about["request_id"]) == (True, "req_000003")
    # Less than was set: the model has no more.
    sent = {"max_tokens": 64_000, "thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
    assert [one.about["parameters"] for one in (first, second)] == [sent, sent]


async def test_a_call_that_is_cancelled_between_attempts_is_recorded_with_those(
    serving: Serving, tmp_path: Path
) -> None:
    api = serving(faults=[Fault("status", 500, "boom")])
    line = line_to(tmp_path, first_seconds=60.0, longest_seconds=60.0)
    await cancelled(line, api, 0.3)
    line.close()
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert exchange.about["unused"] == "cancelled"
    assert [one["status"] for one in exchange.about["failed_attempts"]] == [500]


async def test_a_call_that_was_never_sent_leaves_no_record(serving: Serving, tmp_path: Path) -> None:
    api = serving()
    (tmp_path / "exchanges").mkdir()
    models = ModelTable(AnthropicModel(MODELS[0], max_tokens=300))
    line = Gateway(models, RunFolder(tmp_path), RateGovernor(0)).line("d1", "analytics")
    asked = asyncio.create_task(line.create(REQUEST))
    await asyncio.sleep(0.3)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    line.close()
    assert (api.seen, read_exchanges(tmp_path / "exchanges" / "d1.jsonl")) == ([], [])


@pytest.mark.parametrize("whose", ["lead", "specialist"])
async def test_a_run_that_is_cancelled_in_a_stream_is_replayed_as_far_as_it_came(
    serving: Serving, workspace: Path, whose: str
) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n2,4\n")
    order = call("dispatch", specialist="analytics", objective="count", data=["t.csv"])
    first = answer(call("pin", key="k", value="v")) if whose == "lead" else answer(order)
    api = serving(first, answer(text("and so on " * 99)), faults=[None, Fault("stall", after_events=2)])
    run = Run("count", ["t.csv"], workspace=workspace, launcher=warm(), settings=Settings(model="claude-haiku-5-5"))
    task = asyncio.create_task(run.start())
    await seen_by(api, 2)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.desk is not None
    folder = run.desk.folder.path
    last = exchanges_of(folder, "lead" if whose == "lead" else "d")[-1]
    assert (last.about["unused"], last.about["request_id"]) == ("cancelled", "req_000003")
    assert await asyncio.to_thread(verified, folder) == ([None] if whose == "lead" else [None, None])


async def test_a_failed_attempt_is_recorded_with_what_it_took(serving: Serving, tmp_path: Path) -> None:
    serving(answer(text("at last, after all this " * 9)), faults=[Fault("drop"), Fault("status", 529)])
    line = line_to(tmp_path)
    await line.create(REQUEST)
    line.close()
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    broken, refused = exchange.about["failed_attempts"]
    assert broken["usage"]["output_tokens"] == 64_000
    assert refused["usage"] == {}
    assert json.dumps(exchange.about["parameters"])
