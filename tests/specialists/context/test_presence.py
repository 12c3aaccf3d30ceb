"""Another value, another thing and what no longer holds do not stand for a fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import wire
from outcrop_specialists.context.facts import facts_of_result, lost

FACTS = {
    "credit = 12": [
        "12’345",
        "12'345",
        "12 345",
        "12 345 678 t",
        "12\u202f345",
        "12 million",
        "12 Mio",
        "12k",
        "12 k",
        "12 thousand",
    ],
    "mean = 5": [
        "5 ppb (was ppm)",
        "5 %",
        "5 ‰",
        "5 g/t",
        "5 km",
        "5 °C",
        "5°",
        "5 k EUR",
        "5 ± 2",
        "5–7",
        "5 to 7",
        "5 × 10^3",
        "5^2",
        "5½",
    ],
    "share = 1.5": ["1.5 × 10^3", "1.5·10³", "1.5e3", "1.5 x 10", "1.5 *10^3", "1.5 kg", "1.5 dozen", "1.5 per day"],
    "rest = 345": ["12 345", "12'345", "1,345"],
}


@pytest.mark.parametrize(("fact", "value"), [(fact, value) for fact, values in FACTS.items() for value in values])
def test_a_figure_that_goes_on_is_another_value(fact: str, value: str) -> None:
    name = fact.partition(" = ")[0]
    assert lost([fact], f"The {name} is {value}, they say") == [fact]
    assert lost([fact], f"{name} = {value}") == [fact]
    sentence = f"The {fact.replace(' = ', ' is ')}"
    assert lost([sentence], f"It is told: The {name} is {value}") == [sentence]


@given(
    figure=st.integers(1, 999),
    more=st.integers(0, 999),
    mark=st.sampled_from([" ", "'", "’", ",", ".", "\u00a0", "\u2009"]),
    groups=st.integers(1, 3),
)
def test_a_figure_of_which_only_the_first_thousands_are_the_same_is_another(
    figure: int, more: int, mark: str, groups: int
) -> None:
    text = f"fee = {figure}" + f"{mark}{more:03}" * groups
    assert lost([f"fee = {figure}"], text) == [f"fee = {figure}"]
    assert lost([" ".join(text.split())], text) == []


@given(
    figure=st.integers(0, 10**6), unit=st.sampled_from(["ppm", "ppb", "g/t", "km", "EUR", "%", "tonnes", "per cent"])
)
def test_a_unit_that_the_fact_does_not_tell_makes_it_another(figure: int, unit: str) -> None:
    assert lost([f"fee = {figure}"], f"fee = {figure} {unit}") == [f"fee = {figure}"]
    assert lost([f"The fee is {figure} {unit}."], f"The fee is {figure} {unit}.") == []


def test_a_unit_that_the_name_or_a_label_tells_may_stand_behind_a_figure() -> None:
    assert lost(["limit_ppm = 5"], "limit_ppm = 5 ppm") == []
    assert lost(["limit_ppm = 5"], "limit_ppm = 5 ppb") == ["limit_ppm = 5"]
    [fact] = facts_of_result(wire.dumps({"results": {"columns": [{"name": "Cu", "unit": "ppm", "mean": 5}]}}).decode())
    assert lost([fact], "the mean of Cu is 5 ppm") == []
    assert lost([fact], "the mean of Cu is 5 ppb, once ppm") == [fact]
    assert lost([fact], "the mean of Cu is 5") == [fact]
    assert lost([fact], "the mean of Au is 5 ppm, of Cu 7 ppm") == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Anna said: {} That no longer holds.",
        "The user said it is wrong that: {} He wants LB-2.",
        "It is not true that {}",
        "{} was withdrawn.",
        "Formerly: {}",
        "{} This rule is superseded.",
        "The old rule was revoked: {}",
        "{} Das gilt nicht mehr.",
        "{} Ce n'est plus le cas.",
        "{} Eso ya no vale.",
        "{} Это больше не действует.",
        "The earlier note said {}, which was a mistake; it has been corrected to LB-3",
    ],
)
def test_what_is_quoted_as_no_longer_valid_is_not_kept(text: str) -> None:
    fact = "Never use batch LB-1."
    assert lost([fact], text.format(fact)) == [fact]
    assert lost(["limit = 5"], text.format("limit = 5")) == ["limit = 5"]


@pytest.mark.parametrize(
    "text",
    [
        "Note: {} And more.",
        "The work went on. {} We look at the maps now.",
        "The first plan was dropped yesterday. Then came a word from the client, who wrote: {}",
        "- {}\n- It costs 5 EUR.",
    ],
)
def test_what_stands_there_as_valid_is_kept(text: str) -> None:
    assert lost(["Never use batch LB-1."], text.format("Never use batch LB-1.")) == []


def test_each_figure_of_a_record_must_stand_with_its_label() -> None:
    groups = [{"group": "granite", "mean": 1.25, "n": 40}, {"group": "schist", "mean": 7.75, "n": 12}]
    facts = facts_of_result(wire.dumps({"results": {"groups": groups}}).decode())
    assert lost(facts, "granite mean = 1.25, n of granite is 40; schist.mean: 7.75 and schist n = 12") == []
    assert lost(facts, "granite mean = 1.25, schist n = 12") == facts
    assert lost(facts, "granite mean = 7.75, n of granite is 12; schist.mean: 1.25 and schist n = 40") == facts
    assert lost(facts, "the mean is 1.25 and n = 40; the mean is 7.75 and n = 12") == facts
    assert lost(facts, "\n".join(facts)) == []


@given(st.data())
def test_a_record_is_not_there_because_of_another_one(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text("ABCDEF", min_size=2, max_size=4), min_size=2, max_size=6, unique=True))
    means = data.draw(st.lists(st.integers(1, 99), min_size=len(names), max_size=len(names), unique=True))
    value = [{"name": name, "mean": mean} for name, mean in zip(names, means, strict=True)]
    facts = facts_of_result(wire.dumps(value).decode())
    turned = [f"{name} mean = {mean}" for name, mean in zip(names, [*means[1:], means[0]], strict=True)]
    assert lost(facts, ". ".join(turned)) == facts
    assert lost(facts, ". ".join(f"{name} mean = {mean}" for name, mean in zip(names, means, strict=True))) == []
