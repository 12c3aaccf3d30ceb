"""The figures of an answer are computed again from their tables, and a run says what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.figures import trace, valid_claims
from outcrop.models.scripted import turn
from outcrop_schemas.claims import CheckedClaim, Claim

TABLE = "hole,Cu\n" + "".join(f"{'ab'[i % 2]},{i}.5\n" for i in range(40))
MEAN = 20.0


async def answered(workspace: Path, model: Any, objective: str = "mean of Cu") -> Any:
    (workspace / "t.csv").write_text(TABLE)
    return await Run(objective, data=["t.csv"], workspace=workspace, launcher=warm(), model=model).start()


def test_claims_of_another_form_are_passed_over_with_a_warning() -> None:
    good = {"path": "t.csv", "statistic": "rows", "value": 40}
    claims, said = valid_claims([good, {"path": "t.csv", "statistic": "guess", "value": 1}, "rows"])
    assert claims == [Claim.model_validate(good)]
    assert said[0].startswith("2 of 3 claims are not of their form")
    assert valid_claims([good]) == (claims, [])


def test_a_figure_is_traced_to_a_claim_of_its_value_and_others_are_unverifiable() -> None:
    mean = {"path": "t.csv", "statistic": "mean", "column": "Cu"}
    checked = [
        CheckedClaim(**mean, value=20.0, verdict="verified", actual=20.0),
        CheckedClaim(**mean, value=21.5, verdict="refuted", actual=20.0, reason="the table has 20.0"),
    ]
    found = trace({"summary": "mean 20.0, not 21.5, of 7 holes"}, checked)
    assert [(figure.text, figure.verdict, figure.claim) for figure in found] == [
        ("20.0", "verified", 0),
        ("21.5", "refuted", 1),
        ("7", "unverifiable", None),
    ]


def test_a_value_that_another_thing_has_too_verifies_nothing_else() -> None:
    def checked(statistic: str, value: float, verdict: str, column: str | None = "Cu") -> CheckedClaim:
        told = {"path": "t.csv", "statistic": statistic, "column": column, "value": value, "verdict": verdict}
        return CheckedClaim.model_validate(told)

    claims = [
        checked("rows", 40, "verified", None),
        checked("min", 40, "refuted"),
        checked("min", 0, "verified", "Ni"),
        checked("mean", 5, "refuted"),
        checked("mean", 5, "verified", "Ni"),
        checked("sum", 7, "refuted"),
    ]
    text = (
        "40 rows with a minimum of 40; 0 rows removed, p value 0; Cu: mean 5. Ni: mean 5, min 0. 7 it is, for 40 euro"
    )
    assert [(each.text, each.verdict, each.claim) for each in trace({"summary": text}, claims)] == [
        ("40", "verified", 0),
        ("40", "refuted", 1),
        ("0", "unverifiable", None),
        ("0", "unverifiable", None),
        ("5", "refuted", 3),
        ("5", "verified", 4),
        ("0", "verified", 2),
        ("7", "refuted", 5),
        ("40", "unverifiable", None),
    ]


async def test_a_run_with_the_offline_model_verifies_what_it_reports(workspace: Path) -> None:
    outcome = await answered(workspace, "offline")
    assert outcome.status == "success"
    verified = {(claim.statistic, claim.value) for claim in outcome.claims if claim.verdict == "verified"}
    assert ("mean", MEAN) in verified
    assert any(figure.text == "20" and figure.verdict == "verified" for figure in outcome.figures)
    assert not any(figure.verdict == "refuted" for figure in outcome.figures)


@pytest.mark.parametrize(("value", "status", "verdict"), [(20.0, "success", "verified"), (23.0, "partial", "refuted")])
async def test_a_refuted_figure_of_the_lead_makes_its_answer_partial(
    workspace: Path, value: float, status: str, verdict: str
) -> None:
    claim = {"path": "t.csv", "statistic": "mean", "column": "Cu", "value": value}
    said = {"status": "success", "summary": f"Cu has a mean of {value}", "claims": [claim]}
    model = ScriptedModel([turn(("complete", said))])
    outcome = await answered(workspace, model)
    assert outcome.status == status
    assert [claim.verdict for claim in outcome.claims] == [verdict]
    assert outcome.figures[0].verdict == verdict
    assert any("refuted" in warning for warning in outcome.warnings) is (verdict == "refuted")
    assert json.loads(outcome.model_dump_json())["claims"][0]["actual"] == MEAN
