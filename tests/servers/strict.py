"""Every constraint that the Messages API documents for what Outcrop sends; the first one broken is the answer's 400."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from servers import tool_search
from servers.strict_schema import schema_faults

_PARAMETERS = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "stream",
    "stop_sequences", "metadata", "service_tier", "cache_control", "container", "diagnostics", "inference_geo", "speed",
}  # fmt: skip
_TOOL_FIELDS = {
    "name", "description", "input_schema", "cache_control", "type", "strict", "defer_loading", "allowed_callers",
    "input_examples", "eager_input_streaming",
}  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_FIELDS = {
    "text": {"text", "cache_control", "citations"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "cache_control", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
    "server_tool_use": {"id", "name", "input", "cache_control", "caller"},
    "tool_search_tool_result": {"tool_use_id", "content", "cache_control"},
}
_USER, _ASSISTANT = {"text", "tool_result"}, set(_FIELDS) - {"tool_result"}
MOST_BREAKPOINTS = 4


def faults_of(body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> list[str]:
    """What the API would refuse, in words that say where; nothing for a request that it takes."""
    return list(_faults(body)) + list(_header_faults(headers or {})) if headers is not None else list(_faults(body))


def breakpoints(body: Mapping[str, Any]) -> int:
    """How many cache breakpoints a request has."""
    return sum("cache_control" in block for block in _blocks(body))


def _faults(body: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(set(body) - _PARAMETERS):
        yield f"{name}: Extra inputs are not permitted"
    for name, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if not isinstance(body.get(name), kind) or not body[name]:
            yield f"{name}: Field required"
            return
    yield from _system_faults(body.get("system"))
    yield from _tool_faults(body)
    yield from _message_faults(body)
    yield from tool_search.message_faults(body)
    yield from _thinking_faults(body)
    if breakpoints(body) > MOST_BREAKPOINTS:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {breakpoints(body)}."
    for block in _blocks(body):
        control = block.get("cache_control", {"type": "ephemeral"})
        if control.get("type") != "ephemeral" or control.get("ttl", "5m") not in ("5m", "1h"):
            yield f"cache_control: {control} is not supported"


def _header_faults(headers: Mapping[str, str]) -> Iterator[str]:
    if not headers.get("anthropic-version"):
        yield "anthropic-version: header is required"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "content-type: must be application/json"


def _blocks(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from body.get("tools") or []
    yield from body["system"] if isinstance(body.get("system"), list) else []
    for message in body["messages"]:
        yield from message["content"] if isinstance(message.get("content"), list) else []


def _system_faults(system: object) -> Iterator[str]:
    if system is None or (isinstance(system, str) and system):
        return
    if not isinstance(system, list) or not system:
        yield "system: must be text or a list of text blocks"
        return
    for number, block in enumerate(system):
        if block.get("type") != "text" or not block.get("text", "").strip():
            yield f"system.{number}: text content blocks must be non-empty"


def _tool_faults(body: Mapping[str, Any]) -> Iterator[str]:
    names = []
    for number, tool in enumerate(body.get("tools") or []):
        where = f"tools.{number}"
        names.append(tool.get("name"))
        if tool_search.is_search(tool):
            continue
        if tool.get("type", "custom") != "custom":
            yield f"{where}.type: {tool['type']!r} is no tool of this server"
        if not _NAME.match(tool.get("name") or ""):
            yield f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$': {tool.get('name')!r}"
        if not isinstance(tool.get("description", ""), str):
            yield f"{where}.description: must be text"
        for extra in sorted(set(tool) - _TOOL_FIELDS):
            yield f"{where}.{extra}: Extra inputs are not permitted"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"{where}.input_schema.type: must be 'object'"
            continue
        for word in ("oneOf", "allOf", "anyOf"):
            if word in schema:
                yield f"{where}.input_schema: does not support oneOf, allOf, or anyOf at the top level"
        yield from schema_faults(schema, schema, f"{where}.input_schema")
    if len(set(names)) < len(names):
        yield f"tools: Tool names must be unique: {sorted(names)}"
    yield from tool_search.tool_faults(body.get("tools") or [])
    yield from _choice_faults(body.get("tool_choice"), names, body)


def _choice_faults(choice: Any, names: list[Any], body: Mapping[str, Any]) -> Iterator[str]:
    if choice is None:
        return
    if not names:
        yield "tool_choice: may only be specified while providing tools"
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        yield f"tool_choice.type: {choice.get('type')!r} is none of auto, any, tool, none"
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"tool_choice.name: Tool {choice.get('name')!r} not found in provided tools"
    if choice.get("type") in ("any", "tool") and _thinks(body):
        yield "thinking: may not be enabled when tool_choice forces tool use"


def _message_faults(body: Mapping[str, Any]) -> Iterator[str]:
    asked: list[str] = []
    seen: set[str] = set()
    before = None
    for number, message in enumerate(body["messages"]):
        where, role, content = f"messages.{number}", message.get("role"), message.get("content")
        if set(message) - {"role", "content"}:
            yield f"{where}: Extra inputs are not permitted: {sorted(set(message) - {'role', 'content'})}"
        if role not in ("user", "assistant") or (number == 0 and role != "user"):
            yield f"{where}: first message must use the user role" if number == 0 else f"{where}.role: {role!r}"
        if role == before:
            yield f"{where}: roles must alternate between user and assistant"
        before = role
        if not isinstance(content, list) or not content:
            yield f"{where}: all messages must have non-empty content"
            continue
        yield from _block_faults(where, role, content)
        results = [block.get("tool_use_id") for block in content if block.get("type") == "tool_result"]
        yield from _pairing_faults(where, asked, results, content)
        asked = [block.get("id") for block in content if block.get("type") == "tool_use"]
        if len(set(asked)) < len(asked) or seen & set(asked):
            yield f"{where}: `tool_use` ids must be unique: {asked}"
        seen |= set(asked)
    last = body["messages"][-1]
    if asked:
        yield f"messages.{len(body['messages'])}: `tool_use` ids were found without `tool_result` blocks: {asked}"
    if last["role"] == "assistant" and str(last["content"][-1].get("text", "")).rstrip() != last["content"][-1].get(
        "text", ""
    ):
        yield "messages: final assistant content cannot end with trailing whitespace"


def _pairing_faults(where: str, asked: list[str], results: list[Any], content: list[Any]) -> Iterator[str]:
    if orphans := [one for one in results if one not in asked]:
        yield f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {orphans}"
    if missing := [one for one in asked if one not in results]:
        yield f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
    if len(set(results)) < len(results):
        yield f"{where}: each tool_use must have a single result: {results}"
    kinds = [block.get("type") for block in content]
    if "tool_result" in kinds and kinds[: len(results)] != ["tool_result"] * len(results):
        yield f"{where}: tool_result blocks must come first in the content"


def _block_faults(where: str, role: str, content: list[Any]) -> Iterator[str]:
    allowed = _USER if role == "user" else _ASSISTANT
    for place, block in enumerate(content):
        here, kind = f"{where}.content.{place}", block.get("type")
        if kind not in allowed:
            yield f"{here}.type: {kind!r} is not allowed for {role}"
            continue
        if extra := set(block) - _FIELDS[kind] - {"type"}:
            yield f"{here}: Extra inputs are not permitted: {sorted(extra)}"
        if kind == "text" and not str(block.get("text", "")).strip():
            yield f"{here}: text content blocks must contain non-whitespace text"
        if kind == "tool_use":
            if not _ID.match(block.get("id") or "") or not _NAME.match(block.get("name") or ""):
                yield f"{here}: id or name of a tool_use does not match its pattern"
            if not isinstance(block.get("input"), dict):
                yield f"{here}.input: Input should be a valid dictionary"
        if kind == "tool_result" and not isinstance(block.get("content", ""), str | list):
            yield f"{here}.content: must be text or blocks"
        if kind == "thinking" and not block.get("signature"):
            yield f"{here}.signature: Field required"
        if kind == "redacted_thinking" and not block.get("data"):
            yield f"{here}.data: Field required"
    if content[-1].get("type") in ("thinking", "redacted_thinking"):
        yield f"{where}: the final block in an assistant message cannot be `thinking`"


def _thinking_faults(body: Mapping[str, Any]) -> Iterator[str]:
    thinking = body.get("thinking")
    if thinking is None:
        return
    if thinking.get("type") not in ("adaptive", "enabled", "disabled", "between_tools"):
        yield f"thinking.type: {thinking.get('type')!r}"
    budget = thinking.get("budget_tokens")
    if thinking.get("type") == "enabled" and (not isinstance(budget, int) or not 1_024 <= budget < body["max_tokens"]):
        yield "thinking.enabled.budget_tokens: must be at least 1024 and less than `max_tokens`"


def _thinks(body: Mapping[str, Any]) -> bool:
    return (body.get("thinking") or {}).get("type") in ("adaptive", "enabled")
