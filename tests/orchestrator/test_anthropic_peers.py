"""Our client against servers of others: what llmock says of how we take its faults, and transcripts in aimock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import peers

from outcrop.gateway import Gateway, Line
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy
from outcrop.runs import RunFolder
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import Message, ModelRequest, TextBlock, ToolResultBlock, ToolSchema

MODEL = "claude-sonnet-5-5"
TOOL = ToolSchema(
    name="look",
    description="Look at a sample.",
    input_schema={"type": "object", "properties": {"sample": {"type": "string"}}, "required": ["sample"]},
)


@pytest.fixture(scope="module")
def llmock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with peers.llmock(tmp_path_factory.mktemp("llmock") / "log") as url:
        yield url


async def line_to(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-nobody-at-all")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    (tmp_path / "exchanges").mkdir()
    policy = RetryPolicy(attempts=5, first_seconds=0.5, longest_seconds=2.0)
    model = AnthropicModel(MODEL, thinking=False)
    # What is asked of the model itself comes before the faults, which are for its turns.
    await model.prepared(asking("nothing"))
    models = ModelTable(model)
    return Gateway(models, RunFolder(tmp_path), RateGovernor(4), retry=policy).line("d1", "analytics")


def asking(words: str, **more: Any) -> ModelRequest:
    return ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text=words)])], **more)


def play(url: str, *behaviors: dict[str, Any]) -> None:
    """Have llmock forget what was, and do this."""
    peers.ask(f"{url}/_llmock/reset", {})
    if behaviors:
        peers.ask(f"{url}/_llmock/scenario", {"behaviors": list(behaviors)})


# The chunk that a malformed stream has instead of its fifth one is a piece of the text.
FAULTS: dict[str, dict[str, Any]] = {
    "429 with retry-after": {"type": "fail", "status": 429, "retry_after": 1, "times": 2},
    "529": {"type": "fail", "status": 529, "times": 2},
    "500": {"type": "fail", "status": 500, "times": 1},
    "a dropped connection": {"type": "stream_fault", "kind": "disconnect", "after_chunks": 2, "times": 1},
    "a truncated stream": {"type": "stream_fault", "kind": "truncate", "after_chunks": 2, "times": 1},
    "a malformed event": {"type": "stream_fault", "kind": "malformed", "after_chunks": 4, "times": 1},
}


async def test_llmock_answers_plainly(llmock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = await line_to(f"{llmock}/anthropic", tmp_path, monkeypatch)
    play(llmock, {"type": "reply", "text": "An answer in some words."})
    response = await line.create(asking("hello"))
    line.close()
    assert response.content == [TextBlock(text="An answer in some words.")]
    assert response.stop_reason == "end_turn"
    assert response.usage.output_tokens > 0
    assert peers.ask(f"{llmock}/_llmock/verdict")["findings"] == []


async def test_llmock_sees_a_whole_tool_round_trip(
    llmock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = await line_to(f"{llmock}/anthropic", tmp_path, monkeypatch)
    play(llmock)
    question = asking("look at sample W001", tools=[TOOL])
    first = await line.create(question)
    [use] = first.tool_uses()
    assert first.stop_reason == "tool_use"
    assert isinstance(use.input["sample"], str)
    messages = [
        *question.messages,
        Message(role="assistant", content=first.content),
        Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content="a red wine")]),
    ]
    second = await line.create(question.model_copy(update={"messages": messages}))
    line.close()
    assert second.stop_reason == "end_turn"
    assert isinstance(second.content[0], TextBlock)


@pytest.mark.parametrize("fault", FAULTS)
async def test_llmock_finds_nothing_wrong_with_how_a_fault_is_taken(
    llmock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    reply = {"type": "reply", "text": "Here is an answer of several words, in several pieces.", "times": 5}
    line = await line_to(f"{llmock}/anthropic", tmp_path, monkeypatch)
    play(llmock, FAULTS[fault], reply)
    response = await line.create(asking(f"hello after {fault}"))
    line.close()
    assert response.content == [TextBlock(text=reply["text"])]
    verdict = peers.ask(f"{llmock}/_llmock/verdict")
    assert verdict["faults_injected"] == FAULTS[fault]["times"]
    assert verdict["passed"], verdict
    assert verdict["findings"] == []


async def test_llmock_sees_that_a_wrong_request_is_not_repeated(
    llmock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = await line_to(f"{llmock}/anthropic", tmp_path, monkeypatch)
    play(llmock, {"type": "fail", "status": 400, "times": 5})
    with pytest.raises(ModelError, match="HTTP 400") as caught:
        await line.create(asking("this is wrong"))
    line.close()
    assert not caught.value.retryable
    verdict = peers.ask(f"{llmock}/_llmock/verdict")
    assert (verdict["attempts"], verdict["findings"]) == (1, [])


async def test_aimock_plays_a_transcript_of_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixtures = [
        {
            "match": {"userMessage": "look at sample W001", "hasToolResult": False},
            "response": {"toolCalls": [{"name": "look", "arguments": '{"sample": "W001"}'}]},
        },
        {
            "match": {"hasToolResult": True},
            "response": {"content": "It is a red wine, and rather a good one."},
        },
    ]
    with peers.aimock(fixtures, tmp_path) as url:
        line = await line_to(url, tmp_path, monkeypatch)
        question = asking("look at sample W001", tools=[TOOL])
        first = await line.create(question)
        [use] = first.tool_uses()
        assert use.input == {"sample": "W001"}
        messages = [
            *question.messages,
            Message(role="assistant", content=first.content),
            Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content="a red wine")]),
        ]
        second = await line.create(question.model_copy(update={"messages": messages}))
        line.close()
    assert second.content == [TextBlock(text="It is a red wine, and rather a good one.")]


async def test_aimock_refuses_and_then_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"message": "Too many requests.", "type": "rate_limit_error"}
    fixtures = [
        {"match": {"userMessage": "hello", "sequenceIndex": 0}, "response": {"error": error, "status": 429}},
        {"match": {"userMessage": "hello", "sequenceIndex": 1}, "response": {"error": error, "status": 529}},
        {"match": {"userMessage": "hello", "sequenceIndex": 2}, "response": {"content": "Now I can."}},
    ]
    with peers.aimock(fixtures, tmp_path) as url:
        line = await line_to(url, tmp_path, monkeypatch)
        response = await line.create(asking("hello"))
        line.close()
    assert response.content == [TextBlock(text="Now I can.")]
