"""A specialist's brief holds its dispatch and the fields of its role's view, and nothing else that the run knows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.memory import Memory
from outcrop.models.scripted import turn
from outcrop_schemas import wire
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_specialists.brief import read_opening
from outcrop_specialists.roles import ROLES, Role
from outcrop_specialists.views import OF_THE_WORK, StateField, seen

FOUND = {
    "status": "success",
    "summary": "MARK-SUMMARY",
    "results": {"mean": "MARK-RESULT"},
    "findings": ["MARK-READING-REPORT"],
    "evidence": {"supports": [], "contradicts": [], "new_hypotheses": ["MARK-HYPOTHESIS"]},
}
SKILL = "---\nname: assaying\ndescription: How assays are read here.\n---\nbody\n"


def asks(specialist: str, turn_id: str, context: dict[str, Any] | None = None) -> Any:
    work = {"specialist": specialist, "objective": f"MARK-WORK of {specialist}", "data": ["a.csv"]}
    return turn(("dispatch", {**work, "context": context or {}}), turn_id=turn_id)


async def request_of_the_second(
    workspace: Path, context: dict[str, Any] | None = None, second: str = "plotting"
) -> tuple[list[ModelRequest], list[ModelRequest]]:
    """What the second specialist is asked after another one found something; and what the lead was asked."""
    (workspace / "a.csv").write_text("sample,Au\na,1\nb,2\n")
    (workspace / "notes.md").write_text("MARK-ATTACHMENT\n")
    (workspace / "skills" / "assaying").mkdir(parents=True)
    (workspace / "skills" / "assaying" / "SKILL.md").write_text(SKILL)
    Memory(workspace / ".outcrop").remember("MARK-MEMORY: the trench was sampled twice", "a test")
    end = turn(("complete", {"status": "success", "summary": "done"}), turn_id="e")
    done = turn(("complete", {"status": "success", "summary": "drawn", "results": {}}), turn_id="d")
    lead = ScriptedModel([asks("cleaning", "l1"), asks(second, "l2", context), end])
    other = ScriptedModel([done], name="other")
    models = {
        "lead": lead,
        "cleaning": ScriptedModel([turn(("complete", FOUND), turn_id="c")], name="cleaner"),
        second: other,
    }
    outcome = await Run(
        "MARK-RUN: what does the trench tell", ["a.csv"], workspace=workspace, launcher=warm(), model=models,
        pins={"unit": "MARK-PIN"}, attach=["notes.md"],
    ).start()  # fmt: skip
    assert len(outcome.dispatches) == 1 + bool(other.requests), outcome.errors
    return other.requests, lead.requests


NEVER = ("SUMMARY", "RESULT", "READING-REPORT", "HYPOTHESIS", "MEMORY", "RUN", "WORK of cleaning", "ATTACHMENT")


@pytest.mark.parametrize("second", ["plotting", "analytics"])
async def test_what_others_found_and_what_is_remembered_does_not_reach_a_specialist(
    workspace: Path, second: str
) -> None:
    [request], lead = await request_of_the_second(workspace, {"threshold": "MARK-CONTEXT"}, second)
    text = request.as_bytes().decode()
    assert [mark for mark in NEVER if f"MARK-{mark}" in text] == []
    # All of it the run does know.
    told = lead[-1].as_bytes().decode()
    assert [mark for mark in NEVER if f"MARK-{mark}" not in told] == []
    for needed in ("MARK-PIN", "How assays are read here.", f"MARK-WORK of {second}", "a.csv", "MARK-CONTEXT"):
        assert needed in text


async def test_an_outcome_is_not_handed_on_whole(workspace: Path) -> None:
    requests, lead = await request_of_the_second(
        workspace, {"before": [{"dispatch_id": "d0001-x", "results": {"a": 1}}]}
    )
    assert requests == []
    said = lead[-1].messages[-1].content[0].content  # type: ignore[union-attr]
    assert "give the facts that are needed, not the outcome of d0001-x whole" in said


@pytest.mark.parametrize(
    ("fields", "there", "not_there"),
    [
        (frozenset({"pins", "memory"}), ("MARK-MEMORY", "MARK-PIN"), ("How assays", "cleaning: success")),
        (frozenset({"pins", "history", "run_objective"}), ("cleaning: success", "MARK-RUN"), ("MARK-MEMORY",)),
        (frozenset(), (), ("MARK-PIN", "How assays", "MARK-MEMORY", "cleaning: success")),
    ],
)
async def test_it_is_the_declared_view_that_decides(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, fields: frozenset[StateField], there: Any, not_there: Any
) -> None:
    monkeypatch.setitem(ROLES, "plotting", dataclasses.replace(ROLES["plotting"], view=fields))
    # Its process is forked or started with the role as it is; what it is sent is made here.
    [request], _ = await request_of_the_second(workspace)
    texts = [block.text for block in request.messages[0].content if isinstance(block, TextBlock)]
    whole = wire.dumps(texts).decode()
    assert [mark for mark in there if mark not in whole] == []
    assert [mark for mark in not_there if mark in whole] == []
    if "memory" in fields:
        assert "MARK-MEMORY" in read_opening(texts)[2]["memory"][0]


def test_every_role_declares_what_it_sees_and_one_that_is_added_sees_what_all_work_needs() -> None:
    assert {name: role.view for name, role in ROLES.items()} == dict.fromkeys(ROLES, OF_THE_WORK)
    assert Role("assaying", "assays").view == OF_THE_WORK == {"pins", "skills", "attachments", "hypotheses"}
    assert seen({"memory": ["a"], "pins": {"k": "v"}, "skills": {}}, OF_THE_WORK) == {"pins": {"k": "v"}}
