"""A run with a lead: what it sees, what it records, and that the record rebuilds its prompts byte for byte."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.blocks import FILE_NAME
from outcrop.exchanges import read_exchanges
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest
from outcrop_schemas.outcome import RunOutcome

CSV = "sample,Au,Cu\na,0.123456789,10\nb,0.2,20\nb,0.2,20\nc,SECRETCELL,30\n"


def text_of(request: ModelRequest) -> str:
    return request.as_bytes().decode()


async def scripted_run(
    workspace: Path, lead: list[Any], cleaning: list[Any] | None = None, **options: Any
) -> tuple[RunOutcome, ScriptedModel]:
    (workspace / "assays.csv").write_text(CSV)
    model = ScriptedModel(lead)
    models = {"lead": model, "cleaning": ScriptedModel(cleaning or [], name="cleaner")}
    run = Run("clean the assays", ["assays.csv"], workspace=workspace, launcher=warm(), model=models, **options)
    return await run.start(), model


def dispatch(objective: str = "drop duplicates", **more: Any) -> tuple[str, dict[str, Any]]:
    return ("dispatch", {"specialist": "cleaning", "objective": objective, "data": ["assays.csv"], **more})


def done(**more: Any) -> tuple[str, dict[str, Any]]:
    return ("complete", {"status": "success", "summary": "cleaned", **more})


CLEANING = [
    turn(("remove_duplicates", {"path": "assays.csv"}), turn_id="c1"),
    turn(("complete", {"status": "success", "summary": "1 removed", "results": {"removed": 1}}), turn_id="c2"),
]
LEAD = [
    turn(("list_files", {"tables": ["assays.csv"]}), ("check_missing", {"path": "assays.csv"}), turn_id="l1"),
    turn(("pin", {"key": "limit", "value": "0.01 ppm — exactly"}), turn_id="l2"),
    turn(dispatch(), turn_id="l3"),
    turn(dispatch(data=["missing.csv"]), turn_id="l4"),
    turn(done(), turn_id="l5"),
]


@pytest.fixture
async def finished(workspace: Path) -> tuple[RunOutcome, ScriptedModel]:
    return await scripted_run(workspace, LEAD, CLEANING)


async def test_the_answer_carries_what_the_lead_said_and_what_was_verified(finished: Any, workspace: Path) -> None:
    outcome, _ = finished
    assert (outcome.status, outcome.summary) == ("success", "cleaned")
    assert [line.status for line in outcome.dispatches] == ["success"]
    [artifact] = outcome.artifacts
    assert (workspace / artifact.path).stat().st_size == artifact.bytes
    about = json.loads((Path(outcome.run_folder) / "run.json").read_text())
    assert about["data"][0]["path"] == "assays.csv"
    assert len(about["data"][0]["sha256"]) == 64


async def test_no_row_enters_the_context_of_the_lead(finished: Any) -> None:
    _, model = finished
    everything = "".join(map(text_of, model.requests))
    assert "Au" in everything
    assert "SECRETCELL" not in everything
    assert "0.123456789" not in everything


async def test_the_lead_has_its_own_tools_and_no_others(finished: Any) -> None:
    _, model = finished
    assert [tool.name for tool in model.requests[0].tools] == [
        "dispatch",
        "list_files",
        "check_missing",
        "pin",
        "hypothesis",
        "remember",
        "read_result",
        "read_skill",
        "checkpoint",
        "complete",
    ]


async def test_a_fault_in_a_dispatch_is_a_typed_error_for_the_lead(finished: Any) -> None:
    _, model = finished
    assert '"type":"path"' in model.requests[4].messages[-1].content[0].content
    assert "missing.csv" in model.requests[4].messages[-1].content[0].content


async def test_history_and_pins_stand_at_the_end_pins_also_at_the_start_and_nothing_between(finished: Any) -> None:
    _, model = finished
    *_, history, pins = (block.text for block in model.requests[-1].messages[-1].content if block.type == "text")
    assert pins == "Pinned facts:\nlimit = 0.01 ppm — exactly"
    assert "cleaning: success" in history
    first, *earlier = [
        block.text for message in model.requests[-1].messages[:-1] for block in message.content if block.type == "text"
    ]
    assert first == pins
    assert not any("Pinned facts" in text or "Dispatches so far" in text for text in earlier)


async def test_a_conversation_only_grows_so_that_its_prefix_can_be_cached(finished: Any) -> None:
    _, model = finished
    # The second turn pins a fact: once, what begins with the pins begins anew.
    for before, after in zip(model.requests[2:], model.requests[3:], strict=False):
        assert (before.system, before.tools) == (after.system, after.tools)
        stable = before.messages[:-1]
        assert after.messages[: len(stable)] == stable


async def test_every_prompt_is_rebuilt_byte_for_byte(finished: Any) -> None:
    outcome, _ = finished
    checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert [(one.agent[:5], one.prompts, one.difference) for one in checked] == [("lead", 5, None), ("d0001", 2, None)]


async def test_a_changed_record_is_found_and_shown(finished: Any) -> None:
    outcome, _ = finished
    path = Path(outcome.run_folder) / "exchanges" / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b"drop duplicates", b"drop everything"))
    checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert checked[0].difference is not None


async def test_exchanges_store_each_message_once(finished: Any) -> None:
    outcome, model = finished
    path = Path(outcome.run_folder) / "exchanges" / "lead.jsonl"
    exchanges = read_exchanges(path)
    assert [exchange.request for exchange in exchanges] == [request.as_bytes() for request in model.requests]
    assert path.read_text().count("clean the assays") == 0
    assert (path.parent / FILE_NAME).read_text().count("clean the assays") == 1


async def test_replay_starts_no_process_and_needs_no_path(finished: Any, workspace: Path) -> None:
    outcome, _ = finished
    program = (
        "import sys, os\n"
        "def refuse(event, args):\n"
        "    if event in ('subprocess.Popen', 'os.fork', 'os.exec', 'os.posix_spawn', 'socket.connect'):\n"
        "        raise SystemExit(f'replay tried {event}')\n"
        "sys.addaudithook(refuse)\n"
        "from outcrop.cli.main import main\n"
        "main(sys.argv[1:])\n"
    )
    base = [sys.executable, "-c", program, "replay", outcome.run_id, "--workspace", str(workspace)]
    environment = {key: value for key, value in os.environ.items() if key != "PATH"}
    replayed = subprocess.run([*base, "--json"], capture_output=True, env=environment, check=True)
    assert json.loads(replayed.stdout) == outcome.model_dump(mode="json")
    verified = subprocess.run([*base, "--verify"], capture_output=True, env=environment, check=True, text=True)
    assert verified.stdout.count("byte for byte") == 2


async def test_a_success_with_failed_dispatches_is_said_to_be_partial(workspace: Path) -> None:
    outcome, _ = await scripted_run(workspace, [turn(dispatch(), turn_id="a"), turn(done(), turn_id="b")])
    assert outcome.status == "partial"
    assert outcome.warnings == ["1 of 1 dispatches did not succeed"]


async def test_dispatches_of_one_turn_run_at_the_same_time_and_keep_their_order(workspace: Path) -> None:
    cleaning = [
        lambda request: turn(("query_data", {"path": "assays.csv", "operation": "describe"}), turn_id="q"),
        lambda request: turn(("query_data", {"path": "assays.csv", "operation": "describe"}), turn_id="q"),
        lambda request: turn(("complete", {"status": "success", "summary": "x"}), turn_id="z"),
        lambda request: turn(("complete", {"status": "success", "summary": "x"}), turn_id="z"),
    ]
    lead = [turn(dispatch("one"), dispatch("two"), turn_id="a"), turn(done(), turn_id="b")]
    outcome, model = await scripted_run(workspace, lead, cleaning, workers=2)
    assert [line.objective for line in outcome.dispatches].count("one") == 1
    answers = [json.loads(block.content)["dispatch_id"][:5] for block in model.requests[1].messages[-1].content[:2]]
    assert answers == ["d0001", "d0002"]


async def test_a_model_that_fails_ends_the_run_with_its_reason(workspace: Path) -> None:
    outcome, _ = await scripted_run(workspace, [])
    assert outcome.status == "error"
    assert "no turn 1" in outcome.errors[0]


async def test_the_limit_of_turns_ends_the_run(workspace: Path) -> None:
    calls = [turn(("pin", {"key": "k", "value": str(n)}), turn_id=str(n)) for n in range(limits.LEAD_TURNS)]
    outcome, _ = await scripted_run(workspace, calls)
    assert outcome.status == "error"
    assert "limit of 100 turns" in outcome.errors[0]


async def test_a_pin_beyond_its_limit_is_refused_with_a_reason(workspace: Path) -> None:
    lead = [turn(("pin", {"key": "k", "value": "v" * 2_000}), turn_id="a"), turn(done(), turn_id="b")]
    _, model = await scripted_run(workspace, lead)
    assert "1000 are allowed" in model.requests[1].messages[-1].content[0].content  # type: ignore[union-attr]


async def test_cancelling_a_run_ends_its_specialists_and_is_recorded(workspace: Path) -> None:
    waiting = asyncio.Event()

    class Slow:
        name = "slow"

        async def create(self, request: ModelRequest) -> Any:
            waiting.set()
            await asyncio.Event().wait()

    (workspace / "assays.csv").write_text(CSV)
    models = {"lead": ScriptedModel([turn(dispatch(), turn_id="a")]), "cleaning": Slow()}
    run = Run("clean", ["assays.csv"], workspace=workspace, launcher=warm(), model=models)
    task = asyncio.create_task(run.start())
    await asyncio.wait_for(waiting.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.desk is not None
    record = open_run(run.desk.folder)
    assert [outcome.status for outcome in record.outcomes] == ["cancelled"]
    assert record.answer is not None
    assert record.answer.status == "cancelled"
