"""How the offline model reads text: words, clauses, the tool a clause asks for."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.lead.toolbox import roster
from outcrop.models.offline.cards import Card, owners, read_card, read_roster
from outcrop.models.offline.clauses import Splitter
from outcrop.models.offline.retrieval import Retrieval
from outcrop.models.offline.steps import make_plan
from outcrop.models.offline.words import stem, words_of
from outcrop_specialists.roles import ROLES
from outcrop_specialists.tools.registry import all_tools

OWN_ROSTER = """Hand one piece of work to a specialist.
Specialists and their tools:
cleaning: finds and repairs faults of a table
- remove_duplicates: Remove duplicate rows. Asked for as: remove duplicates, drop duplicate rows, deduplicate.
- check_missing: Counts missing values. Asked for as: check missing values, find gaps.
metals: knows assays
- grade_tonnage: Grade and tonnage above a cut-off. Asked for as: grade tonnage curve, tonnage above cut-off.
- check_missing: Counts missing values. Asked for as: check missing values, find gaps.
- nameless_words: Does something that nobody asks for in words
"""


@cache
def cards() -> tuple[Card, ...]:
    return tuple(read_roster(roster()))


def split(objective: str, columns: tuple[str, ...] = ()) -> list[str]:
    return [clause.text for clause in Splitter(cards(), columns).split(objective)]


def tool(clause: str, columns: tuple[str, ...] = ()) -> str | None:
    match = Retrieval(cards()).best(clause, columns)
    return match.card.name if match else None


def test_the_roster_gives_every_tool_its_first_owner() -> None:
    found = read_roster(OWN_ROSTER)
    assert [(card.name, card.specialist) for card in found] == [
        ("remove_duplicates", "cleaning"),
        ("check_missing", "cleaning"),
        ("grade_tonnage", "metals"),
        ("nameless_words", "metals"),
    ]
    assert found[0].phrases == ("remove duplicates", "drop duplicate rows", "deduplicate")
    assert owners(OWN_ROSTER) == ["cleaning", "metals"]


def test_the_real_roster_is_read_whole() -> None:
    assert {card.name for card in cards()} == {tool.name for tool in all_tools()}
    assert owners(roster()) == list(ROLES)
    by_name = {card.name: card for card in cards()}
    for each in all_tools():
        assert by_name[each.name].phrases == each.asked_for
        assert by_name[each.name].specialist in each.specialists


def test_tools_of_users_are_found_by_their_own_words() -> None:
    retrieval = Retrieval(read_roster(OWN_ROSTER))
    match = retrieval.best("make the grade-tonnage curve of block 7")
    assert match is not None
    assert match.card.name == "grade_tonnage"
    by_name = retrieval.best("run nameless_words on the blocks")
    assert by_name is not None
    assert by_name.card.name == "nameless_words"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("summarise", "summary"),
        ("colour", "colors"),
        ("clustering", "clusters"),
        ("standardised", "standardize"),
        ("centred", "centered"),
        ("dedupe", "deduplicate"),
        ("drop", "removing"),
        ("percentiles", "P95"),
        ("analysed", "analyzed"),
    ],
)
def test_spelling_and_endings_do_not_matter(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_numbers_files_dates_and_quotations_are_single_words() -> None:
    kinds = [
        (word.text, word.kind) for word in words_of('0.5 of "a b" in wine.v2.csv since 2020-01-31, 1,000 k=3 95th')
    ]
    assert ("0.5", "number") in kinds
    assert ('"a b"', "quoted") in kinds
    assert ("wine.v2.csv", "file") in kinds
    assert ("2020-01-31", "date") in kinds
    assert [word.number for word in words_of("1,000 k=3 95th -2 three")] == [1000, None, None, 3, 95, -2, 3]


@given(st.text())
def test_words_are_slices_of_the_text_in_order(text: str) -> None:
    words = words_of(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    # Only blanks are left out; within a quotation or "k means" they stay.
    assert "".join("".join(word.text for word in words).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("objective", "clauses"),
    [
        (
            "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, "
            "flavanoids and color_intensity, and plot the groups",
            [
                "Remove duplicate rows",
                "summarise alcohol and proline",
                "cluster the samples into 3 groups on alcohol, flavanoids and color_intensity",
                "plot the groups",
            ],
        ),
        (
            "cluster the samples into 2 groups on log10 of Rb, K, La and Th and map them by longitude and latitude",
            ["cluster the samples into 2 groups on log10 of Rb, K, La and Th", "map them by longitude and latitude"],
        ),
        (
            "Keep rows with Au above 0.5. Then correlate Au with Cu",
            ["Keep rows with Au above 0.5", "correlate Au with Cu"],
        ),
        ("summarise Au; map Au", ["summarise Au", "map Au"]),
        ("1. Remove duplicates\n2. Summarise Au", ["Remove duplicates", "Summarise Au"]),
        ("mean and median of Au, and a histogram of Cu", ["mean and median of Au", "a histogram of Cu"]),
        ("check and remove duplicates", ["check and remove duplicates"]),
        ("As a first step, summarise Au", ["summarise Au"]),
        ('keep rows where name is "map, and plot"', ['keep rows where name is "map, and plot"']),
        ("summarise Cu and Zn but not As", ["summarise Cu and Zn but not As"]),
        ("cluster on Cu, and colour the map by cluster", ["cluster on Cu", "colour the map by cluster"]),
        ("summarise Au, and train a random forest", ["summarise Au", "train a random forest"]),
        ("use wine.v2.csv and summarise alcohol", ["use wine.v2.csv and summarise alcohol"]),
        ("correlate Au vs. Cu, e.g. on log values", ["correlate Au vs. Cu, e.g. on log values"]),
    ],
)
def test_objectives_split_where_a_task_begins(objective: str, clauses: list[str]) -> None:
    assert split(objective) == clauses


def test_names_of_columns_do_not_begin_a_task() -> None:
    objective = "summarise alcohol, map, colour intensity and rank by species"
    assert split(objective, ("alcohol", "map", "color_intensity", "rank", "species")) == [objective]


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("remove the duplicated rows", "remove_duplicates"),
        ("dedupe", "remove_duplicates"),
        ("drop rows where Au is missing", "filter_rows"),
        ("keep samples with Au above 1", "filter_rows"),
        ("summarise alcohol", "summarize"),
        ("median and 95th percentile of Au", "summarize"),
        ("correlate gold with copper", "correlate"),
        ("which elements follow gold most closely", "correlate"),
        ("how does Cu depend on Zn", "correlate"),
        ("group the soil samples", "cluster"),
        ("find outliers in Au", "compute_anomaly"),
        ("run a PCA", "reduce_dimensions"),
        ("plot Au against Cu", "plot_scatter"),
        ("plot Au vs Cu", "plot_scatter"),
        ("histogram of Au", "plot_histogram"),
        ("map them", "plot_map"),
        ("show the groups on a map", "plot_map"),
        ("plot the groups", "plot_clusters"),
        ("how many values are missing", "check_missing"),
        ("run check_missing", "check_missing"),
        ("replace values below detection by half the detection limit", "parse_detection_limits"),
        ("show the first 10 rows", "query_data"),
        ("rank the holes by copper metal", "profile_intervals"),
    ],
)
def test_a_clause_finds_its_tool(clause: str, name: str) -> None:
    assert tool(clause) == name


@pytest.mark.parametrize(
    "clause",
    [
        "train a random forest to predict the clusters",
        "email the summary to Bob",
        "export the clusters to Excel",
        "plot it nicely",
        "",
        "…",
    ],
)
def test_a_clause_without_words_for_a_tool_has_none(clause: str) -> None:
    assert tool(clause) is None


def test_a_plan_quotes_what_it_does_not_understand() -> None:
    plan = make_plan(
        "Summarise Au, email the summary to Bob. If Au is high, map it. Do not cluster the samples.", cards()
    )
    assert [step.card.name for step in plan.steps] == ["summarize"]
    assert plan.blockers[0] == 'Not understood: "email the summary to Bob" (no tool is asked for with these words)'
    assert plan.blockers[1].startswith('Not done: "If Au is high, map it" (a condition')
    assert plan.notes == ['Left out, as asked: "Do not cluster the samples"']


def test_what_points_back_to_a_clause_that_was_not_understood_is_not_done() -> None:
    plan = make_plan("Find prospective places and map them", cards())
    assert plan.steps == []
    assert plan.blockers[1] == 'Not done: "map them" (it points back to "Find prospective places")'


def test_a_sentence_that_goes_on_belongs_to_the_step_before() -> None:
    plan = make_plan("Cluster the samples on Au and Cu. Use log10 and two groups.", cards())
    assert [step.clause for step in plan.steps] == ["Cluster the samples on Au and Cu. Use log10 and two groups"]


def test_a_card_without_asked_for_words_goes_by_its_name() -> None:
    card = read_card("fit_variogram", "Fits a model.")
    assert Retrieval([card]).best("fit the variogram") is not None
    assert Retrieval([card]).best("fit something") is None
