"""The agent within its window: no request above it, whatever comes, and what is pinned in every one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, ContextOverflowError
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
from outcrop_specialists.context.compaction import Compactor, Window, tokens_of
from outcrop_specialists.context.pairing import paired
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import ContextWindow
from outcrop_specialists.toolbox import read_page

PINS = {"deadline": "2026-12-04 18:00, no later", "forbidden": "no connection via Frankfurt (FRA)"}


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
        self.sizes: list[int] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        tokens = len(request.as_bytes()) // 4
        self.sizes.append(tokens)
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
    # Those that were refused too: it is the window that keeps them below, not the server.
    assert max(model.sizes) <= window
    assert len(model.sizes) == len(model.requests)
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
    assert len(with_pins) == len(without) == 20
    assert all(all(f"{key} = {value}" in request for key, value in facts.items()) for request in with_pins)
    # Only from the request on in which they are told can they be lost.
    told = without[1:]
    assert all(value in told[0] for value in facts.values())
    assert any(value not in request for request in told for value in facts.values())
    assert all(any(EARLIER in request for request in each) for each in (with_pins, without))


async def test_nothing_of_the_rebooking_is_lost_where_nothing_is_compacted(tmp_path: Any) -> None:
    """So that the loss above is one by compaction."""
    facts = {"credit": "voucher AB-4471 over 318.40 EUR"}
    requests = await story(facts, tmp_path, pin=False, window=200_000)
    assert not any(EARLIER in request for request in requests)
    assert all(facts["credit"] in request for request in requests[1:])


async def story(facts: dict[str, str], folder: Any, *, pin: bool, window: int = 6_000) -> list[str]:
    """Twenty turns in a small window. Without pins the facts stand where users write them: in the middle of a text, and
    later turns tell more that binds than such a window has room for."""
    model = Works(20, window)
    told = "Rebook my flight. " + "I had a long day and much to tell about it. " * 60
    told += ". ".join(facts.values()) if not pin else ""
    agent = Agent(
        model,
        Chat(told),
        system="You rebook.",
        opening=opening("rebook the flight", pins=facts if pin else None),
        answer=SpecialistAnswer,
        tail=lambda: [pinned(facts)] if pin else [],
        window=WindowSettings(tokens=window),
        store=Store(folder),
    )
    await agent.run()
    return [request.as_bytes().decode().replace("\\n", "\n") for request in model.requests]


class Chat(Tools):
    def __init__(self, told: str) -> None:
        self._told, self._chance = told, random.Random(7)

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        if arguments["n"] == 1:
            return self._told
        words = ["".join(self._chance.choices("abcdefghij", k=7)) for _ in range(40)]
        return "\n".join(
            f"Never book {a} for {b} before 2026-12-{self._chance.randint(10, 30)}: 88.40 EUR are due."
            for a, b in zip(words[::2], words[1::2], strict=True)
        )


# --- shorter and shorter ----------------------------------------------------------------------------------------------


def turn(number: int, text: str, result: str) -> list[Message]:
    use = ToolUseBlock(id=f"t{number}", name="look", input={})
    return [
        Message(role="assistant", content=[TextBlock(text=text), use]),
        Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content=result)]),
    ]


async def fitted(tokens: int, *turns: tuple[str, str]) -> list[Message]:
    messages = [Message(role="user", content=[TextBlock(text="Objective:\nlook")])]
    for number, (text, result) in enumerate(turns):
        messages += turn(number, text, result)
    window = ContextWindow(WindowSettings(tokens=tokens), Compactor(Store(None)), 100)
    made = await window.fitting(ModelRequest(system="s", messages=messages), messages)
    assert made is not None
    assert paired(made) == made
    return made


def words(tokens: int) -> str:
    return ("word " * tokens)[: 3 * tokens]


def turns_of(messages: list[Message]) -> int:
    return sum(message.role == "assistant" for message in messages)


@pytest.mark.parametrize(("long", "kept"), [(100, 6), (500, 6), (1_500, 2), (6_000, 1)])
async def test_as_many_of_the_last_turns_are_kept_as_leave_room_for_more(long: int, kept: int) -> None:
    """What the model said itself is never cut; so fewer turns are kept where those are long."""
    usable = Window(20_000).usable
    made = await fitted(20_000, *[(words(2_000), "ok")] * 6, *[(words(long), "ok")] * 6)
    assert turns_of(made) == kept
    assert tokens_of(made) < limits.COMPACT_AT * usable


async def test_a_last_result_above_the_window_is_cut_until_it_fits() -> None:
    for long in (9_000, 30_000, 60_000):
        made = await fitted(20_000, *[("go", "ok")] * 8, ("go", words(long)))
        assert tokens_of(made) < limits.COMPACT_FORCED_AT * Window(20_000).usable
        [result] = made[-1].content
        assert isinstance(result, ToolResultBlock)
        assert "characters are left out here; read_result" in result.content


async def test_a_first_turn_above_the_window_is_cut_though_there_is_nothing_to_sum_up() -> None:
    made = await fitted(20_000, ("go", words(30_000)))
    assert tokens_of(made) < limits.COMPACT_FORCED_AT * Window(20_000).usable


async def test_a_call_without_its_result_is_answered_when_room_is_made() -> None:
    messages = [Message(role="user", content=[TextBlock(text="Objective:\nlook")])]
    for number in range(12):
        messages += turn(number, words(1_500), "ok")
    messages[-1] = Message(role="user", content=[TextBlock(text="and?")])
    window = ContextWindow(WindowSettings(tokens=20_000), Compactor(Store(None)), 100)
    made = await window.fitting(ModelRequest(system="s", messages=messages), messages)
    assert made is not None
    assert "never answered" in str(made[-1].content[0])


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": -6}, {"start": -1}, {"start": -6, "unit": "byte"}])
@pytest.mark.parametrize("find", [None, "word"])
def test_a_page_of_less_than_something_is_refused(tmp_path: Any, wrong: dict[str, Any], find: str | None) -> None:
    store = Store(tmp_path / "s")
    handle = store.put("word " * 100_000)
    with pytest.raises(ArgumentError, match=r"count|start"):
        read_page(store, {"handle": handle, "find": find, **wrong})


@pytest.mark.parametrize("unit", ["line", "record", "byte"])
def test_a_page_is_bounded_whatever_is_asked(tmp_path: Any, unit: str) -> None:
    store = Store(tmp_path / "s")
    for text in ("word " * 100_000, "word\n" * 100_000, wire.dumps([["word"]] * 50_000).decode()):
        page = wire.loads(read_page(store, {"handle": store.put(text), "unit": unit, "count": 10**12}))
        assert 0 < len(page["text"]) <= limits.PAGE_CHARS


def test_what_is_found_goes_on_where_it_ended(tmp_path: Any) -> None:
    store = Store(tmp_path / "s")
    files = [{"path": f"results/file_{n}.csv", "rows": n} for n in range(300)]
    handle = store.put(wire.dumps({"summary": "x", "results": {"files": files}}).decode())
    seen, start = "", 0
    while True:
        found = wire.loads(read_page(store, {"handle": handle, "find": ".CSV", "start": start}))
        seen += "".join(place["text"] for place in found["found"])
        if "next_start" not in found:
            break
        assert found["next_start"] > start
        start = found["next_start"]
    assert [n for n in range(300) if f"file_{n}." not in seen] == []
