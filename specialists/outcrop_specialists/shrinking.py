"""A conversation that a model's window cannot hold, made strictly smaller: long tool results are cut in the middle.

What the model said itself, its thinking and the objective stay as they are, and every call keeps its result.
"""

from __future__ import annotations

from collections.abc import Sequence

from outcrop_schemas.messages import Block, Message, ToolResultBlock

# Tried one after the other until half of the conversation is gone.
_RESULT_CHARS = (20_000, 5_000, 1_000, 200)
_MARK_CHARS = 100


def shrunk(messages: Sequence[Message]) -> list[Message] | None:
    """The same messages with the longest results cut, at most half as long where that can be had; None if none can."""
    before = _chars(messages)
    smaller = list(messages)
    for most in _RESULT_CHARS:
        smaller = [
            message.model_copy(update={"content": [_cut(b, most) for b in message.content]}) for message in smaller
        ]
        if _chars(smaller) <= before / 2:
            break
    return smaller if _chars(smaller) < before else None


def _cut(block: Block, most: int) -> Block:
    if not isinstance(block, ToolResultBlock) or len(block.content) <= most + _MARK_CHARS:
        return block
    left_out = len(block.content) - most
    head, tail = block.content[: most // 2], block.content[len(block.content) - most // 2 :]
    note = f"\n[{left_out} characters are left out here; ask for less at a time]\n"
    return block.model_copy(update={"content": head + note + tail})


def _chars(messages: Sequence[Message]) -> int:
    blocks = (block for message in messages for block in message.content)
    return sum(len(block.content) for block in blocks if isinstance(block, ToolResultBlock))
