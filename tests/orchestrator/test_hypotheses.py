"""Hypotheses: what the lead states and cites, what completions enter, what code refuses; a replay has the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.again import run_again
from outcrop.cli.output import report_run
from outcrop.comparing import compare
from outcrop.hypotheses import Hypotheses, HypothesisArguments, hypotheses_of
from outcrop.models.scripted import turn
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import lead_request, verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.messages import ModelRequest, ModelResponse, TextBlock, ToolResultBlock
from outcrop_schemas.outcome import Outcome, RunOutcome
from outcrop_schemas.protocol import Evidence

CLAIM = "Cu goes with Au"


def outcome_of(
    number: int = 1, status: str = "success", evidence: dict[str, Any] | None = None, **more: Any
) -> Outcome:
    fields = {"summary": "r = 0.712 of 40 rows", "findings": ["Cu rises with Au"], **more}
    return Outcome.model_validate(
        {
            "dispatch_id": f"d{number:04}-{'0' * 16}",
            "specialist": "analytics",
            "objective": "correlate",
            "status": status,
            "evidence": evidence or {},
            "started_at": "2026-01-01T00:00:00Z",
            "duration_s": 1.0,
            **fields,
        }
    )


FIRST = outcome_of().dispatch_id


def held_after(*outcomes: Outcome, claim: str = CLAIM) -> Hypotheses:
    held = Hypotheses()
    ask(held, claim=claim)
    for outcome in outcomes:
        held.take(outcome)
    return held


def ask(held: Hypotheses, **arguments: Any) -> Hypothesis:
    return held.changed(HypothesisArguments.model_validate(arguments))


def cite(text: str | None = None, dispatch_id: str = FIRST, **more: Any) -> dict[str, Any]:
    return {"dispatch_id": dispatch_id, **({"text": text} if text else {}), **more}


# --- what code refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"claim": " \n "}, "a new hypothesis needs a claim"),
        ({}, "a new hypothesis needs a claim"),
        ({"claim": CLAIM.upper()}, "h1 says so already"),
        ({"claim": "another", "parent": "h7"}, "no hypothesis 'h7'; there are h1"),
        ({"id": "h7", "status": "dropped"}, "no hypothesis 'h7'"),
        ({"id": "h1", "claim": "other words"}, "a claim stays as it was stated"),
        ({"id": "h1", "status": "supported"}, "h1 has no evidence_for, so it cannot be supported"),
        ({"id": "h1", "status": "refuted", "evidence_for": [cite("it rises")]}, "h1 has no evidence_against"),
        ({"id": "h1", "status": "revised"}, "no hypothesis has h1 as its parent"),
        (
            {"id": "h1", "evidence_for": [cite("it rises", "d0009-x")]},
            "no dispatch 'd0009-x' has ended; there are d0001",
        ),
        ({"id": "h1", "evidence_for": [cite("it rises", outcome_of(2).dispatch_id)]}, "ended with error"),
        ({"id": "h1", "evidence_for": [cite("r is 0.93")]}, "0.93 does not stand in the outcome of d0001"),
        ({"id": "h1", "evidence_against": [cite("41 rows")]}, "41 does not stand in the outcome of d0001"),
        ({"id": "h1", "evidence_for": [cite()]}, "either a text or an entry"),
        ({"id": "h1", "evidence_for": [cite("x", entry="findings[0]")]}, "either a text or an entry"),
        ({"id": "h1", "evidence_for": [cite(entry="findings[1]")]}, r"has no 'findings\[1\]'; it has 1 findings"),
        ({"id": "h1", "evidence_for": [cite(entry="summary")]}, "has no 'summary'"),
    ],
)
def test_what_the_record_does_not_bear_is_refused_and_changes_nothing(arguments: dict[str, Any], words: str) -> None:
    held = held_after(outcome_of(), outcome_of(2, "error"))
    before = held.all()
    with pytest.raises(ArgumentError, match=words):
        ask(held, **arguments)
    assert held.all() == before


@pytest.mark.parametrize("text", ["r = 0.712", "r is 0.71 of 40 rows", "it rises", "p of 3.2e-5", "71 %", "+0.712"])
def test_a_figure_that_stands_in_the_outcome_may_be_cited_rounded(text: str) -> None:
    found = {"p": 3.2e-5, "table": {"share": [0.71]}, "is_good": True}
    held = held_after(outcome_of(results=found))
    made = ask(held, id="h1", status="supported", confidence="high", evidence_for=[cite(text)])
    assert (made.status, made.confidence, made.evidence_for[0].text) == ("supported", "high", text)
    assert made.evidence_for[0].by == "lead"


def test_an_entry_of_an_outcome_is_cited_word_for_word() -> None:
    held = held_after(outcome_of(evidence={"contradicts": ["not below 3 ppm"]}))
    made = ask(held, id="h1", status="refuted", evidence_against=[cite(entry="evidence.contradicts[0]")])
    assert made.evidence_against[0].text == "not below 3 ppm"


def test_one_that_gave_way_names_no_more_than_the_one_that_came_of_it() -> None:
    held = held_after()
    ask(held, claim="Cu goes with Au in quartz", parent="h1")
    assert ask(held, id="h1", status="revised").status == "revised"
    assert [(one.id, one.parent) for one in held.all()] == [("h1", None), ("h2", "h1")]


def test_claims_and_evidence_are_bounded() -> None:
    held = held_after(outcome_of())
    for number in range(limits.HYPOTHESES - 1):
        ask(held, claim=f"claim {number}")
    with pytest.raises(ArgumentError, match="there are 20 hypotheses already"):
        ask(held, claim="one more")
    for word in "abcdefghij":
        ask(held, id="h1", evidence_for=[cite(word)])
    with pytest.raises(ArgumentError, match="10 entries are kept, 10 are there"):
        ask(held, id="h1", evidence_for=[cite("k")])
    assert len(ask(held, id="h1", evidence_for=[cite("a")]).evidence_for) == limits.HYPOTHESIS_EVIDENCE


# --- what completions enter -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("h1: r = 0.7", "r = 0.7"),
        ("[h1] — it rises", "it rises"),
        ('{"hypothesis":"h1","text":"it rises"}', "it rises"),
        ('{"hypothesis":"h1","r":0.7}', '{"hypothesis":"h1","r":0.7}'),
    ],
)
def test_evidence_that_names_its_hypothesis_is_entered_with_its_dispatch(entry: str, text: str) -> None:
    held = held_after(outcome_of(evidence={"supports": [entry, entry]}))
    [one] = held.all()
    assert [(each.dispatch_id, each.text, each.by) for each in one.evidence_for] == [(FIRST, text, "specialist")]
    assert one.status == "active"


@pytest.mark.parametrize(
    "entry", ["it rises", "h7: it rises", "h1", "h1:", "{", '{"hypothesis":1}', "[]", '{"text":"h1: a"}', "hh1: a", ""]
)
def test_evidence_that_names_none_stands_in_its_outcome_only(entry: str) -> None:
    held = held_after(outcome_of(evidence={"supports": [entry], "contradicts": [entry]}))
    [one] = held.all()
    assert (one.evidence_for, one.evidence_against) == ([], [])


def test_nothing_of_a_dispatch_that_failed_is_entered() -> None:
    said = {"supports": ["h1: a"], "new_hypotheses": ["b"]}
    held = held_after(*(outcome_of(n, status, said) for n, status in enumerate(("error", "timeout", "capability_gap"))))
    assert [(one.claim, one.evidence_for) for one in held.all()] == [(CLAIM, [])]


def test_proposals_are_open_until_the_lead_takes_them_up_and_bounded() -> None:
    said = {"new_hypotheses": ['{"claim":"Zn\\n follows Pb"}', CLAIM.lower(), *(f"proposal {n}" for n in range(30))]}
    held = held_after(outcome_of(evidence=said))
    assert [(one.claim, one.status, one.proposed_by) for one in held.all()][1] == ("Zn follows Pb", "open", FIRST)
    assert len(held.all()) == 1 + limits.HYPOTHESES_PROPOSED
    assert ask(held, id="h2", status="active").status == "active"


def test_dispatches_of_a_turn_are_taken_in_their_order_however_they_ended() -> None:
    both = [outcome_of(n, evidence={"new_hypotheses": [f"of {n}"]}) for n in (1, 2)]
    assert held_after(*both).all() == held_after(*reversed(both)).all()


# --- what the lead sees -----------------------------------------------------------------------------------------------


def test_they_are_shown_with_their_evidence_and_beyond_the_limit_counted() -> None:
    held = held_after(outcome_of(evidence={"supports": ["h1: \x1b[31mred\u202e\nand so on"]}))
    text = held.render() or ""
    assert "h1 [active, low, 1 for, 0 against] Cu goes with Au\n  for d0001-" in text
    assert "\\x1b[31mred\\u202e and so on" in text
    for number in range(limits.HYPOTHESES - 1):
        ask(held, claim=f"{number}" + "x" * 290, evidence_for=[cite(word * 300) for word in "abcdefghij"])
    text = held.render() or ""
    assert "1 for, 0 against" in text
    assert "  for " not in text
    assert len(text) < limits.HYPOTHESES_SHOWN_CHARS
    assert Hypotheses().render() is None


# --- in a run ---------------------------------------------------------------------------------------------------------

CSV = "Au,Cu\n1,10\n2,20\n3,31\n"


def done(evidence: dict[str, Any], summary: str = "r = 0.9995 of 3 rows") -> ModelResponse:
    end = {"status": "success", "summary": summary, "results": {"r": 0.9995}, "evidence": evidence}
    return turn(("complete", end), turn_id="s")


def dispatch(objective: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("dispatch", {"specialist": "analytics", "objective": objective, "data": ["a.csv"], **more})


def supporting(request: ModelRequest) -> ModelResponse:
    """The lead's turn that cites the dispatch that it was told of."""
    _, result = [block for block in request.messages[-1].content if isinstance(block, ToolResultBlock)]
    name = json.loads(result.content)["dispatch_id"]
    given = {"id": "h1", "status": "supported", "confidence": "medium", "evidence_for": [cite("r = 0.9995", name)]}
    return turn(("hypothesis", given), ("hypothesis", {"id": "h2", "status": "dropped"}), turn_id="l3")


LEAD: list[Any] = [
    turn(("hypothesis", {"claim": CLAIM}), dispatch("correlate", hypotheses=["h1"]), turn_id="l1"),
    supporting,
    turn(("hypothesis", {"id": "h1", "status": "refuted"}), turn_id="l4"),
    turn(("complete", {"status": "success", "summary": "they go together"}), turn_id="l5"),
]


async def a_run(workspace: Path, lead: list[Any] | None = None, **more: Any) -> tuple[RunOutcome, Any, Any]:
    (workspace / "a.csv").write_text(CSV)
    said = {"supports": ["h1: they rise together", "nothing named"], "new_hypotheses": ["Cu is bound to pyrite"]}
    models = {"lead": ScriptedModel(lead or LEAD), "analytics": ScriptedModel([done(said)], name="analyst")}
    outcome = await Run(
        "does Cu go with Au", ["a.csv"], workspace=workspace, launcher=warm(), model=models, **more
    ).start()
    return outcome, models["lead"], models["analytics"]


def record_of(outcome: RunOutcome) -> RunRecord:
    return open_run(RunFolder(Path(outcome.run_folder)))


async def test_a_run_keeps_its_hypotheses_and_a_replay_has_the_same(workspace: Path) -> None:
    outcome, lead, analyst = await a_run(workspace)
    first, second = outcome.hypotheses
    assert (first.claim, first.status, first.confidence) == (CLAIM, "supported", "medium")
    assert [(each.text, each.by) for each in first.evidence_for] == [
        ("they rise together", "specialist"),
        ("r = 0.9995", "lead"),
    ]
    assert (second.claim, second.status, second.proposed_by) == (
        "Cu is bound to pyrite",
        "dropped",
        outcome.dispatches[0].dispatch_id,
    )
    told = lead.requests[-1].messages[-1].content
    assert "h1 has no evidence_against, so it cannot be refuted" in told[0].content
    history, hypotheses = (block.text for block in told if isinstance(block, TextBlock))
    assert history.startswith("Dispatches so far")
    assert "h1 [supported, medium, 2 for, 0 against] Cu goes with Au" in hypotheses
    assert '"hypotheses":{"h1":"Cu goes with Au"}' in str(analyst.requests[0].messages)
    record = record_of(outcome)
    checked = await asyncio.to_thread(verify, record)
    assert [one.difference for one in checked] == [None, None]
    assert (record.answer.hypotheses if record.answer else None) == hypotheses_of(record) == outcome.hypotheses
    rebuilt = await asyncio.to_thread(lead_request, record)
    assert "h1 [supported" in str(rebuilt.messages)


async def test_a_figure_in_evidence_is_traced_as_one_of_the_answer(workspace: Path) -> None:
    outcome, _, _ = await a_run(workspace)
    places = {figure.where: figure.text for figure in outcome.figures}
    assert places == {"hypotheses[h1].evidence_for[1]": "0.9995"}


async def test_a_dispatch_that_tests_what_nobody_stated_is_refused(workspace: Path) -> None:
    end = turn(("complete", {"status": "partial", "summary": "no"}), turn_id="e")
    outcome, lead, _ = await a_run(workspace, [turn(dispatch("correlate", hypotheses=["h3"]), turn_id="l"), end])
    assert outcome.dispatches == []
    assert "there is no hypothesis 'h3'; there are none" in lead.requests[-1].messages[-1].content[0].content


async def test_they_stand_in_every_request_of_the_lead_after_a_checkpoint(workspace: Path) -> None:
    account = {"done": "stated it", "state": "as it was", "remains": "the end"}
    end = turn(("complete", {"status": "success", "summary": "x"}), turn_id="e")
    turns = [turn(("hypothesis", {"claim": CLAIM}), turn_id="a"), turn(("checkpoint", account), turn_id="b"), end]
    outcome, lead, _ = await a_run(workspace, turns)
    assert all("h1 [active, low, 0 for, 0 against]" in str(request.messages) for request in lead.requests[1:])
    assert len(lead.requests[-1].messages) == 1
    [checked] = await asyncio.to_thread(verify, record_of(outcome))
    assert checked.difference is None


async def test_a_changed_hypothesis_in_the_record_is_found(workspace: Path) -> None:
    outcome, _, _ = await a_run(workspace)
    record = record_of(outcome)
    assert record.answer is not None
    other = record.answer.hypotheses[0].model_copy(update={"confidence": "high"})
    record.answer.hypotheses[0] = other
    answer = record.answer

    class Changed(RunRecord):
        @property
        def answer(self) -> RunOutcome | None:
            return answer.model_copy(update={"hypotheses": [other]})

    changed = Changed(record.folder, record.records, record.notices, record.is_under_way)
    lead = (await asyncio.to_thread(verify, changed))[0]
    assert (
        lead.difference == "the hypotheses of the recorded answer are not those that its dispatches and its lead made"
    )


async def test_two_runs_are_compared_by_claim(workspace: Path) -> None:
    first, _, _ = await a_run(workspace)
    end = turn(("complete", {"status": "success", "summary": "x"}), turn_id="e")
    second, _, _ = await a_run(workspace, [turn(("hypothesis", {"claim": CLAIM}), turn_id="a"), end])
    differences = {each.what: each for each in compare(record_of(first), record_of(second))}
    one = differences[f"hypothesis {CLAIM}"]
    assert (one.first, one.second) == ("supported (medium; 2 for, 0 against)", "active (low; 0 for, 0 against)")


async def test_a_run_that_is_done_again_cites_the_dispatches_of_now(workspace: Path) -> None:
    outcome, _, _ = await a_run(workspace)
    record = record_of(outcome)
    again = await run_again(record, record, Settings())
    assert again.differences == []
    assert [one.status for one in again.outcome.hypotheses] == ["supported", "dropped"]
    entries = [each for one in again.outcome.hypotheses for each in one.evidence_for]
    assert {each.dispatch_id for each in entries} == {again.outcome.dispatches[0].dispatch_id}


async def test_a_person_is_shown_claims_and_evidence(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome, _, _ = await a_run(workspace)
    report_run(outcome)
    shown = capsys.readouterr().out
    assert "Hypotheses:\n  - h1 supported, medium confidence: Cu goes with Au\n" in shown
    assert f"for ({outcome.dispatches[0].dispatch_id}): they rise together" in shown


async def test_a_run_that_was_recorded_before_there_were_any_is_read(workspace: Path) -> None:
    outcome, _, _ = await a_run(workspace)
    fields = outcome.model_dump(mode="json")
    del fields["hypotheses"]
    assert RunOutcome.model_validate(fields).hypotheses == []
    assert Evidence().new_hypotheses == []
