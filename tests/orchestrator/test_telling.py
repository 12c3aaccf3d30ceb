"""What a specialist says besides its answer: a gap, a question. It stands in the outcome, typed, and ends nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warm import warm

from outcrop import Pool, ScriptedModel
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.telling import Gap, Question, Told

GAP = {
    "capability": "variogram with anisotropy",
    "reason": "the objective asks for the range by direction",
    "package": "scikit-gstat",
    "manager": "pip",
    "fallback": "an omnidirectional one",
}
QUESTION = {"question": "Is Au in ppm or ppb?", "assumption": "ppm, as in the other files"}
COMPLETE: dict[str, Any] = {"status": "partial", "summary": "Done without directions.", "blockers": ["no directions"]}


async def outcome_of(workspace: Path, *turns: Any) -> Outcome:
    model = ScriptedModel([turn(one) for one in turns])
    async with Pool(workspace=workspace, launcher=warm(), model=model) as pool:
        outcome = await pool.dispatch("analytics", "variogram of Au")
        folder = pool.run_folder
    checked = await asyncio.to_thread(lambda: verify(open_run(folder)))
    assert not [one for one in checked if one.difference], checked
    return outcome


async def test_a_gap_and_a_question_stand_in_the_outcome(workspace: Path) -> None:
    outcome = await outcome_of(workspace, ("report_gap", GAP), ("ask", QUESTION), ("complete", COMPLETE))
    assert outcome.status == "partial"
    assert outcome.gap == GAP
    assert outcome.blockers == [
        "no directions",
        "question: Is Au in ppm or ppb? (assumed meanwhile: ppm, as in the other files)",
    ]


async def test_they_are_kept_where_the_work_is_not_completed(workspace: Path) -> None:
    outcome = await outcome_of(workspace, ("report_gap", GAP), *[("complete", {})] * 5)
    assert (outcome.status, outcome.gap) == ("error", GAP)


async def test_the_gap_of_the_answer_goes_first(workspace: Path) -> None:
    own = {"capability": "kriging", "reason": "no tool does it"}
    answer = {**COMPLETE, "status": "capability_gap", "gap": own}
    outcome = await outcome_of(workspace, ("report_gap", GAP), ("complete", answer))
    assert (outcome.status, outcome.gap) == ("capability_gap", own)


@pytest.mark.parametrize("wrong", [{}, {**GAP, "manager": "brew"}, {**GAP, "more": 1}, {**GAP, "reason": ""}])
async def test_a_gap_that_is_none_is_told_by_its_field_and_mended(wrong: dict[str, Any], workspace: Path) -> None:
    outcome = await outcome_of(workspace, ("report_gap", wrong), ("report_gap", GAP), ("complete", COMPLETE))
    assert outcome.gap == GAP


@given(st.lists(st.sampled_from("abcdefghijklmn")))
def test_each_is_kept_once_and_no_more_than_there_may_be(said: list[str]) -> None:
    told = Told()
    for name in said:
        for one in (Gap(capability=name, reason="r"), Question(question=name, assumption="a")):
            try:
                told.take(one)
            except ArgumentError:
                assert len(set(said)) > limits.TOLD_ENTRIES
    distinct = list(dict.fromkeys(said))[: limits.TOLD_ENTRIES]
    assert [gap.capability for gap in told.gaps] == [one.question for one in told.questions] == distinct
    assert len(told.blockers()) == max(len(distinct) - 1, 0) + len(distinct)
