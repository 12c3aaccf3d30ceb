"""A request as the Messages API takes it: tools and system first and stable, cache breakpoints where prefixes end.

A server keeps a prompt's prefix up to each breakpoint, at most four. They stand after the tools, after the system
prompt, after the user turn before the last (where the request before had its own) and after the last block of the last
user turn that will still be there next time: pins and history follow it and disturb nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outcrop_schemas.messages import Message, ModelRequest, ToolSchema

_EPHEMERAL = {"type": "ephemeral"}
# Keywords that hold schemas by name: the names below them are no keywords.
_NAMED = ("properties", "$defs", "patternProperties")


def body_of(request: ModelRequest) -> dict[str, Any]:
    """Tools, system, messages and tool choice with their cache breakpoints."""
    body: dict[str, Any] = {"messages": _messages(request.messages, request.tail_blocks)}
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _EPHEMERAL}]
    if request.tools:
        tools = [_tool(tool) for tool in request.tools]
        tools[-1]["cache_control"] = _EPHEMERAL
        body["tools"] = tools
    if request.tool_choice:
        body["tool_choice"] = request.tool_choice.model_dump(mode="json", exclude_none=True)
    return body


def _messages(messages: Sequence[Message], tail_blocks: int) -> list[dict[str, Any]]:
    sent = [message.model_dump(mode="json", exclude_none=True) for message in messages]
    turns = [number for number, message in enumerate(sent) if message["role"] == "user"]
    for number in turns[-2:]:
        is_last = number == turns[-1]
        stable = len(sent[number]["content"]) - (tail_blocks if is_last else 0)
        if stable > 0:
            sent[number]["content"][stable - 1]["cache_control"] = _EPHEMERAL
    return sent


def _tool(tool: ToolSchema) -> dict[str, Any]:
    return {**tool.model_dump(mode="json", exclude_none=True), "input_schema": plain_schema(tool.input_schema)}


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema without our own keywords (`x-…`), which are the offline model's, and without generated titles."""
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key.startswith("x-") or (key == "title" and isinstance(value, str)):
            continue
        if key in _NAMED and isinstance(value, dict):
            plain[key] = {name: _below(child) for name, child in value.items()}
        else:
            plain[key] = value if key in ("default", "const", "enum", "examples") else _below(value)
    return plain


def _below(value: Any) -> Any:
    if isinstance(value, dict):
        return plain_schema(value)
    return [_below(item) for item in value] if isinstance(value, list) else value
