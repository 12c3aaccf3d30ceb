"""The offline model states a claim where an objective asks after a relation, and judges it by what was found."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from outcrop import Run
from outcrop.models.offline.judging import judged
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.relations import COMPARE, CORRELATE, REGRESS, asked_direction
from outcrop.models.offline.supposing import entries_of, supposed, undecided
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import RunOutcome

ROCKS = ("granite", "shale", "basalt")


@pytest.fixture
def table(workspace: Path) -> str:
    """Zn goes with Cu and with the depth, Cu differs by rock; noise has to do with nothing."""
    draw = random.Random(7)
    lines = ["sample,From_m,To_m,rock,Cu_ppm,Zn_ppm,noise_ppm"]
    for number in range(120):
        rock = number % 3
        copper = 50 + 30 * rock + draw.random() * 20
        lines.append(
            f"s{number},{number},{number + 1},{ROCKS[rock]},{copper:.2f},{2 * copper + number:.2f},{draw.random():.3f}"
        )
    (workspace / "holes.csv").write_text("\n".join(lines) + "\n")
    return "holes.csv"


def run(workspace: Path, objective: str, table: str) -> RunOutcome:
    return Run(objective, data=[table], workspace=workspace, model="offline").start_sync()


def figures_of(outcome: RunOutcome, held: Hypothesis) -> dict[str, str]:
    """The figures of a hypothesis's evidence with their verdicts."""
    return {each.text: each.verdict for each in outcome.figures if each.where.startswith(f"hypotheses[{held.id}]")}


def test_a_correlation_a_difference_and_a_trend_are_claims_with_evidence_of_their_dispatches(
    workspace: Path, table: str
) -> None:
    objective = (
        "Correlate Cu_ppm with Zn_ppm. Does Cu_ppm differ between rock types? Is there a trend of Zn_ppm with depth?"
    )
    outcome = run(workspace, objective, table)
    pair, groups, trend = outcome.hypotheses
    assert [held.claim for held in outcome.hypotheses] == [
        "Cu_ppm and Zn_ppm are correlated beyond chance, in holes.csv",
        "Cu_ppm differs beyond chance between the groups of rock, in holes.csv",
        "Zn_ppm changes with From_m beyond chance, in holes.csv",
    ]
    assert {held.status for held in outcome.hypotheses} == {"supported"}
    for held in (pair, groups, trend):
        [evidence] = held.evidence_for
        assert (evidence.by, held.evidence_against) == ("specialist", [])
        assert evidence.dispatch_id in {line.dispatch_id for line in outcome.dispatches}
    assert "verified" in figures_of(outcome, pair).values()
    medians = [text for text in figures_of(outcome, groups) if "e-" not in text]
    assert [figures_of(outcome, groups)[text] for text in medians] == ["verified"] * len(ROCKS)
    assert "verified" in figures_of(outcome, trend).values()
    assert all("refuted" not in figures_of(outcome, held).values() for held in outcome.hypotheses)
    assert any("depth is taken as From_m, the top of each interval" in finding for finding in outcome.findings)
    record = open_run(RunFolder(Path(outcome.run_folder)))
    assert {checked.difference for checked in verify(record)} == {None}
    assert "are correlated beyond chance" in (record.folder.path / "report.html").read_text()


def test_what_is_not_found_speaks_against_the_claim(workspace: Path, table: str) -> None:
    [held] = run(workspace, "is there a correlation between Cu_ppm and noise_ppm?", table).hypotheses
    assert (held.status, held.confidence, held.evidence_for) == ("refuted", "low", [])
    assert "no more than chance gives" in held.evidence_against[0].text


def test_the_same_objective_has_the_same_claims_evidence_and_verdicts(workspace: Path, table: str) -> None:
    def said() -> list[Any]:
        outcome = run(workspace, "Does Cu_ppm differ between rock types?", table)
        return [
            (held.claim, held.status, held.confidence, [each.text for each in held.evidence_for])
            for held in outcome.hypotheses
        ]

    first = said()
    assert first == said()
    assert len(first) == 1


@pytest.mark.parametrize(
    "objective",
    ["summarise Cu_ppm by rock", "plot a histogram of Cu_ppm", "correlation matrix of all measured columns"],
)
def test_an_objective_that_asks_after_no_relation_of_two_columns_states_none(
    workspace: Path, table: str, objective: str
) -> None:
    outcome = run(workspace, objective, table)
    assert outcome.status == "success", outcome.blockers
    assert outcome.hypotheses == []


def test_a_claim_that_could_not_be_tested_is_dropped(workspace: Path) -> None:
    (workspace / "flat.csv").write_text("Cu_ppm,Zn_ppm\n" + "1,2\n" * 20)
    [held] = run(workspace, "correlate Cu_ppm with Zn_ppm", "flat.csv").hypotheses
    assert (held.status, held.evidence_for, held.evidence_against) == ("dropped", [], [])


def test_the_groups_are_what_is_no_number_whatever_was_named_first() -> None:
    profile = Profile("t.csv", (Column("rock", "text"), Column("Cu", "float"), Column("Zn", "float")))
    assert supposed(COMPARE, ("rock", "Cu"), profile, "t.csv") == supposed(COMPARE, ("Cu", "rock"), profile, "t.csv")
    assert supposed(CORRELATE, ("Zn", "Cu"), profile, "t.csv") == supposed(CORRELATE, ("Cu", "Zn"), profile, "t.csv")
    assert supposed(CORRELATE, ("Zn", "Cu", "rock"), profile, "t.csv") is None
    assert supposed("summarize", ("Zn", "Cu"), profile, "t.csv") is None


PAIR: dict[str, Any] = {"x": "a", "y": "b", "r": 0.5, "p_value": 0.001, "n": 40}
LINE: dict[str, Any] = {
    "y": "a",
    "n": 40,
    "r_squared": 0.25,
    "coefficients": {"(intercept)": {"estimate": 1.0}, "b": {"estimate": -2.0, "p": 0.3}},
}


@pytest.mark.parametrize(
    ("tool", "results"),
    [
        (CORRELATE, {"pairs": 3, "method": "pearson", "strongest": [PAIR] * 3}),
        (CORRELATE, {"pairs": 1, "method": "pearson", "strongest": []}),
        (CORRELATE, {"pairs": 1, "method": "pearson", "strongest": [{**PAIR, "p_value": None}]}),
        (CORRELATE, {"pairs": 1, "method": "pearson", "strongest": [{**PAIR, "p_value": float("nan")}]}),
        (COMPARE, {"column": "a", "by": "g", "test": {"kruskal_p": None}}),
        (COMPARE, {"column": "a", "by": "g", "test": "(3 rows, not for the lead)"}),
        (REGRESS, {"y": "a", "by": "g", "by_group": {}}),
        (REGRESS, {**LINE, "coefficients": {**LINE["coefficients"], "c": {"estimate": 1.0, "p": 0.1}}}),
        ("summarize", {"column": "a"}),
        (CORRELATE, {}),
    ],
)
def test_results_that_test_no_single_claim_say_nothing(tool: str, results: dict[str, Any]) -> None:
    assert judged(tool, results, "t.csv") is None


def test_what_is_said_is_what_the_figures_say() -> None:
    found = judged(CORRELATE, {"pairs": 1, "method": "spearman", "strongest": [PAIR]}, "d/t.csv")
    assert found
    assert found.said == "Spearman's rho of a and b is 0.5, more than chance gives (p 0.001)"
    assert (found.side, found.confidence, found.claim) == (
        "supports",
        "medium",
        "a and b are correlated beyond chance, in t.csv",
    )
    line = judged(REGRESS, LINE, "t.csv")
    assert line
    assert line.side == "contradicts"
    assert "Pearson's r of a and b is -0.5, slope -2 of a on b" in line.said
    robust = {"y": "a", "coefficients": {"(intercept)": {"estimate": 1.0}, "b": {"estimate": 2.0, "ci": [1.5, 2.5]}}}
    told = judged(REGRESS, robust, "t.csv")
    assert told
    assert (told.side, told.p_value, told.confidence) == ("supports", None, "low")
    tiny = judged(CORRELATE, {"pairs": 1, "method": "pearson", "strongest": [{**PAIR, "p_value": 0.0}]}, "t.csv")
    assert tiny
    assert "p below 1e-300" in tiny.said


def groups(*counts: int) -> dict[str, Any]:
    by_group = {f"g{number}": {"n": count, "median": 1.0} for number, count in enumerate(counts)}
    return {"column": "a", "by": "g", "by_group": by_group, "test": {"kruskal_p": 0.6}}


@pytest.mark.parametrize(
    ("tool", "few", "enough"),
    [
        (
            CORRELATE,
            *({"pairs": 1, "method": "pearson", "strongest": [{**PAIR, "p_value": 0.2, "n": n}]} for n in (27, 28)),
        ),
        (REGRESS, {**LINE, "n": 27}, {**LINE, "n": 28}),
        (COMPARE, groups(25, 25), groups(26, 26)),
        (COMPARE, groups(13, 1_000), groups(20, 40)),
        (COMPARE, groups(20, 20, 20), groups(21, 21, 21)),
        (COMPARE, groups(30), groups(30, 30)),
    ],
)
def test_what_is_not_found_speaks_against_a_claim_only_where_there_were_rows_enough(
    tool: str, few: dict[str, Any], enough: dict[str, Any]
) -> None:
    told, decided = judged(tool, few, "t.csv"), judged(tool, enough, "t.csv")
    assert told
    assert decided
    assert (told.side, decided.side) == (None, "contradicts")
    assert "too few rows" in told.said
    names = {"h1": told.claim, "h2": "something else"}
    assert entries_of(names, [told]) == {}
    assert undecided(names, [told]) == [f"h1: {told.said}"]
    assert undecided(names, [decided]) == []


def test_four_rows_refute_nothing_and_the_reader_is_told_why(workspace: Path) -> None:
    (workspace / "few.csv").write_text("Cu_ppm,Zn_ppm\n1,2\n2,9\n3,6\n4,12\n")
    outcome = run(workspace, "Is Cu_ppm correlated with Zn_ppm?", "few.csv")
    [held] = outcome.hypotheses
    assert (held.status, held.evidence_for, held.evidence_against) == ("dropped", [], [])
    assert any("h1: Pearson's r" in finding and "too few rows" in finding for finding in outcome.findings)


@pytest.mark.parametrize(
    ("objective", "claim", "status"),
    [
        ("Does Cu_ppm increase with depth_m?", "Cu_ppm increases with depth_m", "refuted"),
        ("Does Cu_ppm decrease with depth_m?", "Cu_ppm decreases with depth_m", "supported"),
        ("Is there a trend of Cu_ppm with depth_m?", "Cu_ppm changes with depth_m", "supported"),
    ],
)
def test_a_direction_that_is_asked_after_stands_in_the_claim_and_is_judged(
    workspace: Path, objective: str, claim: str, status: str
) -> None:
    lines = [f"{depth},{100 - depth + depth % 7}" for depth in range(60)]
    (workspace / "falls.csv").write_text("depth_m,Cu_ppm\n" + "\n".join(lines) + "\n")
    [held] = run(workspace, objective, "falls.csv").hypotheses
    assert held.claim == f"{claim} beyond chance, in falls.csv"
    assert (held.status, held.confidence) == (status, "high")


@pytest.mark.parametrize(
    ("tool", "clause", "is_rising"),
    [
        (REGRESS, "does it rise with depth", True),
        (REGRESS, "does it increase or decrease", None),
        (REGRESS, "check that it does not increase", None),
        (CORRELATE, "are they negatively correlated", False),
        (CORRELATE, "drop rows and correlate", None),
        (COMPARE, "does it increase between groups", None),
    ],
)
def test_a_direction_is_what_the_words_say_and_nothing_where_they_say_both(
    tool: str, clause: str, is_rising: bool | None
) -> None:
    assert asked_direction(tool, clause) is is_rising


def test_where_most_results_are_below_a_limit_confidence_is_low_and_that_is_said(workspace: Path) -> None:
    lines = [f"{'<5' if row % 3 else 20 + row},{row + (0 if row % 3 else 60)}" for row in range(90)]
    (workspace / "below.csv").write_text("Au_ppb,Zn_ppm\n" + "\n".join(lines) + "\n")
    [held] = run(workspace, "Is Au_ppb correlated with Zn_ppm?", "below.csv").hypotheses
    assert (held.status, held.confidence) == ("supported", "low")
    assert "Au_ppb: 60 below 5 of 90 results: what stands for these decides" in held.evidence_for[0].text
