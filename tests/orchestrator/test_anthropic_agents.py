"""What the agent loop does about the ways in which a turn can end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MODELS, MessagesApi
from servers.turns import Answer, answer, call, text, thinking
from warm import warm

from outcrop import Pool
from outcrop.models.anthropic import AnthropicModel
from outcrop_schemas.errors import ContextOverflowError
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.agent import CUT_OFF, Agent, AgentEnd
from outcrop_specialists.completion import SpecialistAnswer

Serving = Callable[..., MessagesApi]
DONE = answer(call("complete", status="success", summary="done", results={}))


class Tools:
    """One tool that gives a text of a length, and remembers its calls."""

    def __init__(self, characters: int = 10) -> None:
        self._characters = characters
        self.calls: list[dict[str, Any]] = []

    def schemas(self) -> list[ToolSchema]:
        return [ToolSchema(name="look", description="Look at it.", input_schema={"type": "object"})]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        self.calls.append(arguments)
        return "x" * self._characters


async def work(tools: Tools, **options: Any) -> AgentEnd:
    model = AnthropicModel(MODELS[0])
    try:
        return await Agent(
            model, tools, system="You work.", opening=["do it"], answer=SpecialistAnswer, **options
        ).run()
    finally:
        await model.close()


def last_turn(api: MessagesApi) -> list[Any]:
    return [message["content"] for message in api.seen[-1].body["messages"]]


async def test_nothing_of_a_turn_that_was_cut_off_is_carried_out(serving: Serving) -> None:
    cut = answer(thinking("I"), text("I look."), call("look", at=1), call("look", at=2), stop="max_tokens")
    api, tools = serving(cut, DONE), Tools()
    assert (await work(tools)).stop == "completed"
    assert tools.calls == []
    content = last_turn(api)
    assert [block["type"] for block in content[1]] == ["thinking", "text"]
    assert content[2][0]["text"] == CUT_OFF
    assert api.refusals == []


@pytest.mark.parametrize("blocks", [(), (thinking("hm"),), (call("look"),), (text(" "),)])
async def test_a_turn_that_was_cut_off_may_hold_anything(serving: Serving, blocks: tuple[Any, ...]) -> None:
    api = serving(answer(*blocks, stop="max_tokens"), DONE)
    assert (await work(Tools())).stop == "completed"
    assert api.refusals == []


async def test_a_model_that_is_cut_off_again_and_again_ends_with_the_reason(serving: Serving) -> None:
    serving(answer(text("on and on"), stop="max_tokens", output_tokens=123))
    end = await work(Tools())
    assert (end.stop, end.reason) == ("max_tokens", "turns were cut off at 123 tokens of output")


async def test_a_refusal_ends_the_work_with_what_the_server_says(serving: Serving) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "It is not for this."}
    serving(answer(call("look"), stop="refusal", stop_details=details))
    tools = Tools()
    end = await work(tools)
    assert (end.stop, end.reason) == ("refusal", "the model refused to go on: cyber: It is not for this.")
    assert tools.calls == []


async def test_a_turn_that_was_paused_goes_on_from_where_it_was(serving: Serving) -> None:
    api = serving(answer(text("I was about to"), stop="pause_turn"), DONE)
    assert (await work(Tools())).stop == "completed"
    assert [message["role"] for message in api.seen[-1].body["messages"]] == ["user", "assistant"]
    assert api.refusals == []


async def test_a_text_without_words_is_not_sent_back(serving: Serving) -> None:
    api = serving(answer(text("  "), call("look")), DONE)
    assert (await work(Tools())).stop == "completed"
    assert [block["type"] for block in last_turn(api)[1]] == ["tool_use"]
    assert api.refusals == []


async def test_a_conversation_that_is_too_long_is_made_smaller_once(serving: Serving) -> None:
    api, tools = serving(window_tokens=30_000), Tools(40_000)

    def script(body: Any) -> Answer:
        looked = len(tools.calls)
        return answer(call("look", at=looked)) if looked < 4 else DONE

    api.script = script
    end = await work(tools)
    assert end.stop == "completed"
    assert api.statuses.count(400) == 1
    sizes = [len(str(seen.body)) for seen in api.seen]
    refused = api.statuses.index(400)
    assert sizes[refused + 1] < sizes[refused] / 2
    assert api.refusals == []


async def test_what_cannot_be_made_smaller_is_told(serving: Serving) -> None:
    api = serving(DONE, window_tokens=10)
    with pytest.raises(ContextOverflowError, match="prompt is too long"):
        await work(Tools())
    assert api.statuses == [400]


async def test_a_smaller_conversation_that_is_still_too_long_is_not_tried_again(serving: Serving) -> None:
    api = serving()

    def script(body: Any) -> Answer:
        api.window_tokens = 10
        return answer(call("look"))

    api.script = script
    with pytest.raises(ContextOverflowError):
        await work(Tools(40_000))
    assert api.statuses == [200, 400, 400]


async def test_a_specialist_process_learns_that_its_window_is_full(serving: Serving, workspace: Path) -> None:
    """The error keeps its kind over the model channel, and the specialist goes on with less."""
    for number in range(300):
        (workspace / f"a_file_with_a_long_name_{number:04d}.csv").write_text("a\n1\n")
    api = serving()

    def script(body: Any) -> Answer:
        if len(body["messages"]) > 1:
            return DONE
        api.window_tokens = (
            sum(api.cache.usage(body)[name] for name in ("input_tokens", "cache_read_input_tokens")) + 2_000
        )
        return answer(call("list_files"))

    api.script = script
    async with Pool(workers=1, model=AnthropicModel(MODELS[0]), workspace=workspace, launcher=warm()) as pool:
        outcome = await pool.dispatch("analytics", "look")
    assert outcome.status == "success", outcome.errors
    assert api.statuses == [200, 400, 200]
    assert api.refusals == []


REDACTED = {"type": "redacted_thinking", "data": "abc"}
LOOK = call("look", at=1)
ODD_TURNS: dict[str, tuple[list[Answer], int]] = {
    "thinking and nothing else": ([answer(thinking("hm"))], 0),
    "thinking and a blank text": ([answer(thinking("hm"), text(" \n"))], 0),
    "thinking that only the server can read": ([answer(REDACTED)], 0),
    "nothing at all": ([answer()], 0),
    "a text that ends in white space": ([answer(text("hm  \n"))], 0),
    "a pause after white space": ([answer(text("part "), stop="pause_turn")], 0),
    "two pauses": ([answer(text("a"), stop="pause_turn"), answer(text("b"), stop="pause_turn")], 0),
    "a pause, then a call": ([answer(text("a"), stop="pause_turn"), answer(LOOK)], 1),
    "a pause amid thinking": ([answer(thinking("a"), stop="pause_turn")], 0),
    "a pause with a call": ([answer(text("a"), LOOK, stop="pause_turn")], 0),
    "a pause, then a cut": ([answer(text("a"), stop="pause_turn"), answer(text("b"), stop="max_tokens")], 0),
    "a reason of tomorrow with a call": ([answer(LOOK, stop="novel_reason")], 0),
    "a stop sequence with a call": ([answer(LOOK, stop="stop_sequence")], 0),
    "a completion for a reason of tomorrow": ([answer(call("complete", status="success"), stop="novel_reason")], 0),
    "an end of turn with a call": ([answer(LOOK, stop="end_turn")], 1),
    "one id in two turns": ([answer({**LOOK, "id": "toolu_1"}), answer({**call("look", at=2), "id": "toolu_1"})], 2),
    "an id of 4 KB": ([answer({**LOOK, "id": "x" * 4_096})], 1),
    "an id of other characters": ([answer({**LOOK, "id": "call:1 é"})], 1),
    "a name of other characters": ([answer({**LOOK, "name": "no such tool!"})], 1),
}


@pytest.mark.parametrize("what", ODD_TURNS)
async def test_a_server_takes_back_whatever_turn_it_gave(serving: Serving, what: str) -> None:
    turns, carried_out = ODD_TURNS[what]
    api, tools = serving(*turns, DONE), Tools()
    end = await work(tools, tail=lambda: ["what changes"])
    assert end.stop == "completed", end.reason
    assert api.refusals == []
    assert set(api.statuses) == {200}
    assert len(tools.calls) == carried_out
