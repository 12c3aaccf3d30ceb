"""What was said, as attributes, where somebody asked: by the schema of the conventions, bounded, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outcrop.models.anthropic.secrecy import scrubbed_json
from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.messages import (
    Block,
    Message,
    ModelRequest,
    ModelResponse,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)


def told(value: Any) -> str:
    """Any text or JSON value."""
    text = scrubbed_json(value)
    return shorten(text if isinstance(text, str) else wire.dumps(text).decode(), limits.TELEMETRY_CONTENT_CHARS)


def messages_in(request: ModelRequest) -> str:
    """The newest messages of a request, as many as there is room for."""
    kept: list[dict[str, Any]] = []
    left = limits.TELEMETRY_CONTENT_CHARS
    for message in reversed(request.messages):
        shown = _message(message)
        left -= len(wire.dumps(shown))
        if left < 0 and kept:
            break
        kept.insert(0, shown)
    return wire.dumps(kept).decode()


def messages_out(response: ModelResponse) -> str:
    parts = _parts(response.content)
    return wire.dumps([{"role": "assistant", "parts": parts, "finish_reason": response.stop_reason or ""}]).decode()


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": _parts(message.content)}


def _parts(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    # The newest parts count most; the most of them together is the bound.
    share = max(limits.TELEMETRY_CONTENT_CHARS // max(len(blocks), 1), limits.TELEMETRY_NAME_CHARS)
    return [_part(block, share) for block in blocks[-limits.TELEMETRY_PARTS :]]


def _part(block: Block, most: int) -> dict[str, Any]:
    def bounded(value: Any) -> str:
        return shorten(told(value), most)

    if isinstance(block, TextBlock):
        return {"type": "text", "content": bounded(block.text)}
    if isinstance(block, ToolUseBlock):
        return {"type": "tool_call", "id": block.id, "name": block.name, "arguments": bounded(block.input)}
    if isinstance(block, ToolResultBlock):
        return {"type": "tool_call_response", "id": block.tool_use_id, "response": bounded(block.content)}
    return {"type": block.type}
