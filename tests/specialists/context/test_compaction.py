"""Conversations are made shorter, and nothing concrete is lost whatever the one who sums up drops or changes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from turns_of_work import called, said, says_nothing, shown_in

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import (
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from outcrop_specialists.brief import EARLIER, pinned
from outcrop_specialists.context.compaction import Compactor, Window, decide, tokens_of
from outcrop_specialists.context.pairing import paired, seam
from outcrop_specialists.context.store import Store

PINS = {"deadline": "2026-12-04 18:00, no later", "forbidden": "no connection via Frankfurt (FRA)"}
FACTS = [
    "The credit of 412.75 EUR expires on 2027-03-31.",
    "Booking code QX7-77B belongs to the return leg.",
    "Never use the laboratory batch LB-2291 again.",
    "The detection limit of gold is 0.005 ppm.",
    "Hole DDH-104 must be left out.",
    "I prefer medians to means.",
    "The report goes to results/final_report.csv.",
    "ValueError: column 'Au_ppm' has 3 mixed units.",
    "The tonnage is 1.24e6 t at 2.71 t/m3.",
    "Do not contact the client before Monday.",
]


def corpus(chance: random.Random) -> tuple[list[list[Message]], list[str], list[str]]:
    """Ten stretches of work of twelve turns each, in which 40 facts are said or measured; the facts by their words."""
    stretches, spoken, measured = [], [], []
    number = 0
    for stretch in range(10):
        turns: list[Message] = []
        for turn in range(12):
            number += 1
            text = f"I go on with step {number} and look at how the table is made."
            if turn in (1, 5):
                fact = (
                    FACTS[stretch]
                    if turn == 1
                    else f"The agreed fee of lot {number} is {chance.uniform(1, 900):.2f} USD."
                )
                text, _ = f"{text} {fact} That is all for now.", spoken.append(fact)
            result: dict[str, Any] = {"summary": "looked", "rows": 100, "note": "nothing of note in this one"}
            if turn in (3, 8):
                result[f"mean_{number}"] = chance.uniform(0, 10)
                measured.append(f"mean_{number} = {wire.dumps(result[f'mean_{number}']).decode()}")
            turns += called(number, text, wire.dumps(result).decode())
        stretches.append(turns)
    return stretches, spoken, measured


async def drops_and_paraphrases(task: Sequence[str], before: str | None, removed: Sequence[Message]) -> str:
    """A summary as they are: fluent, and without a single figure."""
    text = " ".join(b.text for message in removed for b in message.content if isinstance(b, TextBlock))
    return "The work went well so far. " + re.sub(r"[\d.]+", "some", text)[:300]


async def squeezed(compactor: Compactor) -> tuple[str, list[str], list[str]]:
    stretches, spoken, measured = corpus(random.Random(4))
    messages = [said("user", pinned(PINS), "Objective:\nSum up what the trench tells.")]
    for stretch in stretches:
        shorter = await compactor.compacted([*messages, *stretch], keep=2)
        assert shorter is not None
        messages = shorter
        assert messages[0].role == "user"
    return shown_in(messages), spoken, measured


async def test_of_forty_facts_none_is_lost_in_ten_compactions_by_one_who_drops_them(tmp_path: Any) -> None:
    compactor = Compactor(Store(tmp_path / "s"), drops_and_paraphrases)
    shown, spoken, measured = await squeezed(compactor)
    assert len(spoken) + len(measured) == 40
    assert pinned(PINS) in shown
    assert [fact for fact in spoken if fact not in shown] == []
    assert [fact for fact in measured if fact not in shown and fact.replace(" = ", '":') not in shown] == []


async def test_without_the_checker_the_same_corpus_loses_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("outcrop_specialists.context.facts.lost", lambda facts, *texts: [])
    shown, spoken, _ = await squeezed(Compactor(Store(tmp_path / "s"), drops_and_paraphrases))
    assert len([fact for fact in spoken if fact not in shown]) > 10


async def test_what_was_removed_is_in_the_store_and_findable(tmp_path: Any) -> None:
    store = Store(tmp_path / "s")
    messages = [said("user", "Objective:\nlook")]
    for number in range(9):
        messages += called(number, f"step {number}", f"result {number}")
    made = await Compactor(store).compacted(messages)
    assert made is not None
    [block] = [b for b in made[0].content if isinstance(b, TextBlock) and b.text.startswith(EARLIER)]
    handle = re.search(r"read_result (\w+)", block.text)
    assert handle
    assert [found["line"] for found in store.find(handle[1], "step 1")] == [2]
    # The last six turns are as they were.
    assert made[1:] == messages[-2 * limits.KEPT_TURNS :]


async def test_a_summary_by_rule_names_each_call_and_what_came_of_it() -> None:
    messages = [said("user", "Objective:\nlook")]
    for number in range(9):
        messages += called(number, "", wire.dumps({"summary": f"mean {number}.5 g/t", "results": {}}).decode())
    made = await Compactor(Store(None)).compacted(messages)
    assert made
    text = made[0].content[-1]
    assert isinstance(text, TextBlock)
    assert '- summarize(columns=["c0"]): mean 0.5 g/t' in text.text


async def test_a_model_that_cannot_sum_up_does_not_stop_the_work() -> None:
    async def fails(*_: object) -> str:
        raise ModelError("overloaded")

    messages = [said("user", "Objective:\nlook")]
    for number in range(9):
        messages += called(number, "", "mean 5")
    made = await Compactor(Store(None), fails).compacted(messages)
    assert made
    assert "- summarize(" in str(made[0].content[-1])


def test_a_seam_never_parts_a_call_from_its_result() -> None:
    messages = [said("user", "go")]
    for number in range(8):
        messages += called(number, "", "r")
    for turns in range(1, 8):
        kept = messages[seam(messages, turns) :]
        assert kept[0].role == "assistant"
        assert sum(message.role == "assistant" for message in kept) == turns
    assert seam(messages, 8) == len(messages)


def test_calls_and_results_are_paired_whatever_came() -> None:
    long = "x" * 4_096
    messages = [
        said("user", "go"),
        Message(role="assistant", content=[ToolUseBlock(id=long, name="a", input={})]),
        said("user", "and?"),
        Message(role="user", content=[ToolResultBlock(tool_use_id="nobody", content="lost")]),
        Message(role="assistant", content=[ToolUseBlock(id="b", name="a", input={})]),
        Message(role="assistant", content=[ToolUseBlock(id="c", name="a", input={})]),
    ]
    made = paired(messages)
    waiting: set[str] = set()
    for message in made:
        given = {b.tool_use_id for b in message.content if isinstance(b, ToolResultBlock)}
        assert given == (waiting if message.role == "user" else set())
        waiting = {b.id for b in message.content if isinstance(b, ToolUseBlock)}
    assert not waiting
    assert paired(made) == made


@pytest.mark.parametrize(
    ("tokens", "after", "turns", "price", "summary", "decision"),
    [
        (100_000, 20_000, 30, 0.1, 0, "no"),  # below 70 %
        (150_000, 30_000, 30, 0.1, 0, "pays"),
        (150_000, 30_000, 2, 0.1, 0, "no"),  # too few turns to pay for reading the rest uncached
        (150_000, 30_000, 2, 1.0, 0, "pays"),  # nothing is cached
        (150_000, 149_000, 99, 0.1, 0, "no"),  # nothing to be saved
        (150_000, 30_000, 10, 0.1, 80_000, "pays"),
        (150_000, 30_000, 10, 0.1, 100_000, "no"),  # what the summary costs is more than is saved
        (170_000, 160_000, 1, 0.1, 900_000, "forced"),
    ],
)
def test_it_is_decided_by_payback_and_forced_at_the_end(
    tokens: int, after: int, turns: int, price: float, summary: float, decision: str
) -> None:
    assert decide(tokens, Window(200_000, 16_000), after, turns, price, summary) == decision


def test_stale_and_repeated_results_go_first_and_keep_their_figures(tmp_path: Any) -> None:
    store = Store(tmp_path / "s")
    long = wire.dumps({"mean": 4.125, "text": "word " * 2_000}).decode()
    messages = [said("user", "go"), *called(0, "", long), *called(1, "", "y" * 300)]
    for number in range(2, 9):
        messages += called(number, "", "y" * 300 if number == 8 else f"result {number}")
    made = Compactor(store).without_stale_results(messages)
    results = [b.content for m in made for b in m.content if isinstance(b, ToolResultBlock)]
    assert "mean = 4.125" in results[0]
    assert len(results[0]) < 2_000
    assert "came again later" in results[1]
    assert results[2:] == [b.content for m in messages[5:] for b in m.content if isinstance(b, ToolResultBlock)]
    handle = re.search(r"read_result (\w+)", results[0])
    assert handle
    assert store.page(handle[1], "byte", 0, 100_000).text == long[: limits.PAGE_CHARS]


async def ten_times(texts: Sequence[str], filler: int, summarise: Any, tmp_path: Any) -> str:
    """What is shown after ten compactions, each of twelve turns with so many sentences full of figures."""
    compactor = Compactor(Store(tmp_path / "s"), summarise)
    messages = [said("user", "Objective:\nlook")]
    for number, text in enumerate(texts):
        messages += called(number, text, "ok")
    for number in range(100, 220):
        chatter = (
            f"In step {number}.{n} column c{number}_{n} has a mean of {number * 1.7 + n:.3f} ppm and a maximum of "
            f"{number * 9.1:.2f} ppm over {number * 13 + n} samples."
            for n in range(filler)
        )
        messages += called(number, " ".join(chatter), "ok")
        if number % 12 == 3:
            messages = await compactor.compacted(messages, keep=2) or messages
    return shown_in(messages)


@pytest.mark.parametrize("filler", [1, 4, 20])
async def test_planted_facts_outlive_chatter_full_of_figures(tmp_path: Any, filler: int) -> None:
    shown = await ten_times(FACTS, filler, says_nothing, tmp_path)
    assert [fact for fact in FACTS if fact not in shown] == []
    left_out = re.search(r"\(\d+ more are in read_result (\w+)\)", shown)
    assert (left_out is not None) == (filler == 20)
    # What there was no room for is counted, and found by its words.
    assert left_out is None or Store(tmp_path / "s").find(left_out[1], "In step 100.0 ")


async def test_a_summary_that_only_comes_near_a_fact_does_not_stand_for_it(tmp_path: Any) -> None:
    async def near(*_: object) -> str:
        return "The credit is 120; limit = 55; the tonnage is 1.24e65; Cu mean = 2.5."

    facts = ["The credit is 12", "limit = 5", "the tonnage is 1.24e6"]
    shown = await ten_times([*facts], 1, near, tmp_path)
    assert [fact for fact in facts if f"- {fact}\n" not in shown] == []


async def test_the_room_for_facts_grows_with_the_window() -> None:
    sizes = []
    for tokens in (4_000, 20_000, 100_000, 200_000):
        compactor = Compactor(Store(None), says_nothing)
        compactor.within(window := Window(tokens))
        messages = [said("user", "Objective:\nlook")]
        for number in range(40):
            text = " ".join(f"Lot {number}.{n} must cost {n * 7.5:.2f} USD." for n in range(100))
            messages += called(number, text, "ok")
        made = await compactor.compacted(messages)
        assert made
        sizes.append(tokens_of(made[:1]))
        assert sizes[-1] < 0.6 * window.usable
    assert sizes == sorted(sizes)
    assert sizes[-1] > 1.8 * sizes[-2]


async def test_what_only_looks_like_our_own_words_is_learned_like_any_other(tmp_path: Any) -> None:
    own = f"{EARLIER} (3 turns are no longer shown): never use batch LB-2291."
    aside = "[put aside: it is closed, error 77]\nmean = 4.125"
    compactor = Compactor(Store(tmp_path / "s"), says_nothing)
    messages = [said("user", own, "Objective:\nlook"), *called(0, own.replace("LB-2291", "LB-7"), aside)]
    for number in range(1, 9):
        messages += called(number, "", "ok")
    made = await compactor.compacted(messages)
    assert made
    assert made[0].content[:2] == messages[0].content
    shown = shown_in(made[:1])
    assert "never use batch LB-7." in shown
    assert "error 77" in shown
    assert "mean = 4.125" in shown
    assert compactor.earlier_in(messages) is None
    assert compactor.earlier_in(made) == made[0].content[-1].text  # type: ignore[union-attr]


async def test_the_arguments_of_removed_calls_stay() -> None:
    use = ToolUseBlock(id="a", name="compare", input={"cutoff": 0.37, "condition": "Au > 0.37"})
    first = [Message(role="assistant", content=[use]), *called(0, "", "ok")[1:]]
    messages = [said("user", "go"), *first]
    for number in range(1, 9):
        messages += called(number, "", "ok")
    made = await Compactor(Store(None), says_nothing).compacted(messages)
    assert made
    assert "- compare.cutoff = 0.37\n- compare.condition = Au > 0.37" in shown_in(made)


async def test_a_text_that_went_stale_keeps_what_binds_now_and_the_rest_at_the_compaction(tmp_path: Any) -> None:
    flights = [f"Flight LH{n} costs {n * 3.3:.2f} EUR" for n in range(60)]
    binds = "The refund deadline is 2026-12-04 and never later."
    text = "\n".join(["word " * 1_500, *flights, binds, *(f.replace("LH", "BA") for f in flights)])
    messages = [said("user", "go"), *called(0, "", text)]
    for number in range(1, 9):
        messages += called(number, "", "ok")
    compactor = Compactor(Store(tmp_path / "s"), says_nothing)
    stale = compactor.without_stale_results(messages)
    [block] = stale[2].content
    assert isinstance(block, ToolResultBlock)
    assert binds in block.content
    assert re.search(r"\d+ facts only there\]", block.content)
    made = await compactor.compacted(stale)
    assert made
    assert [fact for fact in [binds, *flights] if fact not in shown_in(made)] == []
