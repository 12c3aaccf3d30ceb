"""No call of a lead's model ends its run with anything but a typed error, and no link of the workspace does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.lead.toolbox import lead_schemas
from outcrop.models.scripted import turn
from outcrop.runs import find_run
from outcrop.workspace import Workspace
from outcrop_schemas.errors import OutcropError, UnknownNameError
from outcrop_schemas.messages import ModelResponse

ODD = {
    "long": "a" * 400,
    "4 KB": "a" * 4_096,
    "deep": "a/" * 2_048,
    "NUL": "a\0b",
    "a circle": "circle",
    "below a file": "a.csv/x",
    "above": "../../..",
}
DONE = {"status": "success", "summary": "done"}


def calls(odd: str) -> list[ModelResponse]:
    """Every tool of the lead with the odd string in each argument that is a text."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("dispatch", {"specialist": "analytics", "objective": "x", "data": [odd]}),
        ("dispatch", {"specialist": odd, "objective": "x", "data": ["a.csv"]}),
        ("dispatch", {"specialist": "analytics", "objective": "y", "context": {"attachments": [odd]}}),
        ("list_files", {"folder": odd}),
        ("list_files", {"tables": [odd]}),
        ("check_missing", {"path": odd}),
        ("pin", {"key": odd, "value": odd}),
        ("hypothesis", {"claim": odd}),
        ("hypothesis", {"id": odd, "evidence_for": [{"dispatch_id": odd, "entry": odd}]}),
        ("remember", {"fact": odd}),
        ("read_result", {"handle": odd}),
        ("read_result", {"handle": "0" * 16, "find": odd}),
        ("read_skill", {"name": odd}),
        ("read_skill", {"name": "good", "file": odd}),
        (odd, {}),
    ]
    return [turn(one, turn_id=f"t{number}") for number, one in enumerate(asked)]


@pytest.mark.parametrize("kind", ODD)
async def test_a_call_with_an_odd_string_is_answered_and_the_run_goes_on(workspace: Path, kind: str) -> None:
    (workspace / "a.csv").write_text("a,b\n1,2\n3,4\n")
    (workspace / "circle").symlink_to("circle")
    skill = workspace / "skills" / "good" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: good\ndescription: d\n---\nbody\n")
    model = ScriptedModel([*calls(ODD[kind]), turn(("complete", DONE), turn_id="end")])
    outcome = await Run("look", ["a.csv"], workspace=workspace, launcher=warm(), model=model).start()
    assert outcome.status == "success", outcome.errors


LINKED = ("skills", "pins.toml", "other.csv", "notes.txt")
REFUSED = (".outcrop", ".outcrop/memory", ".outcrop/memory/facts.jsonl", ".outcrop/pins.toml", ".outcrop/cache",
           ".outcrop/runs", ".outcrop/lock", "outcrop.toml")  # fmt: skip


async def run_beside(workspace: Path, link: str) -> Any:
    (workspace / "a.csv").write_text("a,b\n1,2\n3,4\n")
    place = workspace / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(place.name)
    model = ScriptedModel([turn(("list_files", {}), turn_id="a"), turn(("complete", DONE), turn_id="end")])
    return await Run("look", ["a.csv"], workspace=workspace, launcher=warm(), model=model).start()


@pytest.mark.parametrize("link", LINKED)
async def test_a_link_to_itself_in_the_workspace_is_passed_over(workspace: Path, link: str) -> None:
    outcome = await run_beside(workspace, link)
    assert outcome.status == "success", outcome.errors
    told = [warning for warning in outcome.warnings if "leads nowhere" in warning]
    assert bool(told) == (link == "skills")


@pytest.mark.parametrize("link", REFUSED)
async def test_a_link_to_itself_where_records_belong_is_a_typed_error(workspace: Path, link: str) -> None:
    with pytest.raises(OutcropError, match=r"link|read"):
        await run_beside(workspace, link)


@pytest.mark.parametrize("given", [{"data": ["d.csv"]}, {"data": ["a.csv"], "attach": ["d.csv"]}])
async def test_data_and_attachments_that_are_links_to_themselves_are_refused(
    workspace: Path, given: dict[str, Any]
) -> None:
    (workspace / "a.csv").write_text("a,b\n1,2\n")
    (workspace / "d.csv").symlink_to("d.csv")
    with pytest.raises(OutcropError, match="is not a path"):
        await Run(
            "look", given["data"], workspace=workspace, launcher=warm(), model="offline", attach=given.get("attach", [])
        ).start()


@pytest.mark.parametrize("name", ["circle", "a" * 400, "a\0b"])
def test_what_is_no_folder_is_no_workspace_and_no_run(workspace: Path, name: str) -> None:
    (workspace / "circle").symlink_to("circle")
    with pytest.raises(OutcropError, match="does not exist"):
        Workspace(workspace / name)
    with pytest.raises(UnknownNameError):
        find_run(name, Workspace(workspace))


def test_all_tools_of_the_lead_are_tried() -> None:
    assert {schema.name for schema in lead_schemas()} - {"checkpoint"} <= {
        block.name for response in calls("x") for block in response.content if block.type == "tool_use"
    }
