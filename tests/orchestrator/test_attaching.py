"""Attached files in a whole run: who sees what of them, that no row reaches the lead, that the record rebuilds it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.steps import agents_of, steps_of
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.brief import ATTACHMENT, OBJECTIVE

NOTES = "The credit of 412.75 EUR expires on 2027-03-31.\nNever use batch LB-2291.\n"
ROWS = "sample,Au,rock\n" + "".join(f"MARK{n},{n / 7},granite\n" for n in range(60))
_WORDS = ["the", "crew", "walked", "ridges", "where", "old", "gossans", "crop", "out", "beneath", "cover"]
_PICK = random.Random(4)
PROSE = "".join(f"{' '.join(_PICK.choices(_WORDS, k=_PICK.randint(5, 20)))}.\n" for _ in range(60))
END = turn(("complete", {"status": "success", "summary": "done"}), turn_id="e")
DONE = turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id="s")


def attached_in(request: ModelRequest) -> list[str]:
    texts = [block.text for block in request.messages[0].content if isinstance(block, TextBlock)]
    return [text for text in texts if text.startswith(ATTACHMENT)]


def asks(context: dict[str, Any], turn_id: str) -> Any:
    work = {"specialist": "analytics", "objective": "look", "data": ["a.csv"], "context": context}
    return turn(("dispatch", work), turn_id=turn_id)


async def worked(workspace: Path, attach: list[str], *contexts: dict[str, Any]) -> tuple[RunOutcome, Any, Any]:
    (workspace / "a.csv").write_text(ROWS)
    (workspace / "notes.md").write_text(NOTES)
    lead = ScriptedModel([*(asks(context, f"l{n}") for n, context in enumerate(contexts)), END])
    specialist = ScriptedModel([DONE] * len(contexts), name="specialist")
    models = {"lead": lead, "analytics": specialist}
    outcome = await Run("look", ["a.csv"], workspace=workspace, launcher=warm(), model=models, attach=attach).start()
    assert outcome.status == "success", outcome.errors
    return outcome, lead.requests, specialist.requests


async def verified(folder: RunFolder) -> list[tuple[str, str | None]]:
    return [(one.agent[:5], one.difference) for one in await asyncio.to_thread(verify, open_run(folder))]


async def test_a_text_stands_before_the_objective_and_a_specialist_sees_what_its_dispatch_names(
    workspace: Path,
) -> None:
    outcome, lead, specialist = await worked(workspace, ["notes.md", "a.csv"], {"attachments": ["notes.md"]}, {})
    texts = [block.text for block in lead[0].messages[0].content if isinstance(block, TextBlock)]
    assert [text[: len(ATTACHMENT) + 8] for text in texts[:2]] == ["Attachment notes.md", "Attachment a.csv (d"]
    assert texts[0].endswith(NOTES)
    assert texts[2].startswith(OBJECTIVE)
    [told] = attached_in(specialist[0])
    assert told.endswith(NOTES)
    assert attached_in(specialist[1]) == []
    folder = RunFolder(Path(outcome.run_folder))
    assert await verified(folder) == [("lead", None), ("d0001", None), ("d0002", None)]
    run = open_run(folder)
    steps = {name[:5]: steps_of(run, name)[0].segments for name in agents_of(run)}
    assert steps["lead"]["attachments"] > 0
    assert steps["d0001"]["attachments"] > 0
    assert "attachments" not in steps["d0002"]
    assert [entry["path"] for entry in run.about["attach"]] == ["notes.md", "a.csv"]


@pytest.mark.parametrize(
    "name", ["a.csv", "rows.txt", "README", "run.log", "rows.json", "mixed.md", "short.md", "x.yaml"]
)
async def test_no_row_of_an_attached_file_reaches_the_lead(workspace: Path, name: str) -> None:
    text = {
        "run.log": "".join(f"2026-11-03 12:00:{n:02d} INFO MARK{n} granite {n / 7}\n" for n in range(60)),
        "rows.json": "[" + ",".join(f'{{"sample": "MARK{n}", "Au": {n / 7}}}' for n in range(60)) + "]",
        "mixed.md": f"{NOTES}\n{PROSE}\nThe table:\n\n{ROWS[:200]}\nThat was all of it, and thank you.\n",
        "short.md": f"{NOTES}\nMARK1,0.5,granite\nMARK2,0.7,basalt\n",
        "x.yaml": "".join(f"- sample: MARK{n}\n  au: {n / 7}\n" for n in range(60)),
    }.get(name, ROWS)
    (workspace / name).write_text(text)
    _, lead, _ = await worked(workspace, [name])
    [told] = attached_in(lead[0])
    assert "MARK" not in lead[0].as_bytes().decode()
    assert "0.142857" not in told
    if name in ("a.csv", "rows.txt", "README", "rows.json"):
        assert '"rows":60' in told
        assert "Au" in told
    elif "md" in name:
        assert NOTES in told
        assert "lines that look like rows of data are not shown]" in told


async def test_a_program_attaches_to_a_dispatch_and_the_record_rebuilds_it(workspace: Path) -> None:
    (workspace / "notes.md").write_text(NOTES)
    model = ScriptedModel([DONE])
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm()) as pool:
        outcome = await pool.dispatch("analytics", "look", attach=["notes.md", workspace / "notes.md"])
        folder = pool.run_folder
    assert outcome.status == "success", outcome.errors
    [told] = attached_in(model.requests[0])
    assert told.endswith(NOTES)
    # What was attached is what was read then, whatever became of the file since.
    (workspace / "notes.md").write_text("other words\n")
    assert await verified(folder) == [("d0001", None)]
    [kept] = folder.attached.iterdir()
    kept.write_text(kept.read_text().replace("412.75", "412.76"))
    [(_, difference)] = await verified(folder)
    assert difference
    assert "was changed since" in difference
    kept.unlink()
    [(_, difference)] = await verified(folder)
    assert difference


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nots.md", "did you mean notes.md"),
        ("../outside.md", "outside the workspace"),
        ("link.md", "outside the workspace"),
        ("folder", "is a folder"),
        ("outcrop.toml", "is Outcrop's own"),
        (".outcrop/x", "is Outcrop's own"),
    ],
)
async def test_what_cannot_be_attached_is_an_error_before_anything_starts(
    workspace: Path, path: str, words: str
) -> None:
    (workspace / "notes.md").write_text(NOTES)
    (workspace / "folder").mkdir()
    (workspace / ".outcrop").mkdir()
    for own in ("outcrop.toml", ".outcrop/x"):
        (workspace / own).write_text("# \n")
    (workspace.parent / "outside.md").write_text("x\n")
    (workspace / "link.md").symlink_to(workspace.parent / "outside.md")
    model = ScriptedModel([END])
    with pytest.raises(PathError, match=words):
        await Run("look", workspace=workspace, launcher=warm(), model=model, attach=[path]).start()
    assert not (workspace / ".outcrop" / "runs").exists()
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm()) as pool:
        with pytest.raises(PathError, match=words):
            await pool.dispatch("analytics", "look", attach=[path])
    assert model.requests == []


async def test_a_file_that_is_not_attached_is_a_typed_error_for_the_lead(workspace: Path) -> None:
    (workspace / "a.csv").write_text(ROWS)
    (workspace / "notes.md").write_text(NOTES)
    lead = ScriptedModel([asks({"attachments": ["a.csv"]}, "l1"), asks({"attachments": {"a": 1}}, "l2"), END])
    await Run("look", workspace=workspace, launcher=warm(), model=lead, attach=["notes.md"]).start()
    for request in lead.requests[1:3]:
        said = request.messages[-1].content[0].content  # type: ignore[union-attr]
        assert '"field":"context.attachments"' in said
        assert "attached is notes.md" in said


async def test_a_damaged_file_says_so_and_the_work_goes_on(workspace: Path) -> None:
    (workspace / "notes.txt.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"MARK" * 10)
    model = ScriptedModel([DONE])
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm()) as pool:
        await pool.dispatch("analytics", "look", attach=["notes.txt.gz"])
    [told] = attached_in(model.requests[0])
    assert told.startswith(f"{ATTACHMENT}notes.txt.gz could not be read: ")


async def test_in_a_small_window_attachments_take_a_share_of_it(workspace: Path) -> None:
    (workspace / "long.md").write_text("The crew walked the ridges where old gossans crop out beneath cover.\n" * 9_000)
    model = ScriptedModel([DONE])
    settings = Settings(roles={"analytics": {"window_tokens": 40_000}})
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm(), settings=settings) as pool:
        await pool.dispatch("analytics", "look", attach=["long.md"])
    from outcrop_specialists.context.segments import estimated

    usable = 40_000 - limits.MODEL_OUTPUT_TOKENS
    assert 0.2 * usable < estimated(model.requests[0])["attachments"] <= limits.ATTACHMENTS_SHARE * usable


async def test_a_program_of_ones_own_gets_the_texts_in_its_request(workspace: Path, program: Any) -> None:
    (workspace / "notes.md").write_text(NOTES)
    command = program('complete(answer=request["attachments"])')
    async with Pool(workers=1, workspace=workspace, launcher=warm()) as pool:
        outcome = await pool.dispatch("mine", "look", attach=["notes.md"], command=command)
    [told] = outcome.results["answer"]
    assert told.endswith(NOTES)


async def test_a_run_that_is_cancelled_while_files_are_read_is_recorded_as_cancelled(workspace: Path) -> None:
    (workspace / "big.csv").write_text("sample,Au\n" + "".join(f"s{n},{n}.5\n" for n in range(400_000)))
    model = ScriptedModel([END])
    begun = asyncio.Event()

    async def on_open(folder: RunFolder) -> None:
        begun.set()

    run = Run("look", workspace=workspace, launcher=warm(), model=model, attach=["big.csv"], on_open=on_open)
    task = asyncio.create_task(run.start())
    await asyncio.wait_for(begun.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.requests == []
    assert run.desk is not None
    answer = open_run(run.desk.folder).answer
    assert answer is not None
    assert answer.status == "cancelled"
