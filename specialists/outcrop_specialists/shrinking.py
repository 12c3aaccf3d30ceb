"""A conversation that a model's window cannot hold, made strictly smaller: long tool results are cut in the middle.

What the model said itself, its thinking and the objective stay as they are, and every call keeps its result. What is
cut lies whole in the store: its handle stands in its place, with what weighs most of the facts that are no longer seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from outcrop_schemas import limits
from outcrop_schemas.messages import Block, Message, ToolResultBlock
from outcrop_specialists.context import fact_choice, facts

# Tried one after the other until half of the conversation is gone.
_RESULT_CHARS = (20_000, 5_000, 1_000, 200)
_MARK_CHARS = 150


class CutResults:
    """The results of one conversation that were cut, and what they were.

    `put` keeps a text and gives its handle, or None where it cannot; `learn` is told of each result before it is cut.
    """

    def __init__(self, put: Callable[[str], str | None], learn: Callable[[ToolResultBlock], None]) -> None:
        self._put, self._learn = put, learn
        self._wholes: dict[str, str] = {}

    def whole(self, content: str) -> str:
        """A result as it was given, of what stands in its place or is itself."""
        return self._wholes.get(content, content)

    def wholes(self, messages: Sequence[Message]) -> list[Message]:
        """The messages with every result as it was given."""
        return [m.model_copy(update={"content": [*map(self._whole, m.content)]}) for m in messages]

    def shrunk(self, messages: Sequence[Message]) -> list[Message] | None:
        """The same messages with the longest results cut, at most half as long where that can be had; None if none
        can."""
        before = _chars(messages)
        smaller = list(messages)
        for most in _RESULT_CHARS:
            smaller = [
                message.model_copy(update={"content": [self._cut(block, most) for block in message.content]})
                for message in smaller
            ]
            if _chars(smaller) <= before / 2:
                break
        seen = {block.content for message in smaller for block in message.content if isinstance(block, ToolResultBlock)}
        self._wholes = {cut: whole for cut, whole in self._wholes.items() if cut in seen}
        return smaller if _chars(smaller) < before else None

    def _cut(self, block: Block, most: int) -> Block:
        if not isinstance(block, ToolResultBlock) or len(block.content) <= most + _MARK_CHARS:
            return block
        if block.content not in self._wholes:
            self._learn(block)
        whole = self.whole(block.content)
        content = cut_text(whole, most, self._put(whole))
        self._wholes[content] = whole
        return block.model_copy(update={"content": content})

    def _whole(self, block: Block) -> Block:
        if not isinstance(block, ToolResultBlock) or block.content not in self._wholes:
            return block
        return block.model_copy(update={"content": self._wholes[block.content]})


def cut_text(text: str, most: int, handle: str | None) -> str:
    """Head and tail of a text, and between them its handle and the weightiest of the facts that are left out there:
    at most `most` characters, and a note."""
    room = min(limits.STALE_FACTS_CHARS, most // 2)
    side = (most - room) // 2
    head, tail = text[:side], text[len(text) - side :]
    kept, others = left_out(text, head, tail, room)
    where = f"read_result {handle} has the whole" if handle else "they could not be put aside, ask for less at a time"
    more = f"; {others} facts only there" if others else ""
    note = f"[{len(text) - 2 * side} characters are left out here; {where}{more}]"
    return "\n".join([head, note, *kept, tail])


def left_out(text: str, head: str, tail: str, room: int) -> tuple[list[str], int]:
    """The weightiest facts of a text that stand neither in its head nor in its tail, and the number of the others."""
    return fact_choice.of_stale(facts.lost(facts.facts_of_result(text), head, tail), None, room)


def whole_of(before: Sequence[Message], after: Sequence[Message]) -> dict[str, str]:
    """The results at the end of a conversation that were cut since, by the ids of their calls, as they were."""
    cut = {block.tool_use_id: block.content for block in after[-1].content if isinstance(block, ToolResultBlock)}
    return {
        block.tool_use_id: block.content
        for block in before[-1].content
        if isinstance(block, ToolResultBlock) and cut.get(block.tool_use_id, block.content) != block.content
    }


def _chars(messages: Sequence[Message]) -> int:
    blocks = (block for message in messages for block in message.content)
    return sum(len(block.content) for block in blocks if isinstance(block, ToolResultBlock))
