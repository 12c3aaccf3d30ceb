"""`outcrop batch --api-batch`: turns of many jobs together, half the price, and nothing sent twice after a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MessagesApi
from servers.turns import answer, call
from warm import warm

from outcrop.batch import Batch
from outcrop.ledger import spent_in
from outcrop.models.api_batch import known_by
from outcrop.prices import public_prices
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, Usage

MODEL = "claude-sonnet-5-5"
FAST = {"api_batch_seconds": 0.1, "api_batch_poll_seconds": 0.02, "model": MODEL}
DONE = {"status": "success", "summary": "done"}


def complete(body: Any) -> Any:
    return answer(call("complete", **DONE), output_tokens=50)


def pin_first(body: Any) -> Any:
    """Two turns a job: a pin, then the answer."""
    if len(body["messages"]) == 1:
        return answer(call("pin", key="k", value="v"), output_tokens=40)
    return complete(body)


def dispatch_first(body: Any) -> Any:
    """A lead that hands out one piece of work, of each job another; a specialist that completes at once."""
    is_lead = any(tool["name"] == "dispatch" for tool in body["tools"])
    if is_lead and len(body["messages"]) == 1:
        [objective] = set(re.findall(r"summarise Au, part \d", json.dumps(body["messages"])))
        return answer(call("dispatch", specialist="analytics", objective=objective, data=["t.csv"]))
    return complete(body)


def write_jobs(workspace: Path, count: int) -> Path:
    (workspace / "t.csv").write_text("sample,Au\na,0.1\nb,0.2\n")
    lines = [json.dumps({"id": f"job-{n}", "objective": f"summarise Au, part {n}"}) for n in range(count)]
    path = workspace / "jobs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Any:
    with MessagesApi(pin_first) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


def billed(api: MessagesApi) -> Decimal:
    """What the server takes for all that it was sent: half of the price."""
    price = public_prices().of(MODEL)
    assert price is not None
    bills = [one["result"]["message"]["usage"] for posted in api.batches.posted for one in posted.results]
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum((price.cost(Usage(**{name: bill[name] for name in names})) for bill in bills), Decimal(0)) / 2


def charged(run_folder: str) -> Decimal:
    return spent_in(read(RunFolder(Path(run_folder)).journal)[0]).usd


async def test_turns_of_many_jobs_go_together_at_half_the_price(api: MessagesApi, workspace: Path) -> None:
    jobs = write_jobs(workspace, 12)
    result = await Batch(jobs, workspace=workspace, launcher=warm(), settings=Settings(**FAST), api_batch=True).start()
    assert [outcome.status for outcome in result.outcomes.values()] == ["success"] * 12
    assert len(api.batches.requests) == 24
    assert len(api.batches.posted) < 12
    assert api.refusals == []
    assert api.seen == []
    assert sum(charged(outcome.run_folder) for outcome in result.outcomes.values()) == billed(api)
    assert result.spending is not None
    assert Decimal(result.spending["spent_usd"]) == billed(api)


async def test_each_answer_comes_to_the_job_that_asked(api: MessagesApi, workspace: Path) -> None:
    def echo(body: Any) -> Any:
        return answer(call("complete", status="success", summary=body["messages"][0]["content"][0]["text"]))

    api.script = echo
    result = await Batch(
        write_jobs(workspace, 8), workspace=workspace, launcher=warm(), settings=Settings(**FAST), api_batch=True
    ).start()
    assert all(f"part {number - 1}" in outcome.summary for number, outcome in result.outcomes.items())


async def test_a_turn_that_expired_is_sent_again_and_one_that_is_wrong_is_not(
    api: MessagesApi, workspace: Path
) -> None:
    api.script, api.batches.expire = complete, {0, 1}
    result = await Batch(
        write_jobs(workspace, 3), workspace=workspace, launcher=warm(), settings=Settings(**FAST), api_batch=True
    ).start()
    assert [outcome.status for outcome in result.outcomes.values()] == ["success"] * 3
    assert len(api.batches.requests) == 5


async def test_a_batch_is_asked_after_until_it_has_ended_and_read_once(api: MessagesApi, workspace: Path) -> None:
    api.script, api.batches.looks_until_ended = complete, 5
    await Batch(
        write_jobs(workspace, 1), workspace=workspace, launcher=warm(), settings=Settings(**FAST), api_batch=True
    ).start()
    # Five looks too early, one that finds it ended, and the SDK's own before it reads the results.
    assert [posted.looks for posted in api.batches.posted] == [7]


async def test_specialists_wait_for_their_turns_too_and_it_is_queue_time(api: MessagesApi, workspace: Path) -> None:
    api.script = dispatch_first
    result = await Batch(
        write_jobs(workspace, 3), workspace=workspace, launcher=warm(), settings=Settings(**FAST), api_batch=True
    ).start()
    assert [outcome.status for outcome in result.outcomes.values()] == ["success"] * 3
    assert {line.status for outcome in result.outcomes.values() for line in outcome.dispatches} == {"success"}
    assert len(api.batches.requests) == 9


async def test_it_needs_a_model_that_is_asked_over_the_api(workspace: Path) -> None:
    with pytest.raises(UsageError, match="choose a model"):
        await Batch(write_jobs(workspace, 1), workspace=workspace, launcher=warm(), api_batch=True).start()


def start(workspace: Path, *more: str) -> subprocess.Popen[bytes]:
    sets = [f"--set={name}={value}" for name, value in FAST.items()]
    line = [
        sys.executable,
        "-m",
        "outcrop.cli.main",
        "batch",
        "jobs.jsonl",
        "--workspace",
        ".",
        "--api-batch",
        "--json",
    ]
    environment = {**os.environ}
    return subprocess.Popen([*line, *sets, *more], cwd=workspace, env=environment, stdout=subprocess.PIPE)


def wait_for(condition: Any, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("script", [pin_first, dispatch_first])
def test_after_a_kill_the_results_are_fetched_and_nothing_is_sent_again(
    api: MessagesApi, workspace: Path, script: Any
) -> None:
    api.script = script
    write_jobs(workspace, 3)
    # Turns are under way when it is killed; what came before was answered.
    last = 6 if script is pin_first else 9
    api.batches.held_from = last - 3
    first = start(workspace)
    wait_for(lambda: len(api.batches.requests) > last - 3)
    first.send_signal(signal.SIGKILL)
    first.wait()
    api.batches.held_from = None
    told = json.loads(start(workspace, "--resume").communicate(timeout=120)[0])
    assert told["statuses"] == {"success": 3}
    assert len(api.batches.requests) == last
    # Never less than was billed: what was reserved and never settled counts as spent.
    assert Decimal(told["spending"]["spent_usd"]) >= billed(api)
    # What was fetched costs nothing again.
    again = [Decimal(outcome["usage"]["spending"]["spent_usd"]) for outcome in told["outcomes"]]
    assert sum(again) < billed(api)


def test_a_batch_whose_id_was_never_recorded_is_found_by_what_is_in_it(api: MessagesApi, workspace: Path) -> None:
    api.script, api.batches.held_from = complete, 0
    write_jobs(workspace, 1)
    first = start(workspace)
    wait_for(lambda: len(api.batches.requests) == 1 and api.batches.posted[0].looks > 0)
    first.send_signal(signal.SIGKILL)
    first.wait()
    api.batches.held_from = None
    [folder] = [
        path.parent
        for path in (workspace / ".outcrop/runs").glob("*/journal.jsonl")
        if b"api_batch" in path.read_bytes()
    ]
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if b"api_batch_sent" in line)
    (folder / "journal.jsonl").write_bytes(b"".join(lines[:place]))
    told = json.loads(start(workspace, "--resume").communicate(timeout=120)[0])
    assert told["statuses"] == {"success": 1}
    assert len(api.batches.requests) == 1


def test_a_request_is_known_again_though_ids_and_durations_are_others() -> None:
    def request(words: str) -> ModelRequest:
        block = {"type": "text", "text": words}
        return ModelRequest.model_validate({"system": "s", "messages": [{"role": "user", "content": [block]}]})

    one, first = known_by("m", request("d0001-0123456789abcdef success (1.2 s), d0002-0123456789abcdef"))
    same, second = known_by("m", request("d0001-fedcba9876543210 success (33.4 s), d0002-fedcba9876543210"))
    assert one == same
    assert len(first) == len(second) == 3
    assert known_by("m", request("another"))[0] != one
    assert known_by("n", request("another"))[0] != known_by("m", request("another"))[0]
