"""Turns that a test server gives, and how they look as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

Body = dict[str, Any]
Answer = dict[str, Any]
Script = Callable[[Body], Answer]
_PIECE_CHARS = 24


def answer(*blocks: dict[str, Any], stop: str | None = None, output_tokens: int | None = None, **more: Any) -> Answer:
    """A turn of these blocks; the stop reason follows from them where it is not given."""
    calls = any(block["type"] == "tool_use" for block in blocks)
    counted = max(len(json.dumps(blocks)) // 4, 1) if output_tokens is None else output_tokens
    return {
        "content": list(blocks),
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "output_tokens": counted,
        **more,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "c2lnbmF0dXJl") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature}


_ids = count(1)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{next(_ids):06d}", "name": name, "input": arguments}


def in_turn(*answers: Answer) -> Script:
    """A script that gives these turns one after the other, and the last one again and again."""
    waiting = list(answers)

    def script(body: Body) -> Answer:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return script


def events(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A whole message as the events of a stream; `raw_events` of a turn are sent as they are, whatever they hold."""
    if "raw_events" in message:
        yield from message["raw_events"]
        return
    started = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": started}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = block["type"]
    empty = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
    }.get(kind, {})
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    for delta in _deltas(block):
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = block["type"]
    if kind == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))
    elif kind == "thinking":
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"]))
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif kind in ("tool_use", "server_tool_use"):
        written = block.get("raw_input") or json.dumps(block["input"])
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written))


def _pieces(words: str) -> list[str]:
    return [words[start : start + _PIECE_CHARS] for start in range(0, len(words), _PIECE_CHARS)]
