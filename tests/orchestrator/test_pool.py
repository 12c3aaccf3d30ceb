"""The pool as a backend: many callers, few workers, one run; sync and async."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from outcrop import Pool, ScriptedModel
from outcrop.cli.main import run as cli
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop_schemas.errors import PoolClosedError, UsageError, WorkspaceBusyError, WorkspaceError
from outcrop_schemas.protocol import Completion


async def test_two_hundred_calls_share_four_workers(workspace: Path, tmp_path: Path) -> None:
    # Each process holds a file while it lives; how many are there at a time is how many work at a time.
    script = tmp_path / "work.sh"
    script.write_text(
        'read -r request; id=$(printf %s "$request" | sed \'s/.*"dispatch_id":"\\([^"]*\\)".*/\\1/\')\n'
        'touch "$1/$id"; n=$(ls "$1" | wc -l); rm "$1/$id"\n'
        'printf \'{"type":"completion","dispatch_id":"%s","status":"success","results":{"at_once":%s}}\' "$id" "$n"\n'
    )
    async with Pool(workers=4, workspace=workspace) as pool:
        command = ["sh", str(script), str(workspace / "results")]
        outcomes = await asyncio.gather(*(pool.dispatch("shell", command=command) for _ in range(200)))
        folder = pool.run_folder
    assert {outcome.status for outcome in outcomes} == {"success"}
    assert len({outcome.dispatch_id for outcome in outcomes}) == 200
    assert 1 < max(outcome.results["at_once"] for outcome in outcomes) <= 4
    assert len(open_run(folder).outcomes) == 200


async def test_after_twenty_five_dispatches_the_lead_sees_twenty_and_one_line(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Pool(workers=4, workspace=workspace) as pool:
        for number in range(25):
            await pool.dispatch("shell", f"piece {number}", command=["false"])
    assert await asyncio.to_thread(cli, ["show", "last", "--prompt", "--workspace", str(workspace)]) == 0
    prompt = capsys.readouterr().out
    assert "[5 older: 0 successes, 5 errors, 0 pending]" in prompt
    assert [number for number in range(25) if f"— piece {number} " in prompt] == list(range(5, 25))


def test_the_sync_face_serves_several_threads(workspace: Path) -> None:
    found: list[str] = []
    with Pool(workers=2, workspace=workspace) as pool:

        def work() -> None:
            found.append(pool.dispatch_sync("shell", "x", command=["true"]).status)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["no_completion"] * 6


async def test_a_second_run_in_the_workspace_is_refused_and_the_first_goes_on(workspace: Path) -> None:
    async with Pool(workspace=workspace) as pool:
        with pytest.raises(WorkspaceBusyError, match="another run is under way"):
            async with Pool(workspace=workspace):
                pass
        assert (await pool.dispatch("shell", command=["true"])).status == "no_completion"
    async with Pool(workspace=workspace):
        pass


def test_a_workspace_that_is_missing_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="does not exist"):
        Pool(workspace=tmp_path / "nowhere")
    with pytest.raises(WorkspaceError, match="not a folder"):
        Pool(workspace=tmp_path / "file")


async def test_an_unknown_model_is_refused(workspace: Path) -> None:
    with pytest.raises(UsageError, match="no model 'gpt-9'"):
        async with Pool(workspace=workspace, model="gpt-9"):
            pass
    async with Pool(workspace=workspace):
        pass


def complete(**fields: Any) -> tuple[str, dict[str, Any]]:
    return ("complete", {"status": "success", "summary": "done", **fields})


async def dispatch_scripted(workspace: Path, *turns: Any) -> tuple[Any, ScriptedModel]:
    (workspace / "assays.csv").write_text("sample,Au\na,1\nb,2\nb,2\n")
    model = ScriptedModel(turns)
    async with Pool(workspace=workspace, model={"cleaning": model}) as pool:
        return await pool.dispatch("cleaning", "remove duplicates", ["assays.csv"]), model


async def test_a_built_in_specialist_works_through_the_model_channel(workspace: Path) -> None:
    outcome, model = await dispatch_scripted(
        workspace,
        turn(("remove_duplicates", {"path": "assays.csv"}), turn_id="one"),
        turn(complete(results={"removed": 1}), turn_id="two"),
    )
    assert outcome.status == "success"
    assert outcome.results == {"removed": 1}
    assert outcome.usage["turns"] == 2
    [artifact] = outcome.artifacts
    assert (workspace / artifact.path).read_text() == "sample,Au\na,1\nb,2\n"
    opening = [block.text for block in model.requests[0].messages[0].content]  # type: ignore[union-attr]
    assert opening == ["Objective:\nremove duplicates", "Data files (relative to the workspace):\n- assays.csv"]


async def test_an_invalid_completion_is_answered_with_field_and_reason(workspace: Path) -> None:
    outcome, model = await dispatch_scripted(
        workspace,
        turn(("complete", {"status": "splendid", "summary": "x"}), turn_id="one"),
        turn(complete(results={"rows": list(range(21))}), turn_id="two"),
        turn(complete(), turn_id="three"),
    )
    assert outcome.status == "success"
    answers = [request.messages[-1].content[0].content for request in model.requests[1:]]  # type: ignore[union-attr]
    assert '"field":"status"' in answers[0]
    assert "21 records" in answers[1]


async def test_three_invalid_completions_end_the_work_with_the_reason(workspace: Path) -> None:
    outcome, _ = await dispatch_scripted(workspace, *(turn(("complete", {"n": n}), turn_id=str(n)) for n in range(3)))
    assert outcome.status == "error"
    assert "3 times with an invalid answer" in outcome.errors[0]


async def test_the_same_call_three_times_is_stopped(workspace: Path) -> None:
    call = ("inspect_dataset", {"path": "assays.csv"})
    outcome, model = await dispatch_scripted(workspace, *(turn(call, turn_id=str(n)) for n in range(5)))
    assert outcome.status == "error"
    assert "inspect_dataset was called 3 times with the same arguments" in outcome.errors[0]
    assert len(model.requests) == 3


async def test_a_turn_without_a_call_is_asked_to_complete(workspace: Path) -> None:
    outcome, model = await dispatch_scripted(workspace, turn(text="All done!"), turn(complete()))
    assert outcome.status == "success"
    assert "`complete`" in model.requests[1].messages[-1].content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (("inspect_dataset", {"path": "../../etc/passwd"}), "path", "outside the workspace"),
        (("inspect_dataset", {"path": "nothing.csv"}), "path", "does not exist"),
        (("inspect_dataset", {"file": "assays.csv"}), "argument", "path"),
        (("dig_a_hole", {}), "unknown_name", "dig_a_hole"),
        (("remove_duplicates", {"path": "assays.csv", "subset": ["gold"]}), "argument", "gold"),
    ],
)
async def test_a_tools_fault_is_a_typed_error_for_the_model(
    workspace: Path, call: tuple[str, dict[str, Any]], kind: str, said: str
) -> None:
    outcome, model = await dispatch_scripted(workspace, turn(call, turn_id="a"), turn(complete(), turn_id="b"))
    assert outcome.status == "success"
    result = model.requests[1].messages[-1].content[0]
    assert result.is_error  # type: ignore[union-attr]
    assert f'"type":"{kind}"' in result.content  # type: ignore[union-attr]
    assert said in result.content  # type: ignore[union-attr]


async def test_a_model_that_cannot_answer_is_an_error_with_its_reason(workspace: Path) -> None:
    outcome, _ = await dispatch_scripted(workspace)
    assert outcome.status == "error"
    assert "the script has no turn 1" in outcome.errors[0]


def test_a_pool_that_was_closed_says_so(workspace: Path) -> None:
    with Pool(workspace=workspace) as pool:
        pass
    with pytest.raises(PoolClosedError):
        pool.dispatch_sync("shell", "x", command=["true"])


async def test_a_pool_without_workers_is_refused(workspace: Path) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        async with Pool(workers=0, workspace=workspace):
            pass


@pytest.mark.parametrize("path", ["bare.csv", {"path": "a.csv"}])
def test_the_printed_completion_schema_takes_what_protocol_1_takes(path: object) -> None:
    schema = TypeAdapter(Completion).json_schema()
    assert schema["required"] == ["type", "dispatch_id", "status", "results"]
    kinds = schema["properties"]["artifacts"]["anyOf"][0]["items"]["anyOf"]
    assert {"type": "string"} in kinds
    message = {"type": "completion", "dispatch_id": "d", "status": "success", "results": {}, "artifacts": [path]}
    assert Completion.model_validate(message).artifacts[0].path.endswith(".csv")
