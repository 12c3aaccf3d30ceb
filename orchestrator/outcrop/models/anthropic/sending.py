"""A request as the Messages API takes it: tools and system first and stable, cache breakpoints where prefixes end.

A server keeps a prompt's prefix up to each breakpoint, at most four. They stand after the tools, after the system
prompt, after the user turn before the last (where the request before had its own) and after the last block of the last
user turn that will still be there next time: pins and history follow it and disturb nothing. What a caller marked
itself is kept as far as there is room for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outcrop_schemas.messages import Message, ModelRequest, TextBlock, ThinkingBlock, ToolSchema

TOOL_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
"""The server's own search, which goes along where tools are deferred; it is called and answered by the server."""
_EPHEMERAL = {"type": "ephemeral"}
_CACHE, _DEFERRED, _MOST_BREAKPOINTS = "cache_control", "defer_loading", 4
# A turn of which nothing can be sent back is a turn all the same.
_ONLY_THOUGHT = "(nothing)"
# Keywords that hold schemas by name: the names below them are no keywords.
_NAMED = ("properties", "$defs", "patternProperties")


def body_of(request: ModelRequest) -> dict[str, Any]:
    """Tools, system, messages and tool choice with their cache breakpoints."""
    messages, tools = _messages(request.messages), [_tool(tool) for tool in request.tools]
    if any(tool.defer_loading for tool in request.tools):
        tools.insert(0, dict(TOOL_SEARCH))
    theirs = list(_marked([*tools, *messages]))
    ours = _places(messages, request.tail_blocks)
    body: dict[str, Any] = {"messages": messages}
    if request.system:
        body["system"] = [{"type": "text", "text": request.system}]
        ours += body["system"]
    if tools:
        body["tools"] = tools
        # A deferred tool is no part of the prefix, and the API refuses a breakpoint at it.
        ours.append(next(tool for tool in reversed(tools) if not tool.get(_DEFERRED)))
    _mark(ours, theirs)
    if request.tool_choice:
        body["tool_choice"] = request.tool_choice.model_dump(mode="json", exclude_none=True)
    return body


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [_provable(message).model_dump(mode="json", exclude_none=True) for message in messages]


def _provable(message: Message) -> Message:
    """A message without thinking of which nothing proves where it comes from: the API would refuse it."""
    kept = [block for block in message.content if not isinstance(block, ThinkingBlock) or block.signature]
    if len(kept) == len(message.content):
        return message
    return message.model_copy(update={"content": kept or [TextBlock(text=_ONLY_THOUGHT)]})


def _places(messages: Sequence[dict[str, Any]], tail_blocks: int) -> list[dict[str, Any]]:
    """Where the breakpoints of the conversation stand."""
    turns = [message for message in messages if message["role"] == "user"]
    places = []
    for turn in turns[-2:]:
        stable = len(turn["content"]) - (tail_blocks if turn is turns[-1] else 0)
        if stable > 0:
            places.append(turn["content"][stable - 1])
    return places


def _marked(value: Any) -> Iterator[dict[str, Any]]:
    """Everything that carries a caller's own breakpoint, in order. What tools take and were given is no part of it."""
    if isinstance(value, list):
        for item in value:
            yield from _marked(item)
    elif isinstance(value, dict):
        if _CACHE in value:
            yield value
        if isinstance(value.get("content"), list):
            yield from _marked(value["content"])


def _mark(ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> None:
    """Breakpoints of one age, as those of an hour must not follow others; beyond the most the caller's first go."""
    for holder in theirs:
        del holder[_CACHE]
    others = [one for one in theirs if not one.get(_DEFERRED) and not any(one is each for each in ours)]
    room = _MOST_BREAKPOINTS - len(ours)
    for holder in [*ours, *(others[-room:] if room > 0 else [])]:
        holder[_CACHE] = _EPHEMERAL


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
