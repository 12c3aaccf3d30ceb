"""The anthropic model on the real SDK, asked over real sockets: every kind of turn, and what is sent for it."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import KEY, MODELS, Fault, MessagesApi
from servers.strict import MOST_BREAKPOINTS, breakpoints
from servers.turns import answer, call, text, thinking

from outcrop.models.anthropic import AnthropicModel
from outcrop_schemas.errors import ContextOverflowError, ModelError
from outcrop_schemas.messages import (
    Message,
    ModelRequest,
    TextBlock,
    ThinkingBlock,
    ToolChoice,
    ToolResultBlock,
    ToolSchema,
    ToolUseBlock,
)

TOOL = ToolSchema(name="look", description="Look.", input_schema={"type": "object", "properties": {"at": {}}})
Serving = Callable[..., MessagesApi]


def asking(words: str = "hello", **more: Any) -> ModelRequest:
    return ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text=words)])], **more)


async def test_a_plain_turn_has_its_text_usage_and_request_id(serving: Serving) -> None:
    api = serving(answer(text("Hello, you. " * 20), output_tokens=77))
    response = await AnthropicModel(MODELS[0]).create(asking())
    assert response.content == [TextBlock(text="Hello, you. " * 20)]
    assert response.stop_reason == "end_turn"
    assert response.usage.output_tokens == 77
    assert response.usage.input_tokens + response.usage.cache_creation_input_tokens > 5
    assert response.model_dump()["request_id"] == response.id.removeprefix("msg_")
    [seen] = api.seen
    assert seen.body["stream"] is True
    assert seen.body["model"] == MODELS[0]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert api.refusals == []


async def test_a_tool_round_trip_keeps_thinking_with_its_signature(serving: Serving) -> None:
    huge = 10**30
    first = answer(thinking("Let me see.", "c2ln"), {"type": "redacted_thinking", "data": "eHl6"}, text("I look."),
                   call("look", at={"ä": [1.5, None, huge]}))  # fmt: skip
    api = serving(first, answer(text("Seen.")))
    model, question = AnthropicModel(MODELS[0]), asking(tools=[TOOL])
    response = await model.create(question)
    [use] = response.tool_uses()
    assert use.input == {"at": {"ä": [1.5, None, huge]}}
    assert response.stop_reason == "tool_use"
    messages = [
        *question.messages,
        Message(role="assistant", content=response.content),
        Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content="a stone")]),
    ]
    again = await model.create(ModelRequest(system="You answer.", messages=messages, tools=[TOOL]))
    assert again.content == [TextBlock(text="Seen.")]
    sent = api.seen[1].body["messages"][1]["content"]
    assert sent == [{key: value for key, value in block.items()} for block in first["content"]]
    assert api.refusals == []


async def test_what_is_sent_asks_for_thinking_where_the_model_has_it(serving: Serving) -> None:
    api = serving()
    await AnthropicModel(MODELS[0]).create(asking())
    await AnthropicModel(MODELS[0], thinking=False, effort="low", max_tokens=99).create(asking())
    await AnthropicModel(MODELS[0], thinking=2_048).create(asking())
    first, second, third = (seen.body for seen in api.seen)
    assert first["thinking"] == {"type": "adaptive"}
    assert "output_config" not in first
    assert (second["thinking"], second["output_config"], second["max_tokens"]) == (
        {"type": "disabled"},
        {"effort": "low"},
        99,
    )
    assert third["thinking"] == {"type": "enabled", "budget_tokens": 2_048}


async def test_no_turn_is_asked_to_be_longer_than_the_model_can(serving: Serving) -> None:
    api = serving()
    await AnthropicModel(MODELS[0], max_tokens=1_000_000).create(asking())
    assert api.seen[0].body["max_tokens"] == 64_000


async def test_a_tool_can_be_forced(serving: Serving) -> None:
    api = serving(answer(call("look")))
    choice = ToolChoice(type="tool", name="look")
    await AnthropicModel(MODELS[0], thinking=False).create(asking(tools=[TOOL], tool_choice=choice))
    assert api.seen[0].body["tool_choice"] == {"type": "tool", "name": "look"}
    assert api.refusals == []


async def test_breakpoints_stand_after_tools_system_and_the_last_stable_turns(serving: Serving) -> None:
    api = serving()
    use = ToolUseBlock(id="toolu_1", name="look", input={})
    messages = [
        Message(role="user", content=[TextBlock(text="one"), TextBlock(text="two")]),
        Message(role="assistant", content=[use]),
        Message(
            role="user", content=[ToolResultBlock(tool_use_id="toolu_1", content="seen"), TextBlock(text="History: …")]
        ),
    ]
    request = ModelRequest(system="s", messages=messages, tools=[TOOL, TOOL.model_copy(update={"name": "b"})])
    await AnthropicModel(MODELS[0]).create(request.model_copy(update={"tail_blocks": 1}))
    body = api.seen[0].body
    assert breakpoints(body) == MOST_BREAKPOINTS
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    assert "cache_control" in body["system"][0]
    assert ["cache_control" in block for block in body["messages"][0]["content"]] == [False, True]
    assert ["cache_control" in block for block in body["messages"][2]["content"]] == [True, False]
    assert api.refusals == []


async def test_keywords_of_our_own_are_not_sent(serving: Serving) -> None:
    schema = {
        "type": "object",
        "title": "Arguments",
        "properties": {"title": {"type": "string", "title": "Title", "x-role": "column", "default": {"x-a": 1}}},
        "required": ["title"],
    }
    api = serving()
    await AnthropicModel(MODELS[0]).create(asking(tools=[TOOL.model_copy(update={"input_schema": schema})]))
    assert api.seen[0].body["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {"title": {"type": "string", "default": {"x-a": 1}}},
        "required": ["title"],
    }


async def test_an_unknown_model_is_told_with_those_that_the_server_has(serving: Serving) -> None:
    serving()
    with pytest.raises(ModelError) as caught:
        await AnthropicModel("claude-nonesuch").create(asking())
    assert str(caught.value).startswith(f"the server has no model 'claude-nonesuch'; it has: {', '.join(MODELS)}.")
    assert not caught.value.retryable


async def test_a_prompt_that_is_too_long_is_an_error_of_its_own(serving: Serving) -> None:
    serving(window_tokens=50)
    with pytest.raises(ContextOverflowError, match=r"prompt is too long: .* request req_") as caught:
        await AnthropicModel(MODELS[0]).create(asking("word " * 500))
    assert (caught.value.retryable, caught.value.status) == (False, 400)


async def test_an_answer_that_outgrew_the_window_is_the_same_error_and_costs_what_it_took(serving: Serving) -> None:
    serving(answer(text("and so"), stop="model_context_window_exceeded", output_tokens=9))
    with pytest.raises(ContextOverflowError) as caught:
        await AnthropicModel(MODELS[0]).create(asking())
    assert caught.value.usage is not None
    assert caught.value.usage.output_tokens == 9


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "pause_turn", "stop_sequence", "a_new_reason"])
async def test_every_other_stop_reason_is_given_on(serving: Serving, stop: str) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"} if stop == "refusal" else None
    serving(answer(text("so far"), stop=stop, stop_details=details))
    response = await AnthropicModel(MODELS[0]).create(asking())
    assert response.stop_reason == stop
    assert response.model_dump().get("stop_details") == details


async def test_blocks_of_kinds_that_are_not_known_here_are_kept(serving: Serving) -> None:
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    serving(answer(block, text("found"), stop="end_turn"))
    response = await AnthropicModel(MODELS[0]).create(asking())
    assert [kept.type for kept in response.content] == ["server_tool_use", "text"]


async def test_without_a_key_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ModelError, match="set ANTHROPIC_API_KEY"):
        await AnthropicModel(MODELS[0]).create(asking())


async def test_a_wrong_key_is_not_tried_again_and_is_not_repeated_in_the_error(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = serving()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-000111222")
    with pytest.raises(ModelError, match="authentication_error: invalid x-api-key: \\[key\\]") as caught:
        await AnthropicModel(MODELS[0]).create(asking())
    assert not caught.value.retryable
    assert api.statuses == [401]


def test_a_model_object_can_be_used_in_one_event_loop_after_the_other(serving: Serving) -> None:
    api, model = serving(), AnthropicModel(MODELS[0])

    async def once() -> None:
        await model.create(asking())
        await model.close()

    asyncio.run(once())
    asyncio.run(once())
    assert api.statuses == [200, 200]


def test_making_a_model_does_not_import_the_sdk() -> None:
    program = (
        "import sys; from outcrop.models.anthropic import AnthropicModel; AnthropicModel('claude-x');"
        "import outcrop.gateway, outcrop.run; sys.exit('anthropic' in sys.modules or 'tenacity' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_thinking_blocks_are_what_they_are(serving: Serving) -> None:
    serving(answer(thinking("hm", "c2ln"), text("so")))
    response = await AnthropicModel(MODELS[0]).create(asking())
    assert response.content == [ThinkingBlock(thinking="hm", signature="c2ln"), TextBlock(text="so")]


async def test_half_an_input_is_a_broken_turn(serving: Serving) -> None:
    half = {**call("look", at=1), "raw_input": '{"at": [1, 2'}
    serving(answer(half))
    with pytest.raises(ModelError, match="the stream broke") as caught:
        await AnthropicModel(MODELS[0]).create(asking(tools=[TOOL]))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("drop"), "the stream broke: RemoteProtocolError"),
        (Fault("truncate"), "the stream ended before the turn was over"),
        (Fault("malformed"), "the stream broke: JSONDecodeError"),
        (Fault("error_event"), "overloaded_error: Overloaded"),
        (Fault("no_events"), "the stream broke: AssertionError"),
        (Fault("drop", after_events=0), "the stream broke"),
    ],
)
async def test_a_stream_that_breaks_is_a_fault_that_may_pass_and_tells_the_most_it_took(
    serving: Serving, fault: Fault, words: str
) -> None:
    serving(answer(text("a long answer " * 20)), faults=[fault])
    with pytest.raises(ModelError) as caught:
        await AnthropicModel(MODELS[0], max_tokens=500).create(asking())
    assert words in str(caught.value)
    assert "req_" in str(caught.value)
    assert caught.value.retryable
    if fault.kind != "no_events" and fault.after_events:
        assert caught.value.usage is not None
        assert caught.value.usage.output_tokens == 500
    else:
        assert caught.value.usage is None


def test_one_module_imports_the_sdk() -> None:
    """Others name its types for the type checker only."""
    found = []
    for path in (Path(__file__).parents[2] / "orchestrator").rglob("*.py"):
        for line in path.read_text("utf-8").splitlines():
            if re.match(r"(from|import) (anthropic|httpx2)\b", line) or 'import_module, "anthropic"' in line:
                found.append(path.name)
    assert found == ["client.py"]
