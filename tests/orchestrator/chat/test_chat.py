"""A conversation: its answers are checked, it is recorded and rebuilt, cancelled and gone on with."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conversing import end, lead_says, results_in, sent, talked
from warm import warm

from outcrop import ScriptedModel
from outcrop.budget import Amount
from outcrop.chat.session import Chat
from outcrop.gaps.deciding import GapQuestion
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import lead_request, verify
from outcrop.runs import RunFolder, find_run
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import ObjectiveError, PathError, UsageError

LOOK = turn(("list_files", {"tables": ["a.csv"]}), turn_id="look")


async def differences(folder: RunFolder) -> list[str | None]:
    return [one.difference for one in await asyncio.to_thread(verify, open_run(folder))]


async def test_figures_are_traced_and_files_looked_up(data: Path) -> None:
    said = "There are 60 rows in a.csv, and 17.25 is no figure of mine; see also results/none.png."
    [answered], model, folder = await talked(data, [LOOK, end(said), end(said)])
    assert {figure.text: figure.verdict for figure in answered.figures} == {"60": "verified", "17.25": "unverifiable"}
    assert {file.path: file.known for file in answered.files} == {"a.csv": "listed", "results/none.png": "unknown"}
    assert answered.status == "partial"
    assert answered.warnings == ["results/none.png is cited, but nothing in this conversation told of it"]
    assert "results/none.png: neither listed" in results_in(model)[0]
    assert await differences(folder) == [None]


async def test_what_the_data_tools_counted_is_verified(data: Path) -> None:
    (data / "b.csv").write_text("x,y\n1,2\n,4\n5,6\n7,8\n")
    calls = turn(("list_files", {"tables": ["b.csv"]}), ("check_missing", {"path": "b.csv"}), turn_id="t")
    said = (
        "There are 2 tables. b.csv has 4 rows and 2 columns; 1 value is missing in x (25.0 %), and 1 column is "
        "complete. So there are 17 gaps."
    )
    [answered], _, folder = await talked(data, [calls, end(said)])
    assert [(each.text, each.verdict) for each in answered.figures] == [
        ("2", "verified"), ("4", "verified"), ("2", "verified"), ("1", "verified"), ("25.0 %", "verified"),
        ("1", "verified"), ("17", "unverifiable"),
    ]  # fmt: skip
    assert await differences(folder) == [None]


async def test_the_report_of_a_chat_tells_the_conversation_with_its_figures_marked(data: Path) -> None:
    said = "There are 60 rows in a.csv, and <b>17.25</b> is no figure of mine; see also results/none.png."
    _, _, folder = await talked(data, [LOOK, end(said), end(said)], ["how <i>many</i>?"])
    page = (folder.path / "report.html").read_text("utf-8")
    _, _, talk = page.partition('<section id="conversation"')
    talk, _, _ = talk.partition("</section>")
    assert "how &lt;i&gt;many&lt;/i&gt;?" in talk
    assert "(verified)" in talk
    assert "(unverifiable)" in talk
    assert "It cites results/none.png, which was neither listed" in talk
    assert "&lt;b&gt;" in talk
    assert "<b>17.25" not in page
    assert '<section id="answer" aria-labelledby="answer-title" hidden>' in page


async def test_an_answer_that_is_mended_is_good(data: Path) -> None:
    [answered], _, folder = await talked(data, [end("See b.csv."), LOOK, end("See a.csv.", ["a.csv"])])
    assert answered.status == "success"
    assert [(file.path, file.known) for file in answered.files] == [("a.csv", "listed")]
    assert await differences(folder) == [None]


async def test_a_run_is_one_of_its_own_and_its_figures_count(data: Path) -> None:
    ask = turn(("research", {"objective": "mean of Au", "data": ["a.csv"]}), turn_id="ask")
    claim = {"path": "a.csv", "statistic": "mean", "column": "Au", "value": 7.030531}
    wrong = {"path": "a.csv", "statistic": "max", "column": "Au", "value": 8.5}
    lead = ScriptedModel(lead_says("The mean is 7.0305 and the maximum 8.5.", claims=[claim, wrong]))
    answer = end("The mean is 7.0305, the maximum 8.5.")
    [answered], model, folder = await talked(data, [ask, answer], models={"lead": lead}, pins={"unit": "ppm"})
    run = open_run(find_run(answered.runs[0], Workspace(data)))
    assert run.about["asked_by"] == folder.run_id
    assert run.about["pins"] == {"unit": "ppm"}
    assert '"run_id":"' + answered.runs[0] in results_in(model)[0]
    assert {figure.text: figure.verdict for figure in answered.figures} == {"7.0305": "verified", "8.5": "refuted"}
    assert "8.5 is refuted" in answered.warnings[0]
    assert await differences(folder) == [None]


async def test_earlier_turns_are_seen_and_older_ones_counted(data: Path) -> None:
    count = limits.CHAT_HISTORY_TURNS + 2
    turns = [end(f"answer {n}", turn_id=f"e{n}") for n in range(count)]
    answers, model, folder = await talked(data, turns, [f"question {n}" for n in range(count)])
    assert [each.number for each in answers] == list(range(1, count + 1))
    last = model.requests[-1].messages[0].content[0].text  # type: ignore[union-attr]
    assert "[1 earlier turns are left out]" in last
    assert f"The user: question {count - 2}\nYou: answer {count - 2}" in last
    assert "question 0" not in last
    assert await differences(folder) == [None]
    assert await asyncio.to_thread(lead_request, open_run(folder)) == model.requests[-1]


async def test_a_conversation_goes_on_in_another_and_knows_its_files_and_figures(data: Path) -> None:
    _, _, first = await talked(data, [LOOK, end("There are 60 rows in a.csv.")], ["how many?"])
    [answered], model, second = await talked(data, [end("As said, 60 in a.csv.")], ["again?"], earlier=first)
    assert answered.status == "success"
    assert answered.figures[0].verdict == "verified"
    assert "There are 60 rows in a.csv." in sent(second)[0]
    assert open_run(second).about["continues"] == first.run_id
    assert await differences(second) == [None]
    _, _, third = await talked(data, [end("x")], ["more?"], earlier=second)
    assert "how many?" in sent(third)[0]
    assert "again?" in sent(third)[0]
    assert model.requests


async def test_only_a_chat_is_gone_on_with(data: Path) -> None:
    ask = turn(("research", {"objective": "look"}), turn_id="ask")
    [answered], _, _ = await talked(data, [ask, end()], models={"lead": ScriptedModel(lead_says())})
    run = find_run(answered.runs[0], Workspace(data))
    with pytest.raises(UsageError, match="is no chat but a run"):
        await talked(data, [end()], earlier=run)


async def test_what_cannot_be_asked_or_attached_is_an_error_and_the_conversation_goes_on(data: Path) -> None:
    model = ScriptedModel([end("fine")])
    async with Chat(workspace=data, launcher=warm(), model={"chat": model}) as chat:
        for bad in ("", " \n", "x" * (limits.OBJECTIVE_CHARS + 1)):
            with pytest.raises(ObjectiveError):
                await chat.ask(bad)
        with pytest.raises(PathError):
            await chat.attach(["none.md"])
        assert (await chat.ask("well?")).answer == "fine"


async def test_a_model_that_fails_is_an_answer_of_error(data: Path) -> None:
    answers, _, folder = await talked(data, [end("one")], ["a", "b"])
    assert [each.status for each in answers] == ["success", "error"]
    assert "the script has no turn 2" in answers[1].errors[0]
    assert await differences(folder) == [None]


async def test_cancelling_ends_the_run_with_its_processes_and_the_conversation_goes_on(data: Path) -> None:
    begun = asyncio.Event()

    class Waits:
        name, is_free = "waits", True

        async def create(self, request: Any) -> Any:
            begun.set()
            await asyncio.Event().wait()

    work = ("dispatch", {"specialist": "analytics", "objective": "look", "data": ["a.csv"]})
    lead = ScriptedModel(lead_says("x", work))
    ask = turn(("research", {"objective": "look", "data": ["a.csv"]}), turn_id="ask")
    model = ScriptedModel([ask, end("still here")])
    async with Chat(workspace=data, launcher=warm(), model={"chat": model, "lead": lead, "analytics": Waits()}) as chat:
        task = asyncio.create_task(chat.ask("look"))
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        run = open_run(find_run(chat.runs[0], Workspace(data)))
        assert run.answer is not None
        assert run.answer.status == "cancelled"
        assert [outcome.status for outcome in run.outcomes] == ["cancelled"]
        assert (await chat.ask("are you there?")).answer == "still here"
        folder = chat.folder
        assert [(each.number, each.status) for each in chat.turns] == [(1, "cancelled"), (2, "success")]
    assert "(no answer: cancelled)" in sent(folder)[-1]
    assert [body["answered"]["status"] for body in open_run(folder).events("chat_answer")] == ["cancelled", "success"]
    assert await differences(folder) == [None]


async def test_spending_counts_the_runs_too(data: Path) -> None:
    async with Chat(workspace=data, launcher=warm(), model=ScriptedModel([end()])) as chat:
        assert chat.spending() is None
        budget = chat._open_desk.shared.budget
        await budget.reserve(Amount(Decimal(1), 5), "a call of a run")
        budget.settle(Amount(Decimal(1), 5), Amount(Decimal("0.5"), 4))
        spent = chat.spending()
    assert spent == {"with_runs": {"spent_usd": "0.5", "spent_tokens": 4}}


async def test_a_run_of_the_chat_asks_whoever_answers_for_the_user(data: Path) -> None:
    asked: list[str] = []

    def answers(question: GapQuestion) -> bool:
        asked.append(question.requirement)
        return False

    gap = {"capability": "read it", "package": "tinypack", "manager": "pip", "reason": "it is LAS"}
    lacks = turn(("complete", {"status": "capability_gap", "summary": "lacks it", "gap": gap}), turn_id="s")
    work = ("dispatch", {"specialist": "analytics", "objective": "look", "data": ["a.csv"]})
    models = {"lead": ScriptedModel(lead_says("done", work)), "analytics": ScriptedModel([lacks])}
    ask = turn(("research", {"objective": "look"}), turn_id="r")
    await talked(data, [ask, end()], models=models, on_gap=answers)
    assert asked == ["tinypack"]


async def test_runs_for_one_message_are_bounded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHAT_RUNS", 1)
    asks = [turn(("research", {"objective": f"look {n}"}), turn_id=f"t{n}") for n in range(limits.CHAT_RUNS + 1)]
    lead = ScriptedModel([told for _ in range(limits.CHAT_RUNS) for told in lead_says()])
    [answered], model, _ = await talked(data, [*asks, end()], models={"lead": lead})
    assert len(answered.runs) == limits.CHAT_RUNS
    assert "runs were begun for this message" in results_in(model)[0]
