"""Turns of a specialist at work, as messages, for what keeps conversations short."""

from __future__ import annotations

from collections.abc import Sequence

from outcrop_schemas.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock


def said(who: str, *texts: str) -> Message:
    return Message(role=who, content=[TextBlock(text=text) for text in texts])  # type: ignore[arg-type]


def called(number: int, text: str, result: str) -> list[Message]:
    use = ToolUseBlock(id=f"t{number}", name="summarize", input={"columns": [f"c{number}"]})
    return [
        Message(role="assistant", content=[TextBlock(text=text), use]),
        Message(role="user", content=[ToolResultBlock(tool_use_id=use.id, content=result)]),
    ]


def shown_in(messages: Sequence[Message]) -> str:
    return "\n".join(
        block.text if isinstance(block, TextBlock) else getattr(block, "content", "")
        for message in messages
        for block in message.content
    )


async def says_nothing(*_: object) -> str:
    return "The work went well so far."
