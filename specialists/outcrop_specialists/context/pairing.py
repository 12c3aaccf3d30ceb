"""Where a conversation may be cut: no call is ever parted from its result."""

from __future__ import annotations

from collections.abc import Sequence

from outcrop_schemas import wire
from outcrop_schemas.messages import Block, Message, ToolResultBlock, ToolUseBlock


def seam(messages: Sequence[Message], turns: int) -> int:
    """Where the last `turns` turns begin: the number of an assistant message, so that no call is parted from its
    result. The number of messages where there are no more turns than that to remove."""
    begins = [number for number, message in enumerate(messages) if message.role == "assistant"]
    return begins[-turns] if len(begins) > turns > 0 else len(messages)


def paired(messages: Sequence[Message]) -> list[Message]:
    """The same messages with every call answered and no answer without its call, as the API demands."""
    mended: list[Message] = []
    waiting: list[ToolUseBlock] = []
    for message in messages:
        content: list[Block] = list(message.content)
        if message.role == "user":
            asked = {call.id for call in waiting}
            content = [b for b in content if not isinstance(b, ToolResultBlock) or b.tool_use_id in asked]
            given = {block.tool_use_id for block in content if isinstance(block, ToolResultBlock)}
            content = [_unanswered(call) for call in waiting if call.id not in given] + content
            waiting = []
        elif waiting:
            mended.append(Message(role="user", content=[_unanswered(call) for call in waiting]))
            waiting = []
        if message.role == "assistant":
            waiting = [block for block in content if isinstance(block, ToolUseBlock)]
        if content:
            mended.append(message if content == list(message.content) else Message(role=message.role, content=content))
    if waiting:
        mended.append(Message(role="user", content=[_unanswered(call) for call in waiting]))
    return mended


def _unanswered(call: ToolUseBlock) -> Block:
    content = wire.dumps({"error": {"type": "interrupted", "message": "this call was never answered"}}).decode()
    return ToolResultBlock(tool_use_id=call.id, content=content, is_error=True)
