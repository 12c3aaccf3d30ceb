"""A figure is never given of all rows where a part of them was asked for: the right call or a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.cards import read_roster
from outcrop.models.offline.conversation import Answer
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.steps import Plan, make_plan
from outcrop.models.offline.values import with_columns
from outcrop_specialists.tools.registry import get_tool

TABLE = Profile(
    "soil.csv",
    (
        Column("Sample ID", "text", "sample_id"),
        Column("Easting", "number", "x"),
        Column("Northing", "number", "y"),
        Column("Lithology", "text", "category"),
        Column("Au_ppb", "number", "element", "ppb"),
        *(Column(f"{name}_ppm", "number", "element", "ppm") for name in ("As", "Cu", "Pb")),
    ),
    120,
)


def plan(objective: str) -> Plan:
    description = next(tool.description for tool in lead_schemas() if tool.name == "dispatch")
    return make_plan(objective, read_roster(description), TABLE.folded_names)


def bindings(objective: str) -> list[tuple[str, Binding]]:
    found = plan(objective)
    return [(step.card.name, bind(get_tool(step.card.name).schema(), step.clause, TABLE)) for step in found.steps]


RESTRICTED = """
correlate copper with lead after removing outliers
mean of copper after ignoring the outliers
is copper correlated with lead once duplicates are left aside and after omitting duplicate samples
mean of the ten largest copper values
median of the five lowest lead values
mean copper in the northern half
mean copper in the southern part
mean copper for samples east of 501000
average of copper per lithology for samples north of 7001000
scatter plot of copper against lead for samples south of 7001000
mean copper west of 501000
mean of the top 10 copper values
mean of the first 10 copper values
mean copper of the last 20 samples
mean copper of the 5 samples with the most gold
correlate copper with lead in the 20 samples with the least gold
mean of the upper half of copper
mean copper in the lower quarter
mean copper near the river
mean copper in the eastern samples
mean copper in the west
mean copper to the south
mean copper in the north-east corner
histogram of copper in the north
correlate copper and lead in the southern half
cluster the samples in the north into 3 groups
find anomalies in copper in the west
map the copper of the northern samples
summarise copper for half of the samples
mean copper of half the samples
mean copper of a quarter of the samples
mean copper of 10 percent of the samples
mean copper of a random half
mean copper of every second sample
mean copper without the largest value
mean copper excluding the top 5
mean copper deeper than 10 m
mean copper of samples older than 2010
mean copper of samples taken after 2010
mean copper in 2015
summarise copper from 2015 on
mean copper at depths greater than 50
mean copper within 500 m of 501000, 7001000
mean copper for rows 1 to 50
mean copper of rows 10 through 20
mean copper of 50 samples
mean copper by lithology for the first 50 rows
mean copper by lithology, top 3 only
mean copper (top 10)
mean copper, northern samples only
summarise copper but only the first half
box plot of copper by lithology in the upper part
box plot of copper by lithology for the deepest samples
total copper of the bottom ten rows
mean copper in the weird half
summarise the odd copper values
mean copper for high gold
mean copper of those above average
draw a histogram of values of copper below the detection limit
how many samples in the northern half
mean copper of shallow samples
mean copper above 20
mean copper between 10 and 20
mean copper only in schist
mean copper at surface
mean copper during the drought
mean copper at 501000
median copper down to 50 m
mean copper upstream of the dam
mean copper outside the pit
mean of the highest 5 percent of copper
how many samples are in the top 10 percent of copper
compare copper between granite and schist in the north
show samples north of 7001000
"""


@pytest.mark.parametrize("objective", RESTRICTED.strip().splitlines())
def test_no_figure_of_all_rows_where_a_part_was_asked_for(objective: str) -> None:
    *before, (tool, binding) = bindings(objective)
    is_restricted = any(name == "filter_rows" and (each.calls or each.refusals) for name, each in before)
    condition = any({"filter_column", "expression", "operator"} & call.keys() for call in binding.calls)
    assert is_restricted or condition or (binding.calls == [] and binding.refusals), (tool, binding.calls)


@pytest.mark.parametrize(
    ("objective", "tool", "expected"),
    [
        ("mean copper", "summarize", {"columns": ["Cu_ppm"]}),
        ("average of copper per lithology", "summarize", {"columns": ["Cu_ppm"], "by": "Lithology"}),
        ("mean, median and maximum of copper", "summarize", {"columns": ["Cu_ppm"]}),
        ("which lithology has the highest mean copper", "summarize", {"columns": ["Cu_ppm"], "by": "Lithology"}),
        ("summarise copper of the 120 samples", "summarize", {"columns": ["Cu_ppm"]}),
        ("histogram of copper with 20 bins", "plot_histogram", {"column": "Cu_ppm", "bins": 20}),
        ("show the first 5 rows", "query_data", {"operation": "head", "n": 5}),
        ("show me the last 3 rows", "query_data", {"operation": "tail", "n": 3}),
    ],
)
def test_what_asks_for_all_rows_is_still_done(objective: str, tool: str, expected: dict[str, Any]) -> None:
    ((name, binding),) = bindings(objective)
    assert (name, binding.refusals) == (tool, [])
    assert binding.calls == [{"path": "soil.csv", **expected}]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("show me 10 samples with the most gold", ("Au_ppb", 10, "top")),
        ("show me the ten samples with the least lead", ("Pb_ppm", 10, "bottom")),
        ("show me the five rows with the smallest copper", ("Cu_ppm", 5, "bottom")),
        ("list the 5 samples with the lowest gold", ("Au_ppb", 5, "bottom")),
        ("find the 7 samples with the greatest lead", ("Pb_ppm", 7, "top")),
        ("which 3 samples have the highest arsenic", ("As_ppm", 3, "top")),
        ("the five richest samples in copper", ("Cu_ppm", 5, "top")),
        ("give me the sample with the highest copper", ("Cu_ppm", 1, "top")),
        ("show me the rows with the most copper", ("Cu_ppm", None, "top")),
        ("top 5 samples by copper", ("Cu_ppm", 5, "top")),
        ("sort by arsenic from low to high", ("As_ppm", 120, "bottom")),
        ("sort copper from low to high", ("Cu_ppm", 120, "bottom")),
        ("sort copper from high to low", ("Cu_ppm", 120, "top")),
        ("sort copper from smallest to largest", ("Cu_ppm", 120, "bottom")),
        ("sort the samples from the highest copper to the lowest", ("Cu_ppm", 120, "top")),
        ("sort copper ascending", ("Cu_ppm", 120, "bottom")),
        ("sort by copper descending", ("Cu_ppm", 120, "top")),
        ("sort the table by lead", ("Pb_ppm", 120, "top")),
        ("sort samples by gold, highest first", ("Au_ppb", 120, "top")),
        ("sort samples by gold, lowest last", ("Au_ppb", 120, "top")),
        ("order rows by copper, smallest first", ("Cu_ppm", 120, "bottom")),
        ("sort by copper, top 10 rows", ("Cu_ppm", 10, "top")),
    ],
)
def test_rows_with_the_most_or_the_least_are_ranked_not_the_first_ones(
    objective: str, expected: tuple[str, int | None, str]
) -> None:
    ((tool, binding),) = bindings(objective)
    assert (tool, binding.refusals) == ("rank_by_metric", [])
    (call,) = binding.calls
    get_tool(tool).arguments.model_validate(call)
    assert (call["column"], call.get("n"), call.get("order", "top")) == expected


def test_the_greatest_and_the_least_at_once_are_refused() -> None:
    ((_, binding),) = bindings("list the highest and lowest 5 samples by copper")
    assert binding.calls == []
    assert binding.refusals


def test_what_points_back_to_ranked_rows_is_not_done_for_all_rows() -> None:
    found = plan("find the 10 samples with the most gold and map them")
    assert [step.card.name for step in found.steps] == ["rank_by_metric"]
    assert "points back" in found.blockers[0]


VALUES = {"Lithology": {"values": {"granite": 33, "Granite": 29, "schist": 37, "basalt": 21}}}


def conditions(clause: str) -> list[dict[str, Any]] | None:
    """The calls for a clause that names values, as the specialist makes them; None where it is refused."""
    told = with_columns(clause, Answer("", {"results": {"columns": VALUES}}, is_error=False))
    if told is None:
        return None
    binding = bind(get_tool("filter_rows").schema(), told[0], TABLE)
    assert binding.refusals == []
    for call in binding.calls:
        get_tool("filter_rows").arguments.model_validate(call)
    return [{key: value for key, value in call.items() if key != "path"} for call in binding.calls]


@pytest.mark.parametrize("joint", [" or ", " and ", ", "])
@pytest.mark.parametrize(("verb", "keep"), [("drop", {"keep": "others"}), ("keep", {})])
def test_every_value_of_a_list_counts_whatever_joins_it_and_whatever_its_case(
    verb: str, keep: dict[str, str], joint: str
) -> None:
    expected = {"column": "Lithology", "operator": "in", "value": ["granite", "Granite", "schist"], **keep}
    assert conditions(f"{verb} samples with lithology granite{joint}schist") == [expected]


@pytest.mark.parametrize(
    "clause",
    ["keep samples with lithology granite or marble", "drop samples with lithology marble or schist"],
)
def test_a_list_with_something_that_is_no_value_is_refused(clause: str) -> None:
    assert conditions(clause) is None


def test_a_list_after_is_may_be_joined_by_and() -> None:
    clause = "keep rows where lithology is granite and basalt"
    (call,) = bind(get_tool("filter_rows").schema(), clause, TABLE).calls
    assert (call["operator"], call["value"]) == ("in", ["granite", "basalt"])


def test_a_single_value_and_a_bound_beside_it() -> None:
    assert conditions("keep samples with lithology schist and copper above 20") == [
        {"column": "Lithology", "operator": "==", "value": "schist"},
        {"column": "Cu_ppm", "operator": ">", "value": 20},
    ]


def test_an_expression_is_never_given_beside_column_and_value() -> None:
    clause = 'drop rows where lithology is "granite" and "Lithology" is "schist" of lithology'
    binding = bind(get_tool("filter_rows").schema(), clause, TABLE)
    for call in binding.calls:
        assert not ("expression" in call and {"column", "operator", "value"} & call.keys())
