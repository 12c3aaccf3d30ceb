"""Checkpoints in a whole run: recorded, shown, rebuilt byte for byte, for the lead and for a specialist."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.models.scripted import turn
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import lead_request, verify
from outcrop.runs import RunFolder
from outcrop.steps import agents_of, checkpoints_of
from outcrop_schemas.messages import TextBlock
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.brief import EARLIER
from outcrop_specialists.context.store import Store

ACCOUNT = {"done": "Duplicates are gone.", "state": "One table is left.", "remains": "Say so."}
DATA = ["a.csv"]
CLEAN = ("dispatch", {"specialist": "cleaning", "objective": "drop duplicates", "data": DATA})
LEAD = [
    turn(CLEAN, turn_id="l1"),
    turn(("pin", {"key": "unit", "value": "ppm, exactly"}), turn_id="l2"),
    turn(("checkpoint", ACCOUNT), turn_id="l3"),
    turn(("list_files", {}), ("checkpoint", {**ACCOUNT, "done": "Looked again."}), turn_id="l4"),
    turn(("complete", {"status": "success", "summary": "done"}), turn_id="l5"),
]
CLEANING = [
    turn(("remove_duplicates", {"path": "a.csv"}), turn_id="c1"),
    turn(("checkpoint", ACCOUNT), turn_id="c2"),
    turn(("inspect_dataset", {"path": "a.csv"}), turn_id="c3"),
    turn(("complete", {"status": "success", "summary": "1 removed", "results": {"removed": 1}}), turn_id="c4"),
]


class Changed(RunRecord):
    """A record in which the first account says something else."""

    def events(self, kind: str) -> list[dict[str, Any]]:
        found = super().events(kind)
        return [{**found[0], "done": "Nothing."}, *found[1:]] if kind == "checkpoint" else found


@pytest.fixture
async def finished(workspace: Path) -> tuple[RunOutcome, Any, Any]:
    (workspace / "a.csv").write_text("sample,Au\na,1\nb,2\nb,2\n")
    lead, cleaner = ScriptedModel(LEAD), ScriptedModel(CLEANING, name="cleaner")
    outcome = await Run(
        "tidy up", DATA, workspace=workspace, launcher=warm(), model={"lead": lead, "cleaning": cleaner}
    ).start()
    assert outcome.status == "success", outcome.errors
    return outcome, lead.requests, cleaner.requests


async def test_the_lead_and_a_specialist_go_on_from_their_accounts(finished: Any) -> None:
    _, lead, cleaner = finished
    for requests, number in ((lead, 3), (cleaner, 2)):
        [fresh] = requests[number].messages
        texts = [block.text for block in fresh.content if isinstance(block, TextBlock)]
        assert any(text.startswith(EARLIER) and "> remains: Say so." in text for text in texts)
    [artifact] = finished[0].artifacts
    told = lead[3].as_bytes().decode()
    assert artifact.path in told
    assert "Pinned facts:\\nunit = ppm, exactly" in told
    assert "cleaning: success" in told


async def test_it_is_rebuilt_byte_for_byte_and_a_changed_account_is_found(finished: Any) -> None:
    folder = RunFolder(Path(finished[0].run_folder))
    run = open_run(folder)
    checked = await asyncio.to_thread(verify, run)
    assert [(one.agent[:5], one.prompts, one.difference) for one in checked] == [("lead", 5, None), ("d0001", 4, None)]
    shown = await asyncio.to_thread(lead_request, run)
    assert EARLIER in shown.as_bytes().decode()
    changed = Changed(**{field.name: getattr(run, field.name) for field in dataclasses.fields(run)})
    [lead, _] = await asyncio.to_thread(verify, changed)
    assert lead.difference == "checkpoint 1 is not recorded as it was made"


async def test_it_says_what_was_the_task_what_is_done_how_it_stands_and_what_remains(finished: Any) -> None:
    outcome, lead, _ = finished
    run = open_run(RunFolder(Path(outcome.run_folder)))
    [first, second] = checkpoints_of(run, "lead")
    assert {name: first[name] for name in ACCOUNT} == ACCOUNT
    assert first["task"] == {"objective": "tidy up", "data": DATA, "pins": {"unit": "ppm, exactly"}}
    [dispatch] = first["dispatches"]
    assert (dispatch["status"], dispatch["artifacts"]) == ("success", [outcome.artifacts[0].path])
    assert first["files"] == [outcome.artifacts[0].path]
    assert (first["number"], first["step"], second["number"], second["step"]) == (1, 4, 2, 5)
    assert first["text"] in [block.text for block in lead[3].messages[0].content if isinstance(block, TextBlock)]
    assert Store(run.folder.stored).whole(first["archive"])
    [specialist] = [name for name in agents_of(run) if name != "lead"]
    [account] = checkpoints_of(run, specialist)
    assert (account["step"], "> done: Duplicates are gone." in account["text"]) == (3, True)


async def test_the_result_of_another_call_in_the_same_turn_is_still_seen(finished: Any) -> None:
    _, lead, _ = finished
    opened, _, results = lead[4].messages
    assert "> done: Looked again." in str(opened.content)
    assert '"files"' in results.content[0].content


async def test_the_command_shows_them(finished: Any, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from outcrop.cli.main import run

    def shown(*arguments: str) -> str:
        code = run(["context", "last", *arguments, "--checkpoints", "--workspace", str(workspace)])
        assert code == 0
        return capsys.readouterr().out

    text = await asyncio.to_thread(shown)
    assert "=== checkpoint 1, before request 4\n" in text
    assert "> remains: Say so." in text
    assert "=== checkpoint 1, before request 3\n" in await asyncio.to_thread(shown, "d0001")
    document = json.loads(await asyncio.to_thread(shown, "--json"))
    assert [each["reason"] for each in document["checkpoints"]] == ["asked", "asked"]
