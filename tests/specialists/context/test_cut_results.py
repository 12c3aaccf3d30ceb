"""What is cut so that a request fits is not lost: it lies whole in the store, and its facts are known."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import limits, wire
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
from outcrop_specialists.brief import EARLIER, opening
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.context.compaction import Compactor, Window
from outcrop_specialists.context.segments import estimated
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.window import READ_RESULT, page_chars, result_chars
from outcrop_specialists.toolbox import bounded, read_page

CUT = re.compile(r"characters are left out here; read_result (\w+) has the whole")
WORDS = ("granite", "vein", "schist", "weathered", "quartz")


def long_result(number: int, chars: int) -> str:
    """Prose with one sentence in its middle that binds."""
    rand = random.Random(number)
    side = " ".join(rand.choice(WORDS) for _ in range(chars // 14))
    return wire.dumps({"summary": "looked", "text": f"{side}\n{fact(number)}\n{side}"}).decode()


def fact(number: int) -> str:
    return f"The credit of lot {number} is {100 + number * 7.25:.2f} EUR, never refundable."


def turn(count: int, chars: int) -> list[Message]:
    """One turn that asked for so many results."""
    calls: list[Block] = [ToolUseBlock(id=f"t{n}", name="look", input={"n": n}) for n in range(count)]
    results: list[Block] = [ToolResultBlock(tool_use_id=f"t{n}", content=long_result(n, chars)) for n in range(count)]
    return [Message(role="assistant", content=calls), Message(role="user", content=results)]


def results_in(messages: list[Message]) -> list[str]:
    return [b.content for message in messages for b in message.content if isinstance(b, ToolResultBlock)]


def test_what_is_cut_is_whole_in_the_store_and_its_facts_stay_in_view(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    compactor = Compactor(store)
    messages = [Message(role="user", content=[TextBlock(text="Objective:\nlook")]), *turn(12, 54_000)]
    cut = compactor.cuts.shrunk(messages)
    assert cut is not None
    for number, (whole, content) in enumerate(zip(results_in(messages), results_in(cut), strict=True)):
        assert len(content) < 21_000
        assert fact(number) in content
        handle = CUT.search(content)
        assert handle is not None
        assert store.whole(handle[1]) == whole
        assert fact(number) in read_page(store, {"handle": handle[1], "find": f"lot {number} is"})


async def test_what_was_cut_twice_is_learned_and_archived_as_it_was_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    compactor = Compactor(store)
    compactor.within(Window(200_000))
    messages = [Message(role="user", content=[TextBlock(text="Objective:\nlook")]), *turn(3, 54_000)]
    cut = compactor.cuts.shrunk(messages)
    assert cut is not None
    again = compactor.cuts.shrunk(cut)
    assert again is not None
    assert compactor.cuts.wholes(again) == messages
    for number in range(3):
        handle = CUT.search(results_in(again)[number])
        assert handle is not None
        assert store.whole(handle[1]) == results_in(messages)[number]
    later = [*again, Message(role="assistant", content=[TextBlock(text="so")])]
    made = await compactor.compacted(later, 1)
    assert made is not None
    block = compactor.earlier_in(made) or ""
    assert [number for number in range(3) if fact(number) not in block] == []
    archive = re.search(r"all of them: read_result (\w+)", block)
    assert archive is not None
    lines = store.whole(archive[1]).splitlines()
    assert [Message.model_validate(wire.loads(line)) for line in lines] == messages[1:]


def test_what_cannot_be_put_aside_is_cut_all_the_same_and_says_so(tmp_path: Path) -> None:
    compactor = Compactor(Store(tmp_path / "s", quota=10))
    cut = compactor.cuts.shrunk([Message(role="user", content=[TextBlock(text="look")]), *turn(1, 54_000)])
    assert cut is not None
    assert "could not be put aside" in results_in(cut)[0]
    assert fact(0) in results_in(cut)[0]


class Looks:
    """A model that asks for many results at once, for so many turns."""

    def __init__(self, turns: int, at_once: int) -> None:
        self.turns, self.at_once = turns, at_once
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        n = len(self.requests)
        content: list[Block] = [
            ToolUseBlock(id=f"t{n}_{k}", name="look", input={"n": n * 100 + k}) for k in range(self.at_once)
        ]
        if n > self.turns:
            done = {"status": "success", "summary": "s", "results": {}}
            content = [ToolUseBlock(id="end", name="complete", input=done)]
        usage = Usage(input_tokens=round(sum(estimated(request).values()) * 0.9))
        return ModelResponse(id=f"m{n}", model="x", content=content, stop_reason="tool_use", usage=usage)


class Tools:
    def __init__(self, store: Store, chars: int, window: int) -> None:
        self._store, self._chars, self._window = store, chars, window
        self.told: list[str] = []

    def schemas(self) -> list[ToolSchema]:
        return [READ_RESULT]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        self.told.append(fact(arguments["n"]))
        return bounded(long_result(arguments["n"], self._chars), self._store, result_chars(self._window))


@pytest.mark.parametrize(("window", "turns", "at_once"), [(200_000, 3, 10), (20_000, 6, 4), (9_000, 6, 2)])
async def test_the_results_of_one_turn_fit_and_their_facts_are_not_lost(
    tmp_path: Path, window: int, turns: int, at_once: int
) -> None:
    store = Store(tmp_path / "s")
    model, tools = Looks(turns, at_once), Tools(store, 54_000, window)
    agent = Agent(
        model,
        tools,
        system="You look.",
        opening=opening("look"),
        answer=SpecialistAnswer,
        window=WindowSettings(tokens=window),
        store=store,
    )
    end = await agent.run()
    assert end.stop == "completed"
    assert len(tools.told) == turns * at_once
    assert max(sum(estimated(request).values()) for request in model.requests) <= window
    stored = "".join(path.read_text("utf-8") for path in (tmp_path / "s").iterdir())
    assert [told for told in tools.told if told not in stored] == []
    last = model.requests[-1]
    shown = "\n".join(
        block.text if isinstance(block, TextBlock) else block.content
        for message in last.messages
        for block in message.content
        if isinstance(block, TextBlock | ToolResultBlock)
    )
    assert [told for told in tools.told if told not in shown] == []


@pytest.mark.parametrize("window", [limits.WINDOW_TOKENS_LEAST, 9_000, 40_000, 200_000])
def test_what_comes_through_the_door_is_a_share_of_the_window(tmp_path: Path, window: int) -> None:
    store = Store(tmp_path / "s")
    most, whole = result_chars(window), long_result(1, 200_000)
    found = bounded(whole, store, most)
    told = wire.loads(found)
    assert len(found) <= most + 200
    assert any(fact(1) in each for each in told["facts"])
    handle = re.search(r"read_result (\w+)", told["too_long"])
    assert handle is not None
    assert store.whole(handle[1]) == whole
    # A page of it is less than what may come through, so that it is not put aside again.
    page = read_page(store, {"handle": handle[1], "unit": "byte", "count": 10**6}, window)
    assert len(wire.loads(page)["text"]) <= page_chars(window)
    assert page_chars(window) < most
    assert most == limits.TOOL_RESULT_CHARS or most < Window(window).usable


# --- how often room is made -------------------------------------------------------------------------------------------


class Talks:
    """A model that costs: it says a little each turn, and sums up where it is asked to."""

    def __init__(self, turns: int) -> None:
        self.turns, self.summaries = turns, 0
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        usage = Usage(input_tokens=len(request.as_bytes()) // 4, output_tokens=10)
        if request.purpose == "compaction":
            self.summaries += 1
            said: list[Block] = [TextBlock(text="It goes on well.")]
            return ModelResponse(id="s", model="x", content=said, stop_reason="end_turn", usage=usage)
        self.requests.append(request)
        n = len(self.requests)
        text = f"Flight {n} costs {n * 7.5} EUR " + "and so on " * 40
        said = [ToolUseBlock(id=f"t{n}", name="note", input={"fact": text})]
        if n > self.turns:
            said = [ToolUseBlock(id="e", name="complete", input={"status": "success", "summary": "s", "results": {}})]
        return ModelResponse(id=f"m{n}", model="x", content=said, stop_reason="tool_use", usage=usage)


class Notes:
    def schemas(self) -> list[ToolSchema]:
        return [ToolSchema(name="note", description="Note.", input_schema={"type": "object", "properties": {}})]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return "noted"


async def talked(system_chars: int, window: int, folder: Path) -> Talks:
    model = Talks(40)
    agent = Agent(
        model,
        Notes(),
        system="Talk. " * (system_chars // 6),
        opening=opening("talk"),
        answer=SpecialistAnswer,
        max_turns=60,
        window=WindowSettings(tokens=window, summaries="model"),
        store=Store(folder),
    )
    end = await agent.run()
    assert end.stop == "completed"
    return model


def compactions(model: Talks) -> int:
    """How often what stands for earlier turns became another."""
    blocks = [
        next((b.text for b in r.messages[0].content if isinstance(b, TextBlock) and b.text.startswith(EARLIER)), "")
        for r in model.requests
    ]
    return len(set(blocks) - {""})


async def test_after_a_compaction_several_turns_pass_before_the_next(tmp_path: Path) -> None:
    model = await talked(1_000, 16_000, tmp_path / "s")
    assert 1 <= compactions(model) <= 40 // limits.COMPACT_TURNS
    assert model.summaries <= compactions(model)
    assert max(len(request.as_bytes()) // 4 for request in model.requests) <= 16_000


async def test_where_the_opening_fills_the_window_no_model_is_asked_for_a_summary_each_turn(tmp_path: Path) -> None:
    model = await talked(12_500, 9_000, tmp_path / "s")
    assert compactions(model) > 10
    assert model.summaries <= 2
    assert max(len(request.as_bytes()) // 4 for request in model.requests) <= 9_000
    stored = "".join(path.read_text("utf-8") for path in (tmp_path / "s").iterdir())
    shown = model.requests[-1].as_bytes().decode()
    assert [n for n in range(1, 41) if f"Flight {n} costs {n * 7.5} EUR" not in stored + shown] == []
