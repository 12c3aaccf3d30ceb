"""The server's own search for tools: what it refuses, what it finds, and what of a prompt its deferred tools are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

TYPES = {
    "tool_search_tool_bm25_20251119": "tool_search_tool_bm25",
    "tool_search_tool_bm25": "tool_search_tool_bm25",
    "tool_search_tool_regex_20251119": "tool_search_tool_regex",
    "tool_search_tool_regex": "tool_search_tool_regex",
}
FOUND_MOST = 5
_FIELDS = {"type", "name", "cache_control", "allowed_callers", "strict"}
_CONTENTS = {"tool_search_tool_search_result", "tool_search_tool_result_error"}
_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+\Z")
_ids = count(1)


def is_search(tool: Mapping[str, Any]) -> bool:
    return tool.get("type") in TYPES


def searched(body: Mapping[str, Any], query: str) -> list[dict[str, Any]]:
    """The blocks of a turn that searches the deferred tools of a request: the call, and what it found."""
    call_id = f"srvtoolu_{next(_ids):06d}"
    return [asked(query, call_id), result(call_id, *found(body, query))]


def asked(query: str, call_id: str) -> dict[str, Any]:
    name, caller = "tool_search_tool_bm25", {"type": "direct"}
    return {"type": "server_tool_use", "id": call_id, "name": name, "input": {"query": query}, "caller": caller}


def result(call_id: str, *names: str) -> dict[str, Any]:
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    return {"type": "tool_search_tool_result", "tool_use_id": call_id, "content": content}


def found(body: Mapping[str, Any], query: str) -> list[str]:
    """The deferred tools that share most words with a query; none that shares none."""
    said = _words(query)
    scores = {
        tool["name"]: len(said & _words(f"{tool['name']} {tool['description']}"))
        for tool in body.get("tools") or []
        if tool.get("defer_loading")
    }
    best = sorted((name for name in scores if scores[name]), key=lambda name: (-scores[name], name))
    return best[:FOUND_MOST]


def seen_blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools that are in the prompt from its start. Deferred ones are none of them."""
    for tool in body.get("tools") or []:
        if not tool.get("defer_loading"):
            yield "tool", tool


def expanded(body: Mapping[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """A block as it stands in the prompt: in the place of references to tools stand the tools."""
    if block.get("type") != "tool_search_tool_result":
        return block
    names = [one["tool_name"] for one in block["content"].get("tool_references", [])]
    return {**block, "definitions": [tool for tool in body["tools"] if tool.get("name") in names]}


def tool_faults(tools: list[dict[str, Any]]) -> Iterator[str]:
    """What is wrong with deferring and searching in a list of tools."""
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    for tool in filter(is_search, tools):
        if tool.get("name") != TYPES[tool["type"]]:
            yield f"tools: the name of {tool['type']} must be {TYPES[tool['type']]!r}"
        if tool.get("defer_loading"):
            yield f"tools: {tool['name']} finds deferred tools and cannot be one of them"
        if extra := set(tool) - _FIELDS - {"defer_loading"}:
            yield f"tools: {tool['type']}: Extra inputs are not permitted: {sorted(extra)}"
    if deferred and len(deferred) == len(tools):
        yield "At least one tool must have defer_loading=false. All tools cannot be deferred."
    if deferred and not any(is_search(tool) for tool in tools):
        yield "tools: deferred tools cannot be found without a tool search tool"
    for tool in deferred:
        if "cache_control" in tool:
            yield f"Tool '{tool.get('name')}' cannot have both defer_loading=true and cache_control set."


def message_faults(body: Mapping[str, Any]) -> Iterator[str]:
    """Searches and their results in a conversation: each result behind its call, in its turn or at the start of the
    next one; a call may wait for its result only where the turn called a tool of the client, or is the last."""
    provided = {tool.get("name") for tool in body.get("tools") or []}
    waiting: set[str] = set()
    turns = [m["content"] for m in body["messages"] if m.get("role") == "assistant" and isinstance(m["content"], list)]
    for number, content in enumerate(turns):
        carried = set(waiting)
        for block in content:
            if block.get("type") == "server_tool_use":
                if not _ID.match(block.get("id") or "") or block["id"] in waiting:
                    yield f"server_tool_use.id: should match pattern '^srvtoolu_[a-zA-Z0-9_]+$': {block.get('id')}"
                waiting.add(block["id"])
            elif block.get("type") == "tool_search_tool_result":
                yield from _result_faults(block, waiting, provided)
                waiting.discard(block.get("tool_use_id", ""))
                carried.discard(block.get("tool_use_id", ""))
        calls_client = any(block.get("type") == "tool_use" for block in content)
        if carried or (waiting and not calls_client and number < len(turns) - 1):
            yield f"`server_tool_use` ids were found without a result: {sorted(carried or waiting)}"
            waiting -= carried


def _result_faults(block: Mapping[str, Any], waiting: set[str], provided: set[Any]) -> Iterator[str]:
    if block.get("tool_use_id") not in waiting:
        yield f"unexpected `tool_use_id` found in `tool_search_tool_result` blocks: {block.get('tool_use_id')}"
    content = block.get("content")
    if not isinstance(content, dict) or content.get("type") not in _CONTENTS:
        yield f"tool_search_tool_result.content.type: must be one of {sorted(_CONTENTS)}"
        return
    for one in content.get("tool_references", []):
        if one.get("type") != "tool_reference" or one.get("tool_name") not in provided:
            yield f"Tool reference '{one.get('tool_name')}' not found in available tools"


def _words(text: str) -> set[str]:
    """Those of a text that say something: `are`, `how` and `in` stand in any."""
    return {word for word in re.split(r"[\W_]+", text.lower()) if len(word) > 3}
