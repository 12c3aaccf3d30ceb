"""Conversations are made shorter, and nothing concrete is lost whatever the one who sums up drops or changes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ContextOverflowError, ModelError
from outcrop_schemas.messages import (
    Block,
    Message,
    ModelRequest,
    ModelResponse,
    TextBlock,
    ToolResultBlock,
    ToolSchema,
    ToolUseBlock,
    Usage,
)
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent
from outcrop_specialists.brief import EARLIER, opening, pinned
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.context.compaction import Compactor, Window, decide, paired, seam, tokens_of
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


def said(who: str, *texts: str) -> Message:
    return Message(role=who, content=[TextBlock(text=text) for text in texts])  # type: ignore[arg-type]


def called(number: int, text: str, result: str) -> list[Message]:
    use = ToolUseBlock(id=f"t{number}", name="summarize", input={"columns": [f"c{number}"]})
    return [
        Message(role="assistant", content=[TextBlock(text=text), use]),
        Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content=result)]),
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
    shown = "\n".join(
        block.text if isinstance(block, TextBlock) else getattr(block, "content", "")
        for message in messages
        for block in message.content
    )
    return shown, spoken, measured


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
    ("tokens", "after", "turns", "price", "decision"),
    [
        (100_000, 20_000, 30, 0.1, "no"),  # below 70 %
        (150_000, 30_000, 30, 0.1, "pays"),
        (150_000, 30_000, 2, 0.1, "no"),  # too few turns to pay for reading the rest uncached
        (150_000, 30_000, 2, 1.0, "pays"),  # nothing is cached
        (150_000, 149_000, 99, 0.1, "no"),  # nothing to be saved
        (170_000, 160_000, 1, 0.1, "forced"),
    ],
)
def test_it_is_decided_by_payback_and_forced_at_the_end(
    tokens: int, after: int, turns: int, price: float, decision: str
) -> None:
    assert decide(tokens, Window(200_000, 16_000), after, turns, price) == decision


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


# --- the agent within its window --------------------------------------------------------------------------------------


class Tools:
    def schemas(self) -> list[ToolSchema]:
        return [ToolSchema(name="look", description="Look.", input_schema={"type": "object", "properties": {}})]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return wire.dumps(
            {"summary": f"step {arguments['n']}", "mean": arguments["n"] + 0.25, "w": "word " * 1_500}
        ).decode()


class Works:
    """A model that looks again and again, counts as a server does, and refuses what its window cannot hold."""

    def __init__(self, turns: int, window: int) -> None:
        self.turns, self.window = turns, window
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        tokens = len(request.as_bytes()) // 4
        if tokens > self.window:
            raise ContextOverflowError(f"{tokens} tokens", retryable=False, error_type="context_overflow")
        self.requests.append(request)
        n = len(self.requests)
        content: list[Block] = [ToolUseBlock(id=f"t{n}", name="look", input={"n": n})]
        if n == self.turns:
            content = [
                ToolUseBlock(id="end", name="complete", input={"status": "success", "summary": "s", "results": {}})
            ]
        return ModelResponse(
            id=f"m{n}", model="x", content=content, stop_reason="tool_use", usage=Usage(input_tokens=tokens)
        )


async def test_a_history_ten_times_the_window_never_makes_a_request_above_it(tmp_path: Any) -> None:
    model = Works(120, window := 20_000)
    agent = Agent(
        model,
        Tools(),
        system="You look.",
        opening=opening("look at everything", ["a.csv"], pins=PINS),
        answer=SpecialistAnswer,
        max_turns=200,
        tail=lambda: [pinned(PINS)],
        window=WindowSettings(tokens=window),
        store=Store(tmp_path / "s"),
    )
    end = await agent.run()
    assert end.stop == "completed"
    sizes = [len(request.as_bytes()) // 4 for request in model.requests]
    assert max(sizes) <= window
    whole = sum(tokens_of(request.messages[-1:]) for request in model.requests)
    assert whole > 10 * window
    for request in model.requests:
        texts = [b.text for b in request.messages[-1].content if isinstance(b, TextBlock)]
        assert texts[-1] == pinned(PINS)
        assert paired(request.messages) == request.messages
    # What was measured in the first turn is still known in the last.
    shown = model.requests[-1].as_bytes().decode()
    assert "mean = 1.25" in shown


async def test_twenty_turns_of_rebooking_carry_the_four_facts_word_for_word(tmp_path: Any) -> None:
    facts = {
        "deadline": "arrive before 2026-12-24 16:00",
        "forbidden": "no connection via Frankfurt (FRA)",
        "preference": "aisle seat, row 12 or higher",
        "credit": "voucher AB-4471 over 318.40 EUR",
    }
    with_pins, without = await story(facts, tmp_path / "a", pin=True), await story(facts, tmp_path / "b", pin=False)
    assert all(all(f"{key} = {value}" in request for key, value in facts.items()) for request in with_pins)
    assert any(value not in request for request in without for value in facts.values())


async def story(facts: dict[str, str], folder: Any, *, pin: bool) -> list[str]:
    """Twenty turns in a small window. Without pins the facts stand where users write them: in the middle of a text."""
    model = Works(20, 6_000)
    told = "Rebook my flight. " + "I had a long day and much to tell about it. " * 60
    told += ". ".join(facts.values()) if not pin else ""
    agent = Agent(
        model,
        Chat(told),
        system="You rebook.",
        opening=opening("rebook the flight", pins=facts if pin else None),
        answer=SpecialistAnswer,
        tail=lambda: [pinned(facts)] if pin else [],
        window=WindowSettings(tokens=6_000),
        store=Store(folder),
    )
    await agent.run()
    return [request.as_bytes().decode().replace("\\n", "\n") for request in model.requests]


class Chat(Tools):
    def __init__(self, told: str) -> None:
        self._told = told

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return self._told if arguments["n"] == 1 else await super().call(name, arguments, call_id)
