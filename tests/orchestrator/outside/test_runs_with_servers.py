"""Specialists with outside tools: offered, called, recorded, replayed, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.again import run_again
from outcrop.logbook import lines
from outcrop.models.scripted import turn
from outcrop.plans.extraction import extract
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas import wire
from outcrop_schemas.errors import MissingExtraError, UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse

from .conftest import BAD, LAB, is_running

Write = Callable[..., None]
DONE = turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id="end")
GRADE = ("lab__convert_grade", {"grams": 2.0, "unit": "ppb"})


def run_of(workspace: Path) -> RunRecord:
    return open_run(RunFolder(sorted((workspace / ".outcrop" / "runs").iterdir())[-1]))


async def differences(run: RunRecord) -> list[str | None]:
    """What differs where its prompts are rebuilt, agent by agent."""
    return [check.difference for check in await asyncio.to_thread(verify, run)]


def results_in(request: ModelRequest) -> list[str]:
    return [str(block.content) for block in request.messages[-1].content if block.type == "tool_result"]


@pytest.fixture(autouse=True)
def assays(workspace: Path) -> None:
    (workspace / "assays.csv").write_text("sample,Au\na,1.5\nb,2.5\nc,3.5\n")


async def worked(workspace: Path, *turns: Any, objective: str = "look at the gold", **options: Any) -> Any:
    """One dispatch of analytics with these turns: its outcome, and the model that was asked."""
    model = ScriptedModel([*turns, DONE])
    async with Pool(model=model, workspace=workspace, launcher=warm()) as pool:
        return await pool.dispatch("analytics", objective, ["assays.csv"], **options), model


async def test_a_specialist_calls_a_tool_of_an_outside_server_and_the_record_has_it(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB, more='tools = ["convert_grade", "list_samples", "typo"]')
    outcome, model = await worked(
        workspace,
        turn(GRADE, ("lab__list_samples", {"count": 100}), turn_id="a"),
        turn(("lab__convert_grade", {"grams": 2.0}), ("lab__counted", {}), turn_id="b"),
        turn(("summarize", {"path": "assays.csv", "columns": ["Au"]}), turn_id="c"),
    )
    assert outcome.status == "success", outcome.errors
    assert outcome.warnings == ["outside server lab: it has no tool 'typo'"]
    assert [tool.name for tool in model.requests[0].tools if "__" in tool.name] == [GRADE[0], "lab__list_samples"]
    grade, samples = results_in(model.requests[1])
    assert '"data":{"result":2000.0}' in grade
    assert "S19" in samples
    assert "S20" not in samples
    unfit, unknown = results_in(model.requests[2])
    assert "'unit' is a required property" in unfit
    assert '"type":"unknown_name"' in unknown
    run = run_of(workspace)
    assert await differences(run) == [None]
    told = [line.what for line in lines(run, dispatch=outcome.dispatch_id)]
    assert "calls lab__convert_grade" in told
    [event] = run.events("outside")
    assert (event["server"], event["version"], event["tools"], event["network"]) == ("lab", "assay lab 3.1", 2, False)
    [left_out, *_] = extract(run).plan.left_out
    assert "of an outside server, which a plan cannot call" in left_out


async def test_a_run_whose_only_calls_were_outside_has_no_plan_and_says_why(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB)
    await worked(workspace, turn(GRADE))
    with pytest.raises(UsageError, match="lab__convert_grade: of an outside server"):
        extract(run_of(workspace))


async def test_where_tools_are_selected_outside_ones_are_selected_like_our_own(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB, more='[roles.default]\ntools = "select"')
    _, model = await worked(
        workspace,
        turn(("find_tools", {"query": "photograph of the core"}), turn_id="a"),
        turn(("lab__picture", {}), turn_id="b"),
        turn(("lab__letter", {"words": 3}), turn_id="c"),
        objective="convert the gold grade to ounces per short ton",
    )
    offered = [[tool.name for tool in request.tools if "__" in tool.name] for request in model.requests]
    assert "lab__convert_grade" in offered[0]
    assert "lab__picture" not in offered[0]
    assert "lab__picture" in results_in(model.requests[1])[0]
    assert "lab__picture" in offered[1]
    # One that was not offered and is called all the same is not lost either.
    assert "word0 word1 word2" in results_in(model.requests[3])[0]
    assert "lab__letter" in offered[3]
    picture = results_in(model.requests[2])[0]
    assert '"kind":"image/png","bytes":' in picture
    assert await differences(run_of(workspace)) == [None]


async def test_our_own_tools_work_on_what_an_outside_server_gave(workspace: Path, settings_file: Write) -> None:
    settings_file(LAB)

    def summarised(request: ModelRequest) -> ModelResponse:
        path = wire.loads(results_in(request)[0])["all_of_the_text"]
        return turn(("summarize", {"path": path, "columns": ["au"]}), turn_id="s")

    outcome, model = await worked(workspace, turn(("lab__export_csv", {"count": 101}), turn_id="e"), summarised)
    assert "mean 5 " in results_in(model.requests[2])[0]
    assert [artifact.kind for artifact in outcome.artifacts] == ["table", "table"]
    assert {Path(artifact.path).parent.as_posix() for artifact in outcome.artifacts} == {"results"}
    assert await differences(run_of(workspace)) == [None]


async def test_of_a_flood_of_tools_only_those_that_the_work_needs_fill_the_window(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(BAD, "many", name="bad")
    _, model = await worked(workspace, turn(("bad__tool77", {}), turn_id="a"))
    outside = [tool for tool in model.requests[0].tools if "__" in tool.name]
    assert len(outside) < 20
    assert "fine" in results_in(model.requests[1])[0]
    assert await differences(run_of(workspace)) == [None]


async def test_without_its_server_the_work_goes_on_and_the_outcome_says_so(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(BAD, "dies", name="bad")
    outcome, model = await worked(workspace)
    assert outcome.status == "success"
    [warning] = outcome.warnings
    assert "outside server bad: it ended with exit code 1" in warning
    assert "cannot find my configuration" in warning
    assert "the work goes on without its tools" in warning
    assert not any("__" in tool.name for tool in model.requests[0].tools)


async def test_only_the_specialists_that_are_named_have_the_tools(workspace: Path, settings_file: Write) -> None:
    settings_file(LAB, more='specialists = ["cleaning"]')
    _, model = await worked(workspace)
    assert not any("__" in tool.name for tool in model.requests[0].tools)
    assert not run_of(workspace).events("outside")


async def test_two_specialists_at_once_share_one_server(workspace: Path, settings_file: Write) -> None:
    settings_file(LAB)
    meet = "lab__wait_for_other"
    models = {
        "analytics": ScriptedModel([turn((meet, {"name": "a", "other": "c"})), DONE]),
        "cleaning": ScriptedModel([turn((meet, {"name": "c", "other": "a"})), DONE]),
    }
    async with Pool(workers=2, model=models, workspace=workspace, launcher=warm()) as pool:
        await asyncio.gather(pool.dispatch("analytics", "x"), pool.dispatch("cleaning", "y"))
    assert "a met c" in results_in(models["analytics"].requests[1])[0]
    assert "c met a" in results_in(models["cleaning"].requests[1])[0]
    assert len(run_of(workspace).events("outside")) == 1


async def test_a_server_with_the_network_is_told_in_the_isolation_and_kept_out_where_that_is_required(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB, more="network = true")
    outcome, _ = await worked(workspace)
    denied = outcome.isolation["network_denied"]
    assert not denied.active
    assert "it may call what has the network by outcrop.toml: lab" in denied.by
    outcome, model = await worked(workspace, require=["network_denied"])
    assert outcome.isolation["network_denied"].active
    assert "network_denied is required" in outcome.warnings[0]
    assert not any("__" in tool.name for tool in model.requests[0].tools)


async def test_no_row_of_an_outside_server_enters_the_context_of_the_lead(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB)
    give = ("dispatch", {"specialist": "analytics", "objective": "list samples", "data": ["assays.csv"]})
    lead = ScriptedModel([turn(give, turn_id="l"), turn(("complete", {"status": "success", "summary": "s"}))])
    models = {"lead": lead, "analytics": ScriptedModel([turn(("lab__list_samples", {"count": 9})), DONE])}
    await Run("list samples", ["assays.csv"], workspace=workspace, model=models, launcher=warm()).start()
    seen = b"".join(request.as_bytes() for request in lead.requests)
    assert b"lab__" not in seen
    assert b"Outside servers, and who may call their tools:\\n- lab: every specialist" in seen
    assert b"S8" not in seen
    run = run_of(workspace)
    assert await differences(run) == [None, None]
    again = await run_again(run, run, Settings.load(workspace), launcher=warm())
    assert again.is_same, again.as_json()


async def test_the_offline_model_works_on_where_there_are_outside_tools(workspace: Path, settings_file: Write) -> None:
    settings_file(LAB)
    outcome = await Run("summarise Au", ["assays.csv"], workspace=workspace, launcher=warm()).start()
    assert outcome.status == "success", outcome
    assert await differences(run_of(workspace)) == [None, None]


async def test_a_program_of_ones_own_is_started_without_any_server(
    workspace: Path, settings_file: Write, program: Callable[[str], list[str]]
) -> None:
    settings_file(LAB)
    async with Pool(workspace=workspace) as pool:
        outcome = await pool.dispatch("mine", command=program("complete(answer=request['outside'])"))
    assert outcome.results["answer"] == []
    assert not run_of(workspace).events("outside")


async def test_without_the_sdk_the_error_names_the_extra(
    workspace: Path, settings_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file(LAB)
    monkeypatch.setattr("outcrop.outside.servers.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'outcrop\[mcp\]'"):
        async with Pool(workspace=workspace):
            pass


async def test_cancelling_a_dispatch_in_a_call_leaves_the_server_to_others(
    workspace: Path, settings_file: Write
) -> None:
    settings_file(LAB)
    begun = asyncio.Event()

    def waits(request: ModelRequest) -> ModelResponse:
        begun.set()
        return turn(("lab__wait_for_other", {"name": "a", "other": "never"}))

    models = {"analytics": ScriptedModel([waits]), "cleaning": ScriptedModel([turn(("lab__counted", {})), DONE])}
    async with Pool(model=models, workspace=workspace, launcher=warm()) as pool:
        first = asyncio.create_task(pool.dispatch("analytics", "x"))
        await asyncio.wait_for(begun.wait(), 60)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        outcome = await pool.dispatch("cleaning", "y")
    assert outcome.status == "success"
    assert '"result":1' in results_in(models["cleaning"].requests[1])[0]


def test_no_server_outlives_an_orchestrator_that_is_killed(workspace: Path, settings_file: Write) -> None:
    settings_file(BAD, name="bad")
    program = f"""
    import asyncio
    from outcrop import Pool, ScriptedModel
    from outcrop.models.scripted import turn

    def pids(request):
        print(request.messages[-1].content[0].content, flush=True)
        return turn(("bad__hang", {{}}))

    async def main():
        model = ScriptedModel([turn(("bad__start_child", {{}})), pids])
        async with Pool(model=model, workspace={str(workspace)!r}, launcher="cold") as pool:
            await pool.dispatch("analytics", "x")

    asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as orchestrator:
        assert orchestrator.stdout is not None
        said = orchestrator.stdout.readline()
        os.kill(orchestrator.pid, signal.SIGKILL)
    pids = [int(word) for word in said.partition('"text":"')[2].partition('"')[0].split()]
    assert len(pids) == 2
    for pid in pids:
        ended = _pidfd(pid)
        if ended is not None:
            # Readable once it has ended.
            assert select.select([ended], [], [], 30)[0]
            os.close(ended)
        assert not is_running(pid)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
