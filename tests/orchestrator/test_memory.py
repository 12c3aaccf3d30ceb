"""Facts kept across runs, and skills: what fits stands in the next run, and its prompts are rebuilt with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.memory import Memory
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas.errors import UnknownNameError, UsageError, WorkspaceError
from outcrop_schemas.messages import ModelRequest, TextBlock

FACTS = [
    "The laboratory changed its copper method in May 2021.",
    "Collar heights of block B are from the old datum.",
    "Gold below 0.005 ppm is written as -0.005 in the soil files.",
    "The client wants figures in metric tonnes.",
    "Copper assays above 1 % were repeated by titration.",
]
DONE = turn(("complete", {"status": "success", "summary": "done"}))


def texts(request: ModelRequest) -> list[str]:
    return [block.text for block in request.messages[0].content if isinstance(block, TextBlock)]


def test_what_fits_a_question_is_found_with_its_source_and_no_more_than_three(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    for number, fact in enumerate(FACTS):
        memory.remember(fact, f"run {number}")
    memory.remember(f"  {FACTS[0]} ", "run 9")
    assert [each.source for each in memory.all()] == [f"run {number}" for number in range(5)]
    found = memory.relevant("summarise copper of the assays")
    assert {each.fact for each in found} >= {FACTS[0], FACTS[4]}
    assert len(found) <= 3
    assert "(source: run 0, 20" in memory.all()[0].line()
    assert memory.relevant("bake a cake") == []


def test_a_fact_is_forgotten_by_its_id_and_an_unknown_one_is_told(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    made = memory.remember(FACTS[0], "me")
    with pytest.raises(UnknownNameError, match=made.id):
        memory.forget("nothing")
    memory.forget(made.id)
    assert memory.all() == []


def test_bad_facts_and_a_damaged_file_are_told(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    for fact in ("", " ", "x" * 501):
        with pytest.raises(UsageError, match="a fact has 1 to 500 characters"):
            memory.remember(fact, "me")
    memory.remember(FACTS[0], "me")
    with (tmp_path / "memory" / "facts.jsonl").open("a") as file:
        file.write("half of\n")
    with pytest.raises(WorkspaceError, match="line 2 is no fact"):
        memory.all()


@pytest.mark.parametrize("what", ["memory", "memory/facts.jsonl"])
async def test_what_is_remembered_behind_a_link_is_neither_told_nor_added_to(
    workspace: Path, tmp_path: Path, what: str
) -> None:
    elsewhere = Memory(tmp_path / "elsewhere")
    elsewhere.remember("SECRET: copper", "another workspace")
    before = elsewhere.path.read_bytes()
    link = workspace / ".outcrop" / what
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere" / what)
    model = ScriptedModel([DONE])
    with pytest.raises(WorkspaceError, match=f"{what} is a link; remove it"):
        await Run("summarise copper", workspace=workspace, launcher=warm(), model=model).start()
    with pytest.raises(WorkspaceError, match="is a link"):
        Memory(workspace / ".outcrop").remember(FACTS[0], "me")
    with pytest.raises(WorkspaceError, match="is a link"):
        Memory(workspace / ".outcrop").forget("x")
    assert (model.requests, elsewhere.path.read_bytes()) == ([], before)


async def test_skills_behind_a_link_are_told_to_nobody_and_the_outcome_says_so(workspace: Path, tmp_path: Path) -> None:
    skill = tmp_path / "elsewhere" / "SECRET" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: SECRET\ndescription: d\n---\nx\n")
    (workspace / "skills").symlink_to(tmp_path / "elsewhere")
    model = ScriptedModel([DONE])
    outcome = await Run("look", workspace=workspace, launcher=warm(), model=model).start()
    assert "SECRET" not in model.requests[0].as_bytes().decode()
    assert [warning for warning in outcome.warnings if "skills/ is a link out of the workspace" in warning]


async def test_what_one_run_remembers_the_next_is_told_and_both_are_rebuilt(workspace: Path) -> None:
    skill = workspace / "skills" / "assay-checks" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: assay-checks\ndescription: How we check assays\n---\nFirst look at the blanks.\n")
    first = ScriptedModel(
        [turn(("remember", {"fact": FACTS[0]}), ("read_skill", {"name": "assay-checks"}), turn_id="a"), DONE]
    )
    one = await Run("look at copper", workspace=workspace, launcher=warm(), model=first).start()
    results = [block.content for block in first.requests[1].messages[-1].content if block.type == "tool_result"]
    assert '"remembered":' in str(results[0])
    assert "First look at the blanks." in str(results[1])
    assert texts(first.requests[0])[0] == (
        "Skills (read one with read_skill before you follow it):\n- assay-checks: How we check assays"
    )
    second = ScriptedModel([DONE])
    two = await Run("summarise copper", workspace=workspace, launcher=warm(), model=second).start()
    known = texts(second.requests[0])
    assert known[1].startswith(f"Remembered from earlier runs:\n- {FACTS[0]} (source: run {one.run_id}, ")
    for outcome in (one, two):
        checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
        assert [each.difference for each in checked] == [None] * len(checked)


async def test_a_specialist_is_told_of_the_skills_and_reads_one(workspace: Path) -> None:
    skill = workspace / "skills" / "units" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: units\ndescription: Which units we use\n---\nAlways ppm.\n")
    done = turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id="b")
    model = ScriptedModel([turn(("read_skill", {"name": "units"}), turn_id="a"), done])
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm()) as pool:
        outcome = await pool.dispatch("analytics", "look")
        folder = pool.run_folder
    assert outcome.status == "success", outcome.errors
    assert "- units: Which units we use" in texts(model.requests[0])[0]
    assert "read_skill" in [tool.name for tool in model.requests[0].tools]
    assert "Always ppm." in model.requests[1].as_bytes().decode()
    checked = await asyncio.to_thread(verify, open_run(folder))
    assert [each.difference for each in checked] == [None] * len(checked)
