"""A fact counts as present where its own words stand, whole, and of what they were said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import limits, wire
from outcrop_specialists.context.facts import facts_of_call, facts_of_result, lost, sentences_with_facts


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("the credit is 12", "the credit is 120"),
        ("the credit is 12", "the credit is 12.5"),
        ("the credit is 12.", "the credit is 12.5"),
        ("limit = 5", "limit = 55"),
        ("limit = 5", "limit = 5 %"),
        ("limit = 5", "limit = 5.1"),
        ("The tonnage is 1.24e6", "The tonnage is 1.24e65"),
        ("The tonnage is 1.24", "The tonnage is 1.24e6"),
        ("5 ppm", "15 ppm"),
        ("5 ppm", "1.5 ppm"),
        ("5 ppm", "-5 ppm"),
        ("5 ppm", "5 ppm/h"),
        ("due 2026-12", "due 2026-12-04"),
        ("batch LB-22", "batch LB-2291"),
        ("batch LB-22", "batch LB-22-7"),
        ("at 18:00", "at 18:00:30"),
        ("ends on May", "weekends on May"),
        ("Au.mean = 1.5", "Cu mean = 1.5"),
        ("Au.mean = 1.5", "Cu.mean = 1.5"),
        ("Au.mean = 1.5", '{"Cu":{"mean":1.5}}'),
        ("Au.mean = 1.5", "Au is there and Cu mean = 1.5"),
        ("mean = 1.5", "Cu mean = 1.5"),
        ("mean = 1.5", "the geomean = 1.5"),
        ("rows[3].v = 1.5", "v = 1.5"),
        ("status = closed", "status = closed_again"),
    ],
)
def test_what_is_part_of_something_else_is_lost(fact: str, text: str) -> None:
    assert lost([fact], f"It is told: {text}") == [fact]
    assert lost([fact], text) == [fact]


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("the credit is 12", "Note: the credit is 12, and no more"),
        ("the credit is 12.", "Note: the credit is 12. And more"),
        ("the credit  is 12".replace("  ", " "), "the credit\n  is 12"),
        ("limit = 5", "limit = 5"),
        ("limit = 5", "The limit is 5."),
        ("limit = 5", "- limit: 5"),
        ("limit = 5", "- count: 7\n- limit: 5\n- cutoff: 3"),
        ("5 ppm", "It is (5 ppm)."),
        ("Au.mean = 1.5", "Au.mean = 1.5"),
        ("Au.mean = 1.5", "so Au mean = 1.5, they say"),
        ("Au.mean = 1.5", "the mean of Au is 1.5"),
        ("results.Au.mean = 1.5", '{"Au":{"mean":1.5}}'),
        ("Au.mean = 1.5", "The mean is 1.5."),
        ("artifacts[0].path = results/a.csv", "path: results/a.csv"),
        ("summary = looked at 5", "- look(): looked at 5"),
        ("rows[3].v = 1.5", "rows[3].v = 1.5"),
    ],
)
def test_what_stands_there_whole_is_not_lost(fact: str, text: str) -> None:
    assert lost([fact], "before", text) == []


def test_the_last_name_alone_is_not_enough_where_several_facts_have_it() -> None:
    facts = ["Au.mean = 1.5", "Cu.mean = 7.25"]
    assert lost(facts, "The mean is 1.5.") == facts
    assert lost(facts[:1], "The mean is 1.5.") == []


@given(figure=st.integers(0, 10**6), more=st.integers(0, 9), share=st.sampled_from(["", ".", ",", "e", ":", "-", "/"]))
def test_a_figure_with_more_digits_is_another_one(figure: int, more: int, share: str) -> None:
    fact = f"The fee is {figure}"
    assert lost([fact], f"{fact}{share}{more} in all") == [fact]
    assert lost([fact], f"{fact} {more}", "in all") == []


def test_arguments_of_a_call_are_facts_whatever_they_are() -> None:
    given: dict[str, Any] = {
        "cutoff": 0.37,
        "by": "zone",
        "columns": ["Au"],
        "text": "word " * 100 + ". Never use LB-2.",
    }
    found = facts_of_call("compare", given)
    assert found == [
        "compare.cutoff = 0.37",
        "compare.by = zone",
        "compare.columns[0] = Au",
        "compare.text = Never use LB-2.",
    ]


@pytest.mark.parametrize(
    "text", ["\n".join(f"line {n}" for n in range(5_000)), wire.dumps(list(range(5_000))).decode()]
)
def test_what_is_beyond_the_bound_of_one_result_is_counted(text: str) -> None:
    found = facts_of_result(text)
    assert len(found) == limits.FACTS_OF_A_RESULT + 1
    assert found[-1].startswith(f"{5_000 - limits.FACTS_OF_A_RESULT} more ")


def test_three_hundred_leaves_are_all_checked() -> None:
    value = {"rows": [{"id": f"id{n}", "v": n + 0.5} for n in range(300)], "status": "closed by the client, error 7"}
    found = facts_of_result(wire.dumps(value).decode())
    assert "rows[299] (id id299).v = 299.5" in found
    assert "status = closed by the client, error 7" in found


def test_what_a_user_said_counts_without_a_word_that_is_known() -> None:
    assert sentences_with_facts("Blue makes me happy. Hello.") == []
    assert sentences_with_facts("Blue makes me happy. Hello.", is_all=True) == ["Blue makes me happy.", "Hello."]


def test_many_short_facts_are_looked_for_in_a_text_full_of_their_figures() -> None:
    """By the rarest word of each: looking at every place of a 5 takes minutes."""
    facts = [f"k{n} = {n % 10}" for n in range(4_000)]
    assert lost(facts, ". ".join(facts)) == []
    assert lost(facts, ". ".join(f"j{n} = {n % 10}" for n in range(4_000))) == facts
