"""What one agent is offered: it grows, keeps its order, and no tool is ever out of reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.context.selection.cards import ToolCard
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.context.selection.selection import SelectionRecord, ToolSelection

WORD_LIST = "ant bee cow dog elk fox gnu hen ibis jay kite lark mole newt owl pig quail ram swan toad"
WORDS = WORD_LIST.split()
INDEX = ToolIndex([ToolCard(f"see_{word}", f"Watches the {word}.", (f"where a {word} sleeps",)) for word in WORDS])
FALLBACK = ("find_tools", "complete")
TEXTS = st.lists(st.sampled_from([*WORDS, "watch", "the", "sleep", "."]), max_size=12).map(" ".join)


def selection(records: list[SelectionRecord] | None = None, tools: int = len(WORDS)) -> ToolSelection:
    told = records if records is not None else []
    return ToolSelection(INDEX, INDEX.names[:tools], FALLBACK, on_choice=told.append)


@given(st.lists(TEXTS, max_size=6))
def test_what_is_offered_only_grows_keeps_its_order_and_is_the_same_every_time(texts: list[str]) -> None:
    one, two = selection(), selection()
    before = one.offered
    assert before == list(FALLBACK)
    for text in texts:
        now = one.select(text)
        assert now[: len(before)] == before
        assert len(now) == len(set(now)) <= len(before) + limits.TOOLS_OFFERED_MOST
        assert two.select(text) == now
        before = now


@given(st.lists(st.one_of(TEXTS, st.sampled_from(INDEX.names)), max_size=8))
def test_every_choice_is_recorded_as_it_changed_what_is_offered(steps: list[str]) -> None:
    records: list[SelectionRecord] = []
    chosen = selection(records)
    for step in steps:
        if step in INDEX.names:
            chosen.missed(step)
        else:
            chosen.select(step)
    offered = list(FALLBACK)
    for record in records:
        offered += record.added
        assert list(record.offered) == offered
    assert chosen.offered == offered


def test_what_is_said_in_words_of_another_language_is_offered_everything() -> None:
    records: list[SelectionRecord] = []
    assert set(selection(records).select("wo schlafen denn die Eulen und Wachteln")) == {*FALLBACK, *INDEX.names}
    assert records[0].added == INDEX.names
    assert selection().select("") == list(FALLBACK)


def test_the_tool_of_the_step_is_offered_and_most_others_are_not() -> None:
    records: list[SelectionRecord] = []
    offered = selection(records).select("where does the owl sleep")
    assert "see_owl" in offered
    assert len(offered) <= len(FALLBACK) + limits.TOOLS_OFFERED
    assert records[0].why == "select"
    assert records[0].query == "where does the owl sleep"
    assert records[0].scores[0].name == "see_owl"
    assert records[0].scores[0].score > records[0].scores[1].score


def test_a_step_of_many_parts_is_offered_the_tool_of_each() -> None:
    parts = WORDS[3:10]
    offered = selection().select(". ".join(f"Please have a close look at the {word}" for word in parts) + ".")
    assert {f"see_{word}" for word in parts} <= set(offered)
    assert len(offered) <= len(FALLBACK) + limits.TOOLS_OFFERED_MOST


def test_fewer_can_be_asked_for() -> None:
    few = ToolSelection(INDEX, INDEX.names, k=3, most=3)
    assert len(few.select("watch the ant, the bee, the cow, the dog and the elk when they sleep")) == 3


@pytest.mark.parametrize("tools", [0, 1, limits.TOOLS_ALL_OFFERED])
def test_an_agent_with_few_tools_is_offered_all_in_their_order(tools: int) -> None:
    records: list[SelectionRecord] = []
    chosen = selection(records, tools)
    assert not chosen.is_selecting
    assert chosen.select("owl") == [*FALLBACK, *INDEX.names[:tools]]
    assert records == []


def test_one_tool_more_and_it_is_selected() -> None:
    chosen = selection(tools=limits.TOOLS_ALL_OFFERED + 1)
    assert chosen.is_selecting
    assert len(chosen.select("the jay")) < limits.TOOLS_ALL_OFFERED


def test_a_tool_that_was_not_offered_but_asked_for_is_a_miss_once_and_offered_from_then_on() -> None:
    records: list[SelectionRecord] = []
    chosen = selection(records)
    assert chosen.missed("see_pig")
    assert not chosen.missed("see_pig")
    assert not chosen.missed("complete")
    assert chosen.offered == [*FALLBACK, "see_pig"]
    assert [(record.why, record.missed, record.added) for record in records] == [("miss", "see_pig", ("see_pig",))]


def test_every_tool_can_be_found_and_used() -> None:
    for word in WORDS:
        records: list[SelectionRecord] = []
        chosen = selection(records)
        found = dict(chosen.find(f"sleeping {word}"))
        assert found[f"see_{word}"] == f"Watches the {word}."
        assert len(found) <= limits.TOOLS_FOUND
        assert chosen.offered == list(FALLBACK)
        assert chosen.offer(f"see_{word}")
        assert chosen.offered == [*FALLBACK, f"see_{word}"]
        assert [record.why for record in records] == ["find", "offer"]


@pytest.mark.parametrize("ask", ["offer", "missed"])
def test_a_tool_that_the_agent_does_not_have_is_refused_with_the_closest_name(ask: str) -> None:
    chosen = selection(tools=12)
    for name in ("see_owll", "see_toad"):
        with pytest.raises(UnknownNameError, match=r"Did you mean|Known"):
            getattr(chosen, ask)(name)
    assert chosen.offered == list(FALLBACK)


def test_a_tool_that_the_index_does_not_hold_is_refused_at_once() -> None:
    with pytest.raises(UnknownNameError, match="see_unicorn"):
        ToolSelection(INDEX, ["see_unicorn"])


def test_only_the_agents_own_tools_are_offered_and_found() -> None:
    chosen = selection(tools=12)
    own = {*INDEX.names[:12], *FALLBACK}
    assert set(chosen.select("the toad, the swan and the owl sleep")) <= own
    assert {name for name, _ in chosen.find("toad")} <= own
