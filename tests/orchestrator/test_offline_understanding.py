"""Plain requests go to the right tool with the right arguments; what would be guessed is refused."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.cards import read_roster
from outcrop.models.offline.profile import Column, Profile, read_profile
from outcrop.models.offline.references import Previous
from outcrop.models.offline.steps import Plan, make_plan
from outcrop_specialists.tools.registry import get_tool

Json = dict[str, Any]
TABLE = Profile(
    "table.csv",
    (
        Column("SampleID", "text", "sample_id"),
        Column("Longitude", "number", "longitude"),
        Column("Latitude", "number", "latitude"),
        *(Column(name, "number", "element", "ppm") for name in ("Cu", "Zn", "As", "Pb")),
        *(Column(name, "text", "category") for name in ("Species", "Island", "HoleType")),
        Column("cluster", "integer", "cluster"),
        *(Column(name, "number", "measure") for name in ("a.b", "x-y", "$m$")),
    ),
    100,
)


def plan(objective: str) -> Plan:
    description = next(tool.description for tool in lead_schemas() if tool.name == "dispatch")
    return make_plan(objective, read_roster(description), TABLE.folded_names)


def bindings(objective: str, profile: Profile = TABLE, previous: Previous | None = None) -> list[tuple[str, Binding]]:
    return [
        (step.card.name, bind(get_tool(step.card.name).schema(), step.clause, profile, previous))
        for step in plan(objective).steps
    ]


def calls(objective: str, profile: Profile = TABLE) -> list[tuple[str, Json]]:
    """The calls of all steps without their path, each accepted by its tool; nothing is refused or left open."""
    found = []
    assert plan(objective).blockers == []
    for tool, binding in bindings(objective, profile):
        assert binding.refusals == []
        assert binding.blockers == []
        for call in binding.calls:
            get_tool(tool).arguments.model_validate(call)
            found.append((tool, {name: value for name, value in call.items() if name != "path"}))
    return found


def refusals(objective: str, profile: Profile = TABLE) -> str:
    """Why nothing at all is called, in one text."""
    made = plan(objective)
    found = list(made.blockers)
    for _, binding in bindings(objective, profile):
        assert binding.calls == []
        found += binding.refusals
    return "; ".join(found)


@pytest.mark.parametrize(
    ("objective", "tool", "arguments"),
    [
        ("draw a map of the clusters", "plot_map", {"color": "cluster"}),
        ("plot a map of clusters", "plot_map", {"color": "cluster"}),
        ("colour the map by cluster", "plot_map", {"color": "cluster"}),
        ("give the mean Cu per cluster", "summarize", {"columns": ["Cu"], "by": "cluster"}),
        ("mean Zn of each cluster", "summarize", {"columns": ["Zn"], "by": "cluster"}),
        ("compare Zn between the clusters", "summarize", {"columns": ["Zn"], "by": "cluster"}),
        ("For each Island, summarise Zn", "summarize", {"columns": ["Zn"], "by": "Island"}),
        ("Group by Island and give the mean Zn", "summarize", {"columns": ["Zn"], "by": "Island"}),
        ("mean grade of Cu", "summarize", {"columns": ["Cu"]}),
        ("load the data and summarise Zn", "summarize", {"columns": ["Zn"]}),
        ("is there any missing data?", "check_missing", {}),
        ("which columns have missing values", "check_missing", {}),
        ("how many rows are there", "inspect_dataset", {}),
        ("total number of samples", "inspect_dataset", {}),
        ("list the columns", "inspect_dataset", {}),
        ("how many of each species", "query_data", {"operation": "value_counts", "columns": ["Species"]}),
        ("count the samples per island", "query_data", {"operation": "value_counts", "columns": ["Island"]}),
        ("show the counts of HoleType", "query_data", {"operation": "value_counts", "columns": ["HoleType"]}),
        ("distinct values of Island", "query_data", {"operation": "value_counts", "columns": ["Island"]}),
        ("show me the table", "query_data", {"operation": "head"}),
        ("are there duplicates?", "detect_cleaning_issues", {}),
        ("are there outliers in Zn?", "compute_anomaly", {"columns": ["Zn"]}),
        ("convert censored values", "parse_detection_limits", {}),
        ("treat non-detects as zero", "parse_detection_limits", {"method": "zero"}),
        ("standardise the species names", "standardize_terms", {"column": "Species"}),
        ("Remove duplicates but keep the last", "remove_duplicates", {"keep": "last"}),
        ("Zn vs Pb", "plot_scatter", {"x": "Pb", "y": "Zn"}),
    ],
)
def test_plain_words_reach_the_right_tool(objective: str, tool: str, arguments: Json) -> None:
    assert calls(objective) == [(tool, arguments)]


@pytest.mark.parametrize(
    ("objective", "arguments"),
    [
        ("cluster the samples on Zn and Pb into 4 groups", {"columns": ["Zn", "Pb"], "n_clusters": 4}),
        ("cluster the 100 samples on Zn and Pb", {"columns": ["Zn", "Pb"]}),
        ("cluster the samples on Zn and Pb into fifteen groups", {"columns": ["Zn", "Pb"], "n_clusters": 15}),
        ("cluster on Zn, Pb, but not on Cu", {"columns": ["Zn", "Pb"]}),
        (
            "cluster on all columns except the coordinates",
            {"columns": ["Cu", "Zn", "As", "Pb", "a.b", "x-y", "$m$"]},
        ),
        ("Cluster Zn and Pb, no standardisation", {"columns": ["Zn", "Pb"], "standardize": False}),
    ],
)
def test_a_clustering_takes_the_columns_and_numbers_that_are_meant(objective: str, arguments: Json) -> None:
    assert calls(objective) == [("cluster", arguments)]


@pytest.mark.parametrize(
    "objective",
    [
        "PCA of Zn and Pb without scaling",
        "PCA of Zn and Pb using covariance",
        "unscaled PCA of Zn and Pb",
        "PCA of Zn and Pb, do not standardise",
    ],
)
def test_standardising_is_switched_off_in_any_words(objective: str) -> None:
    [(tool, arguments)] = calls(objective)
    assert tool == "reduce_dimensions"
    assert arguments["standardize"] is False
    assert arguments["columns"] == ["Zn", "Pb"]


@pytest.mark.parametrize(
    ("objective", "arguments"),
    [
        ("plot log Zn against Pb", {"x": "Pb", "y": "Zn", "log_y": True}),
        ("plot Zn against log Pb", {"x": "Pb", "y": "Zn", "log_x": True}),
        ("plot log10 of Zn against log10 of Pb", {"x": "Pb", "y": "Zn", "log_x": True, "log_y": True}),
    ],
)
def test_a_logarithm_goes_to_the_axis_of_its_column(objective: str, arguments: Json) -> None:
    assert calls(objective) == [("plot_scatter", arguments)]


def test_names_with_marks_in_them_are_found() -> None:
    assert calls("summarise a.b and x-y") == [("summarize", {"columns": ["a.b", "x-y"]})]
    assert calls("summarise $m$") == [("summarize", {"columns": ["$m$"]})]


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        ("cluster the samples on Zn and Pb into two dozen groups", '"dozen"'),
        ("cluster the samples on Zn and Pb into half a dozen groups", '"dozen"'),
        ("cluster the samples on Zn and Pb into one group", '"one"'),
        ("histogram of Zn with twenty-five bins", "20 and 5"),
        ("histogram of the Zn/Pb ratio", "calculation"),
        ("remove duplicate rows except in As", "no argument"),
        ("cluster on the five most variable elements", "a choice that cannot be made"),
        ("cluster on the major elements", "a choice that cannot be made"),
        ("cluster on log10 of Zn and raw Pb", "one transform"),
        ("histogram of Zn with log y axis", "log y axis"),
        ("summarise Zn in kg", "convert its unit first"),
        ("summarise a.b in m", "no known unit"),
        ("summarise Zn for Gentoo", '"Gentoo"'),
        ("what is the average Zn in Island Dream", '"Dream"'),
        ("Draw a map of Zn with the clusters", "cannot colour the same points"),
        ("drop rows with Zn above the 90th percentile", "90th"),
        ("keep rows where Zn is high", "no number"),
        ("keep rows where a.b > 5 kg", "no known unit"),
        ("run a PCA on the same columns", "the same columns"),
        ("how many clutches were completed?", "operation"),
        ("how many locations are there", "operation"),
        ("plot Zn and Pb", "say a histogram of A"),
        ("On Dream island, what is the mean Zn?", "would be about all rows"),
        ("using the first 50 rows, histogram of Zn", "first rows"),
    ],
)
def test_what_would_have_to_be_guessed_is_refused(objective: str, reason: str) -> None:
    if objective.startswith("using"):
        assert reason in "; ".join(bindings(objective)[0][1].refusals)
    else:
        assert reason in refusals(objective)


def test_what_is_not_wanted_is_left_out_without_a_blocker() -> None:
    assert calls("Summarise Zn. Don't plot anything") == [("summarize", {"columns": ["Zn"]})]


def test_a_removal_in_a_last_sentence_is_said_to_come_too_late() -> None:
    assert "comes last" in plan("Summarise Zn. Exclude samples with As > 5.").blockers[0]
    assert plan("Summarise Zn. Then exclude samples with As > 5.").blockers == []


def test_the_columns_of_the_step_before_are_taken_for_the_same_and_for_it() -> None:
    previous = Previous("cluster", ("Zn", "Pb"))
    [(_, same)] = bindings("run a PCA on the same columns", previous=previous)
    assert same.calls[0]["columns"] == ["Zn", "Pb"]
    [(_, it)] = bindings("map it", previous=Previous("summarize", ("Zn",)))
    assert it.calls[0]["color"] == "Zn"


def test_two_columns_of_one_element_are_both_named() -> None:
    profile = Profile("a.csv", (Column("Cu_pct", "number", "element"), Column("Cu_ppm_pXRF", "number", "element")))
    [(_, binding)] = bindings("summarise copper", profile)
    assert binding.calls == []
    assert '"copper" may be Cu_pct or Cu_ppm_pXRF' in binding.refusals[0]


def test_columns_beyond_those_described_are_known_by_name() -> None:
    listed = [{"name": f"c{number}", "type": "number", "role": "measure"} for number in range(200)]
    further = [f"c{number}" for number in range(200, 2000)]
    profile = read_profile({"columns": listed, "more_columns": 1800, "more_names": further}, "wide.csv")
    assert calls("summarise c1500", profile) == [("summarize", {"columns": ["c1500"]})]
    [(_, binding)] = bindings("cluster the samples", profile)
    assert binding.calls == []
    assert "the table has 1800 more columns" in binding.refusals[0]


@pytest.mark.parametrize(
    ("objective", "column", "n", "order"),
    [
        ("top 10 zinc values", "Zn", 10, "top"),
        ("Top five Cu", "Cu", 5, "top"),
        ("show me the 10 highest copper values", "Cu", 10, "top"),
        ("Give me the five lowest lead readings.", "Pb", 5, "bottom"),
    ],
)
def test_so_many_of_the_greatest_values_are_rows_in_order(objective: str, column: str, n: int, order: str) -> None:
    [(tool, given)] = calls(objective)
    assert tool == "rank_by_metric"
    assert given | {"order": given.get("order", "top"), "n": given.get("n", 10)} == {
        "column": column,
        "n": n,
        "order": order,
    }


@pytest.mark.parametrize("objective", ["top 5 elements", "top 10 hole types", "the 3 highest groups"])
def test_so_many_of_what_is_no_value_are_not_ranked(objective: str) -> None:
    assert refusals(objective)
