"""What a model's server called and answered by itself, such as its search for tools: never one without the other.

The result stands behind its call in the same turn, or, where the turn also called a tool of ours, at the start of the
next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from outcrop_schemas.messages import Block, Message, OtherBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock

NOTHING = "(nothing)"
"""What a turn says of which nothing else can be sent back."""
_CALL = "server_tool_use"


def is_call(block: Block) -> bool:
    """Whether the server is to carry this out, not we."""
    return isinstance(block, OtherBlock) and block.type == _CALL


def answers(block: Block) -> str | None:
    """The id of the server's call that this block has the result of."""
    return _field(block, "tool_use_id") if isinstance(block, OtherBlock) and not is_call(block) else None


def answered(content: Sequence[Block]) -> list[Block]:
    """The blocks of the server's work, without calls that have no result here."""
    given = {answers(block) for block in content}
    blocks = [block for block in content if isinstance(block, OtherBlock)]
    return [block for block in blocks if not is_call(block) or _field(block, "id") in given]


def without_orphans(messages: Iterable[Message]) -> list[Message]:
    """The last part of a conversation without results whose call stands before it: the API takes none."""
    known: set[Any] = set()
    kept: list[Message] = []
    for message in messages:
        content: list[Block] = []
        for block in message.content:
            if is_call(block):
                known.add(_field(block, "id"))
            asked = answers(block)
            if asked is None or asked in known:
                content.append(block)
        if len(content) < len(message.content) and (
            not content or isinstance(content[-1], ThinkingBlock | RedactedThinkingBlock)
        ):
            content.append(TextBlock(text=NOTHING))
        kept.append(message if len(content) == len(message.content) else Message(role=message.role, content=content))
    return kept


def _field(block: Block, name: str) -> Any:
    return (block.model_extra or {}).get(name)
