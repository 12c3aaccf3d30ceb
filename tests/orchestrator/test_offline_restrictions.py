"""Which rows are kept: the direction of a removal, both bounds of a range, and what follows a restriction."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.cards import read_roster
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.steps import Plan, make_plan
from outcrop_specialists.tools.registry import get_tool

ELEMENTS = ("Cu", "Zn", "As", "Pb")
TABLE = Profile(
    "table.csv",
    (
        Column("Longitude", "number", "longitude"),
        Column("Latitude", "number", "latitude"),
        *(Column(name, "number", "element", "ppm") for name in ELEMENTS),
        *(Column(name, "text", "category") for name in ("Species", "Island", "Sex")),
        Column("BHID", "integer", "hole_id"),
    ),
    100,
)


def plan(objective: str) -> Plan:
    description = next(tool.description for tool in lead_schemas() if tool.name == "dispatch")
    return make_plan(objective, read_roster(description), TABLE.folded_names)


def bindings(objective: str) -> list[tuple[str, Binding]]:
    """Each step of the plan: its tool and what its clause comes to."""
    return [
        (step.card.name, bind(get_tool(step.card.name).schema(), step.clause, TABLE)) for step in plan(objective).steps
    ]


def conditions(objective: str) -> list[tuple[Any, ...]]:
    """The conditions of the first step, a filter: column, operator, value, keep."""
    (tool, binding), *_ = bindings(objective)
    assert tool == "filter_rows"
    assert binding.refusals == []
    assert binding.blockers == []
    for call in binding.calls:
        get_tool(tool).arguments.model_validate(call)
    return [(call["column"], call["operator"], call.get("value"), call.get("keep")) for call in binding.calls]


@pytest.mark.parametrize(
    "objective",
    [
        "filter out samples with Zn > 100",
        "rows with Zn > 100 should be removed",
        "keep all rows except those with Zn > 100",
        "keep samples without Zn > 100",
        "remove rows with Zn > 100",
        "drop rows with Zn above 100",
        "get rid of rows with Zn > 100",
        "leave out samples with Zn > 100",
        "exclude samples with Zn > 100",
        "screen out samples with Zn > 100",
        "throw away rows with Zn > 100",
        "samples with Zn > 100 must be excluded",
        "samples where Zn is above 100 are to be dropped",
        "keep everything but the rows with Zn > 100",
        "keep rows other than those with Zn > 100",
    ],
)
def test_rows_to_be_removed_are_removed_and_rows_without_a_value_stay(objective: str) -> None:
    assert conditions(objective) == [("Zn", ">", 100, "others")]


@pytest.mark.parametrize(
    "objective",
    [
        "keep rows with Zn > 100",
        "drop everything except samples with Zn > 100",
        "remove all rows other than those with Zn > 100",
        "select samples with Zn over 100",
        "take the samples with Zn > 100",
        "use only samples with Zn > 100",
        "restrict to samples with Zn > 100",
        "limit to rows where Zn exceeds 100",
        "keep Zn > 100",
        "filter Zn > 100",
    ],
)
def test_rows_to_be_kept_are_kept(objective: str) -> None:
    assert conditions(objective) == [("Zn", ">", 100, None)]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("filter out rows where Sex is missing", [("Sex", "is_null", None, "others")]),
        ("drop rows where Island is Dream or Biscoe", [("Island", "in", ["Dream", "Biscoe"], "others")]),
        ("keep rows where Island is either Dream or Biscoe", [("Island", "in", ["Dream", "Biscoe"], None)]),
        ("keep rows where Island is neither Dream nor Biscoe", [("Island", "not_in", ["Dream", "Biscoe"], None)]),
        ("filter Island = Dream", [("Island", "==", "Dream", None)]),
        ("filter BHID = 34873", [("BHID", "==", 34873, None)]),
        ("keep latitude > 39", [("Latitude", ">", 39, None)]),
        ("keep rows with 100 < Zn < 200", [("Zn", ">", 100, None), ("Zn", "<", 200, None)]),
        ("keep rows with 50 <= Pb <= 100", [("Pb", "between", [50, 100], None)]),
        ("keep rows with Zn above 100 but below 200", [("Zn", ">", 100, None), ("Zn", "<", 200, None)]),
        ("keep rows with Zn >= 4,000 and <= 5000", [("Zn", "between", [4000, 5000], None)]),
        ("remove rows with Zn >= 4,000 and <= 5000", [("Zn", "between", [4000, 5000], "others")]),
    ],
)
def test_lists_and_ranges_are_bound_whole(objective: str, expected: list[tuple[Any, ...]]) -> None:
    assert conditions(objective) == expected


@pytest.mark.parametrize(
    ("objective", "following"),
    [
        ("For samples with As > 5, summarise Zn", "summarize"),
        ("Among samples with As > 5, summarise Zn", "summarize"),
        ("Restrict to samples with As > 5. Then summarise Zn", "summarize"),
        ("Select samples with As over 5 and draw a histogram of Zn", "plot_histogram"),
        ("mean Zn of samples with As above 5", "summarize"),
        ("summarise Zn where As > 5", "summarize"),
        ("draw a histogram of Zn for rows with As > 5", "plot_histogram"),
    ],
)
def test_a_restriction_becomes_a_filter_before_its_task(objective: str, following: str) -> None:
    assert conditions(objective) == [("As", ">", 5, None)]
    found = bindings(objective)
    assert [tool for tool, _ in found] == ["filter_rows", following]
    assert found[1][1].refusals == []


def test_excluding_in_the_end_is_a_removal_before_the_task() -> None:
    assert conditions("Summarise Zn excluding samples with Zn above 1000 ppm") == [("Zn", ">", 1000, "others")]


@pytest.mark.parametrize(
    "objective",
    [
        "Remove outliers in Zn, then summarise Zn",
        "exclude Gentoo penguins and cluster the rest",
        "keep only females, then summarise Zn",
        "Take the Gentoo penguins, and summarise Zn",
        "For anomalous samples, summarise Zn",
        "Select samples with Pb over 50, and plot",
        "rows with Zn > 100 should not be removed, then summarise Zn",
        "keep rows except those without Zn > 100, then summarise Zn",
        "remove rows with Zn > 100 and Pb > 3 or As > 2, then summarise Zn",
        "Restrict to the rich samples. Then summarise Zn",
    ],
)
def test_a_restriction_that_is_not_understood_is_refused_as_a_filter_that_holds_up_the_rest(objective: str) -> None:
    (tool, binding), *_ = bindings(objective)
    assert tool == "filter_rows"
    assert binding.refusals
    assert binding.calls == []


def test_what_follows_a_refused_filter_without_a_filter_tool_is_not_planned() -> None:
    found = plan("do not keep rows with Zn > 5, then summarise Zn")
    assert found.steps == []
    assert "it would be about all rows" in found.blockers[1]


@pytest.mark.parametrize("verb", ["hide", "skip", "avoid", "ditch"])
def test_rows_spoken_of_with_an_unknown_verb_hold_up_what_follows(verb: str) -> None:
    found = plan(f"{verb} rows with Zn > 100, then summarise Pb")
    assert found.steps == []
    assert "it would be about all rows" in found.blockers[1]


def test_a_restriction_of_one_sentence_does_not_pass_silently_to_the_next() -> None:
    found = plan("For samples with As > 5, summarise Zn. Then map Zn")
    assert [step.card.name for step in found.steps] == ["filter_rows", "summarize"]
    assert "it is not clear whether" in found.blockers[0]


@pytest.mark.parametrize(
    "objective",
    [
        "Summarise Zn excluding samples above 1000 ppm",
        "summarise Zn excluding outliers",
        "summarise Zn in samples with no Pb",
        "summarise Zn for samples with Pb above 50 by Island",
        "summarise Zn for female penguins",
        "summarise Zn of the rich samples",
        "keep rows where Zn < 5 kg",
    ],
)
def test_what_would_change_the_rows_and_is_not_understood_is_refused(objective: str) -> None:
    found = bindings(objective)
    assert len(found) == 1
    assert found[0][1].refusals
    assert found[0][1].calls == []
