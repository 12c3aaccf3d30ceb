"""Every tool and every request of ours against the constraints that the Messages API documents."""

from __future__ import annotations

from typing import Any

import pytest
from servers.strict import faults_of
from servers.strict_schema import schema_faults

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.anthropic.sending import body_of, plain_schema
from outcrop_schemas.messages import (
    Message,
    ModelRequest,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from outcrop_specialists.completion import LeadAnswer, SpecialistAnswer, complete_tool
from outcrop_specialists.roles import ROLES
from outcrop_specialists.shrinking import CutResults
from outcrop_specialists.tools.registry import all_tools

TOOLS = [*(tool.schema() for tool in all_tools()), *lead_schemas()]
TOOLS += [complete_tool(answer) for answer in (LeadAnswer, SpecialistAnswer)]


def sent(request: ModelRequest) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1_000, **body_of(request)}


def hello(**more: Any) -> ModelRequest:
    return ModelRequest(system="s", messages=[Message(role="user", content=[TextBlock(text="hello")])], **more)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_one_that_the_api_takes(tool: Any) -> None:
    assert faults_of(sent(hello(tools=[tool]))) == []
    assert len(tool.description) > 10


@pytest.mark.parametrize("role", ROLES)
def test_all_tools_of_a_role_go_together(role: str) -> None:
    tools = [*(tool.schema() for tool in ROLES[role].tools), complete_tool(SpecialistAnswer)]
    assert faults_of(sent(hello(tools=tools))) == []


def test_a_schema_keeps_everything_but_our_own_keywords() -> None:
    for tool in TOOLS:
        kept = plain_schema(tool.input_schema)
        assert kept.get("required") == tool.input_schema.get("required")
        assert set(kept.get("properties", {})) == set(tool.input_schema.get("properties", {}))


def test_a_conversation_that_was_made_smaller_is_still_one_that_the_api_takes() -> None:
    messages = [Message(role="user", content=[TextBlock(text="look")])]
    for number in range(20):
        use = ToolUseBlock(id=f"toolu_{number}", name="look", input={"n": number})
        thought = [ThinkingBlock(thinking="hm", signature="c2ln"), RedactedThinkingBlock(data="eHl6")]
        messages.append(Message(role="assistant", content=[*thought, TextBlock(text="I look."), use]))
        messages.append(Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content="x" * 9_000)]))
    shrunk = CutResults(lambda text: None, lambda block: None).shrunk
    smaller = shrunk(messages)
    assert smaller is not None
    request = ModelRequest(system="s", messages=smaller)
    assert faults_of(sent(request)) == []
    assert len(request.as_bytes()) < len(ModelRequest(system="s", messages=messages).as_bytes()) / 2
    assert shrunk(smaller) is None or len(str(shrunk(smaller))) < len(str(smaller))


def test_what_has_no_results_cannot_be_made_smaller() -> None:
    shrunk = CutResults(lambda text: None, lambda block: None).shrunk
    assert shrunk([Message(role="user", content=[TextBlock(text="x" * 100_000)])]) is None


USER = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 10, "messages": list(messages) or [USER], **more}


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def marked(number: int) -> dict[str, Any]:
    return {"type": "text", "text": f"{number}", "cache_control": {"type": "ephemeral"}}


WRONG = {
    "a parameter that is gone": (body(temperature=0.5), "temperature"),
    "no messages": ({"model": "m", "max_tokens": 10, "messages": []}, "messages"),
    "no limit": ({"model": "m", "messages": [USER]}, "max_tokens"),
    "the assistant first": (body(said("assistant", {"type": "text", "text": "hi"})), "first message"),
    "two user turns": (body(USER, USER), "alternate"),
    "nothing said": (body(said("user")), "non-empty content"),
    "blank text": (body(said("user", {"type": "text", "text": "  "})), "non-whitespace"),
    "a call without a result": (body(USER, said("assistant", USE), USER), "without `tool_result`"),
    "a call at the end": (body(USER, said("assistant", USE)), "without `tool_result`"),
    "a result without a call": (body(said("user", RESULT)), "unexpected `tool_use_id`"),
    "a result after text": (body(USER, said("assistant", USE), said("user", USER["content"][0], RESULT)), "first"),
    "two results": (body(USER, said("assistant", USE), said("user", RESULT, RESULT)), "single result"),
    "one id twice": (
        body(USER, said("assistant", USE), said("user", RESULT), said("assistant", USE), said("user", RESULT)),
        "unique",
    ),
    "thinking last": (
        body(USER, said("assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}), USER),
        "final block",
    ),
    "thinking unsigned": (
        body(USER, said("assistant", {"type": "thinking", "thinking": "hm"}, USER["content"][0]), USER),
        "signature",
    ),
    "five marks": (body(said("user", *(marked(number) for number in range(5)))), "maximum of 4"),
    "white space at the end": (body(USER, said("assistant", {"type": "text", "text": "so "})), "trailing"),
    "a bad tool name": (body(tools=[{"name": "a b", "input_schema": {"type": "object"}}]), "match pattern"),
    "a tool twice": (body(tools=[{"name": "a", "input_schema": {"type": "object"}}] * 2), "unique"),
    "a schema of no object": (body(tools=[{"name": "a", "input_schema": {"type": "string"}}]), "must be 'object'"),
    "a choice without tools": (body(tool_choice={"type": "any"}), "while providing tools"),
    "a small budget": (body(thinking={"type": "enabled", "budget_tokens": 5}), "at least 1024"),
    "a block of a reply in a question": (body(said("user", USE)), "not allowed for user"),
    "a field too many": (body(said("user", {"type": "text", "text": "a", "x": 1})), "Extra inputs"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_check_is_strict(name: str) -> None:
    wrong, words = WRONG[name]
    assert any(words in fault for fault in faults_of(wrong)), faults_of(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "thing"}, {"x-role": "column"}, {"title": "T"}, {"minimum": "1"}, {"required": ["a"]}, {"enum": []},
        {"$ref": "#/$defs/none"}, {"pattern": "("}, {"properties": {"a b": {}}}, {"items": 3}, {"anyOf": []},
    ],
)  # fmt: skip
def test_a_schema_that_is_none_is_found(schema: dict[str, Any]) -> None:
    assert list(schema_faults(schema, schema, "s"))


def test_a_request_that_is_right_has_no_fault() -> None:
    right = body(USER, said("assistant", USE), said("user", RESULT, USER["content"][0]))
    assert faults_of(right) == []
